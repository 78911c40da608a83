/** Requests about evaluators over REST and gRPC. */

import { EvaluatorService } from '../../../gen/spandrel/v1/evaluators_pb.js';
import type { TestApp } from '../../support/app.ts';
import { type Body, callRest, callRpc, type SurfaceCase } from '../../support/surfaces.ts';

export const { getEvaluator, listEvaluators, createEvaluator, updateEvaluator, deleteEvaluator } =
  EvaluatorService.method;

type Headers = { readonly [name: string]: string };
type Expected = Pick<SurfaceCase, 'status'> & Partial<Pick<SurfaceCase, 'code' | 'check' | 'headers'>>;

/** A client with the app's project key, or another credential. */
export function createClient(app: () => TestApp) {
  const key = (): Headers => ({ 'x-auth-token': app().projectKey });
  const pathOf = (idOrSlug: string) => `/api/evaluators/${encodeURIComponent(idOrSlug)}`;
  return {
    key,
    pathOf,
    async create(name: string, config: object, headers = key()): Promise<Body> {
      const request = { name, configJson: JSON.stringify(config) };
      const answer = await callRpc(app().address, { method: createEvaluator, headers, request });
      if (!answer.ok) throw new Error(answer.error.details);
      return answer.body;
    },
    rest: (verb: string, path: string, body?: unknown) =>
      callRest(app().address, { verb, path, headers: key(), ...(body === undefined ? {} : { body }) }),
    get: (idOrSlug: string, expected: Expected): SurfaceCase => ({
      name: `get ${idOrSlug}`,
      headers: key(),
      rest: { path: pathOf(idOrSlug) },
      rpc: { method: getEvaluator, request: { idOrSlug } },
      ...expected,
    }),
    list: (expected: Expected): SurfaceCase => ({
      name: 'list',
      headers: key(),
      rest: { path: '/api/evaluators' },
      rpc: { method: listEvaluators, request: {} },
      ...expected,
    }),
    update(idOrSlug: string, body: { name?: string; type?: string; config?: object }, expected: Expected): SurfaceCase {
      const { name, type, config } = body;
      const types: { readonly [word: string]: number } = { evaluator: 1, workflow: 2, code: 3 };
      const request = {
        idOrSlug,
        evaluator: {
          ...(name === undefined ? {} : { name }),
          ...(type === undefined ? {} : { evaluatorType: types[type] ?? 99 }),
          ...(config === undefined ? {} : { configJson: JSON.stringify(config) }),
        },
      };
      return {
        name: `update ${idOrSlug}`,
        headers: key(),
        rest: { verb: 'PATCH', path: pathOf(idOrSlug), body },
        rpc: { method: updateEvaluator, request },
        ...expected,
      };
    },
    remove: (idOrSlug: string, expected: Expected): SurfaceCase => ({
      name: `delete ${idOrSlug}`,
      headers: key(),
      rest: { verb: 'DELETE', path: pathOf(idOrSlug) },
      rpc: { method: deleteEvaluator, request: { idOrSlug } },
      ...expected,
    }),
  };
}
