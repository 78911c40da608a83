/** The search parameters of the overview. */

import { type RangeSearch, readRange } from '../traces/range.ts';

export type MetricName = 'cost' | 'traces' | 'tokens' | 'errors' | 'latency';
export type GroupName = 'model' | 'user' | 'customer' | 'label';

export type OverviewSearch = RangeSearch & {
  readonly metric?: Exclude<MetricName, 'cost'>;
  readonly by?: Exclude<GroupName, 'model'>;
};

const METRICS: ReadonlySet<unknown> = new Set(['traces', 'tokens', 'errors', 'latency']);
const GROUPS: ReadonlySet<unknown> = new Set(['user', 'customer', 'label']);

export function readOverviewSearch(raw: Record<string, unknown>): OverviewSearch {
  return {
    ...readRange(raw),
    ...(METRICS.has(raw.metric) && { metric: raw.metric as Exclude<MetricName, 'cost'> }),
    ...(GROUPS.has(raw.by) && { by: raw.by as Exclude<GroupName, 'model'> }),
  };
}
