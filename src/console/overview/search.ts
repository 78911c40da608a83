/** The search parameters of the overview. */

import { oneOf } from '../layout/search.ts';
import { rangeReaderOf } from '../traces/range.ts';

export const readOverviewSearch = rangeReaderOf({
  metric: oneOf('traces', 'tokens', 'errors', 'latency'),
  by: oneOf('user', 'customer', 'label'),
});

export type OverviewSearch = ReturnType<typeof readOverviewSearch>;
export type MetricName = NonNullable<OverviewSearch['metric']> | 'cost';
export type GroupName = NonNullable<OverviewSearch['by']> | 'model';
