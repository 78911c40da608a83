/** The search parameters of the scores of an evaluator or a monitor. */

import { oneOf, type SearchOf } from '../layout/search.ts';
import type { RangeSearch } from '../traces/range.ts';

export const SCORES = { metric: oneOf('mean', 'pass-rate', 'p50', 'p95', 'evaluations') };

export type ScoreSearch = RangeSearch & SearchOf<typeof SCORES>;
export type ScoreMetricName = NonNullable<ScoreSearch['metric']>;
