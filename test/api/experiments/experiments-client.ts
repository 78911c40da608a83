/** Requests about experiments over REST and gRPC. */

import { ExperimentService } from '../../../gen/spandrel/v1/experiments_pb.js';
import type { TestApp } from '../../support/app.ts';
import { type Answer, type Body, callRest, type SurfaceCase } from '../../support/surfaces.ts';

export const METHODS = ExperimentService.method;

export type Expected = Pick<SurfaceCase, 'status'> & Partial<Pick<SurfaceCase, 'code' | 'check' | 'headers'>>;

/** A client with the project key. */
export function createClient(app: () => TestApp) {
  const key = () => ({ 'x-auth-token': app().projectKey });
  const rest = async (verb: string, path: string, body?: unknown): Promise<Answer> =>
    callRest(app().address, { verb, path, headers: key(), ...(body === undefined ? {} : { body }) });
  return {
    key,
    rest,
    /** Creates an experiment; returns its slug. */
    async init(name: string): Promise<string> {
      return String((await rest('POST', '/api/experiment/init', { experiment_name: name })).body.slug);
    },
    log: async (slug: string, runId: string, body: object): Promise<Body> =>
      (await rest('POST', '/api/evaluations/batch/log_results', { experiment_slug: slug, run_id: runId, ...body }))
        .body,
    read: async (slug: string, runId: string, query = ''): Promise<Body> =>
      (await rest('GET', `/api/experiments/${slug}/runs/${runId}${query}`)).body,
    /** A request on both surfaces. */
    surfaceCase: (
      [verb, path, body]: readonly [string, string, unknown?],
      rpc: SurfaceCase['rpc'],
      expected: Expected,
    ): SurfaceCase => ({
      name: `${verb} ${path}`,
      headers: key(),
      rest: { verb, path, ...(body === undefined ? {} : { body }) },
      rpc,
      ...expected,
    }),
  };
}
