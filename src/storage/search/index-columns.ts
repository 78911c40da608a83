/** Columns that the index of traces has in every database. */

import { EVER, type InstantRange } from '../../domain/traces/search/trace-search-store.ts';
import type { RangedNumber } from './index-plan.ts';

export const SORT_COLUMNS = {
  started_at: 'started_at',
  updated_at: 'updated_at',
  total_cost: 'total_cost_nano_usd',
  total_time_ms: 'total_time_ms',
  first_token_ms: 'first_token_ms',
} as const;

export const NUMBER_COLUMNS: Readonly<Record<RangedNumber, string>> = {
  totalTimeMs: 'total_time_ms',
  totalCostNanoUsd: 'total_cost_nano_usd',
  totalTokens: 'total_tokens',
  firstTokenMs: 'first_token_ms',
};

/** Conditions that hold in the range; none for bounds that every instant is within. */
export function within(column: string, { fromMs, toMs }: InstantRange): readonly string[] {
  return [
    ...(fromMs > EVER.fromMs ? [`${column} >= ${fromMs}`] : []),
    ...(toMs < EVER.toMs ? [`${column} <= ${toMs}`] : []),
  ];
}
