/** Paths that clients of other products ask for and that are not served here yet. Their 404 says so, and what is served. */

const TRACES = 'send traces to POST /api/collector and read them at GET /api/traces/{trace_id}';

const AREAS: readonly (readonly [path: RegExp, message: string])[] = [
  [
    /^\/+(api\/+otel|otel|v1\/+(traces|metrics|logs))(\/|$)/i,
    'OTLP is served at POST /api/otel/v1/traces, and at POST /v1/traces.',
  ],
  [
    /^\/+api\/+(v1\/+)?(evaluations?|guardrails?)(\/|$)/i,
    'Evaluators are run at POST /api/evaluations/{evaluator}/evaluate; results can be sent with a trace to POST /api/collector.',
  ],
  [/^\/+api\/+(v1\/+)?experiments?(\/|$)/i, 'Experiments are not recorded yet; datasets are kept at /api/dataset.'],
  [/^\/+api\/+(v1\/+)?prompts?(\/|$)/i, `Prompts are not served yet; ${TRACES}.`],
];

/** Why there is nothing at a path. */
export function absenceOf(path: string, otherwise = 'There is no such route.'): string {
  return AREAS.find(([area]) => area.test(path))?.[1] ?? otherwise;
}
