/** The search parameters of the scores of an evaluator or a monitor. */

import { type RangeSearch, readRange } from '../traces/range.ts';

const METRIC_NAMES = ['mean', 'pass-rate', 'p50', 'p95', 'evaluations'] as const;

export type ScoreMetricName = (typeof METRIC_NAMES)[number];

export type ScoreSearch = RangeSearch & { readonly metric?: ScoreMetricName };

export function readScoreSearch(raw: Record<string, unknown>): ScoreSearch {
  const metric = METRIC_NAMES.find((name) => name === raw.metric);
  return { ...readRange(raw), ...(metric && { metric }) };
}
