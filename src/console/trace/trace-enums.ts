/** The names of enum values, as the api spells them. */

import { CostSource, EvaluationStatus, SpanType } from '../../../gen/spandrel/v1/traces_pb.js';

export function spanTypeName(type: SpanType): string {
  return (SpanType[type] ?? 'unknown').toLowerCase();
}

export function evaluationStatusName(status: EvaluationStatus): string {
  return (EvaluationStatus[status] ?? 'unknown').toLowerCase().replaceAll('_', ' ');
}

const SOURCES: { readonly [source: number]: string } = {
  [CostSource.EXPLICIT]: 'sent with the span',
  [CostSource.SPAN_RATES]: 'from rates sent with the span',
  [CostSource.OVERRIDE]: 'from the organization’s own price',
  [CostSource.REGISTRY]: 'from the price list',
  [CostSource.RESULT]: 'from the result of the evaluation',
  [CostSource.UNPRICED]: 'unknown: no price for this model',
};

export function costSourceName(source: CostSource | undefined): string | null {
  return source === undefined ? null : (SOURCES[source] ?? null);
}
