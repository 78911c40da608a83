/** Paths that a client may guess, or know from other products, and that are not served. Their 404 names what is served. */

const TRACES = 'send traces to POST /api/collector and read them at GET /api/traces/{trace_id}';

const OTLP = 'OTLP is served at POST /api/otel/v1/traces, and at POST /v1/traces.';

/** Of a process that serves no rpc. */
export const GATEWAY_ALONE =
  'This process serves requests with virtual keys, health and metrics alone (SPANDREL_ROLE=gateway); another one serves the rest.';

const AREAS: readonly (readonly [path: RegExp, message: string])[] = [
  // Exporters append the path of the signal to a URL or leave it out; some are given the path of another product.
  [/^\/+(api\/+(public\/+)?)?(otel|otlp|opentelemetry)(\/|$)/i, OTLP],
  [/^\/+(.*\/)?v1\/+(traces?|metrics?|logs?|spans?)(\/|$)/i, OTLP],
  [
    /^\/+api\/+evaluations\/+v3(\/|$)/i,
    'Experiments run where the application is, and are not run here; what came of them is sent to POST /api/evaluations/batch/log_results.',
  ],
  [
    /^\/+api\/+(v1\/+)?(evaluations?|guardrails?)(\/|$)/i,
    'Evaluators are run at POST /api/evaluations/{evaluator}/evaluate; results can be sent with a trace to POST /api/collector.',
  ],
  [
    /^\/+api\/+(v1\/+)?experiments?(\/|$)/i,
    'Experiments begin at POST /api/experiment/init, and are read at GET /api/experiments.',
  ],
  [/^\/+api\/+traces?\/*$/i, `Traces are found by POST /api/traces/search; ${TRACES}.`],
];

/** Exporters that are given the address of the server alone post to its root. */
export function explainMethod(path: string): string {
  return /^\/*$/.test(path) ? OTLP : '';
}

/** The message of the 404 at a path. */
export function explainMissing(path: string, otherwise = 'There is no such route; /docs shows all of them.'): string {
  return AREAS.find(([area]) => area.test(path))?.[1] ?? otherwise;
}
