/** The columns of spans and evaluations whose texts may be large, by their properties. */

export const SPAN_TEXTS = {
  paramsJson: 'params',
  otherMetricsJson: 'other_metrics',
  errorJson: 'error',
  contextsJson: 'contexts',
  telemetryJson: 'telemetry',
  inputJson: 'input',
  outputJson: 'output',
} as const;

export const EVALUATION_TEXTS = {
  label: 'label',
  details: 'details',
  errorJson: 'error',
  inputsJson: 'inputs',
  costJson: 'cost',
} as const;

/** The properties of texts. */
export function namesOf<Name extends string>(texts: { readonly [Each in Name]: string }): readonly Name[] {
  return Object.keys(texts) as Name[];
}
