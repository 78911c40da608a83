/** The search parameters of the lists of threads and of users. */

import { oneOf, text } from '../layout/search.ts';
import { rangeReaderOf } from '../traces/range.ts';

export const readGroupSearch = rangeReaderOf({
  /** Words of a trace, or the beginning of an id. */
  q: text,
  /** By last activity unless it says otherwise. */
  sort: oneOf('traces', 'cost', 'tokens', 'failed'),
  /** Descending unless it says otherwise. */
  dir: oneOf('asc'),
});

export type GroupSearch = ReturnType<typeof readGroupSearch>;
