/** The search parameters of the overview. */

import { oneOf } from '../layout/search.ts';
import { rangeReaderOf } from '../traces/range.ts';

export const readOverviewSearch = rangeReaderOf({
  by: oneOf('user', 'customer', 'label', 'prompt', 'prompt-version'),
  /** The second dimension of the table. */
  and: oneOf('model', 'user', 'customer', 'label', 'prompt', 'prompt-version'),
});

export type OverviewSearch = ReturnType<typeof readOverviewSearch>;
export type GroupName = NonNullable<OverviewSearch['by']> | 'model';
