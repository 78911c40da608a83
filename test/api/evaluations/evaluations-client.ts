/** Runs of evaluators, as requests over REST and gRPC. */

import { EvaluationService } from '../../../gen/spandrel/v1/evaluations_pb.js';
import type { TestApp } from '../../support/app.ts';
import { type Body, callRest, type SurfaceCase } from '../../support/surfaces.ts';

export const { evaluate, listEvaluatorTypes } = EvaluationService.method;

type Headers = { readonly [name: string]: string };
type Expected = Pick<SurfaceCase, 'status'> & Partial<Pick<SurfaceCase, 'code' | 'check' | 'headers'>>;

export type RunBody = { readonly [member: string]: unknown };

const ON_ERRORS: { readonly [word: string]: number } = { pass: 1, block: 2 };

/** A client with the app's project key, or another credential. */
export function createClient(app: () => TestApp) {
  const key = (): Headers => ({ 'x-auth-token': app().projectKey });
  return {
    key,
    /** A run of an evaluator whose name has one path segment. */
    run(evaluator: string, body: RunBody, expected: Expected): SurfaceCase {
      const { data, settings, on_error: onError } = body;
      const text = (member: string) => (typeof body[member] === 'string' ? body[member] : undefined);
      const request = {
        evaluator,
        dataJson: data === undefined || data === null ? undefined : JSON.stringify(data),
        settingsJson: settings === undefined || settings === null ? undefined : JSON.stringify(settings),
        traceId: text('trace_id'),
        spanId: text('span_id'),
        evaluationId: text('evaluation_id'),
        evaluatorId: text('evaluator_id'),
        name: text('name'),
        asGuardrail: body.as_guardrail === true,
        onError: typeof onError === 'string' ? (ON_ERRORS[onError] ?? 99) : 0,
      };
      return {
        name: `run ${evaluator}`,
        headers: key(),
        rest: { verb: 'POST', path: `/api/evaluations/${encodeURIComponent(evaluator)}/evaluate`, body },
        rpc: { method: evaluate, request },
        ...expected,
      };
    },
    rest: (path: string, body: unknown) =>
      callRest(app().address, { verb: 'POST', path, headers: key(), ...(body === undefined ? {} : { body }) }),
    async evaluationsOf(traceId: string): Promise<Body[]> {
      const { body } = await callRest(app().address, { path: `/api/traces/${traceId}`, headers: key() });
      return body.evaluations;
    },
  };
}
