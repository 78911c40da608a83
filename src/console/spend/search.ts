/** The search parameters of the spend page. */

import { oneOf } from '../layout/search.ts';
import { rangeReaderOf } from '../traces/range.ts';

export const readSpendSearch = rangeReaderOf({
  by: oneOf('project', 'model', 'virtual-key', 'principal', 'end-user', 'label', 'prompt', 'prompt-version'),
});

export type SpendSearch = ReturnType<typeof readSpendSearch>;
export type SpendGroupName = NonNullable<SpendSearch['by']>;
