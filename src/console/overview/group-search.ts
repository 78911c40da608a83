/** The search parameters of the lists of users and threads. */

import { oneOf, text } from '../layout/search.ts';
import { rangeReaderOf } from '../traces/range.ts';

export const readGroupSearch = rangeReaderOf({
  /** A part of the id. */
  q: text,
  /** By cost unless it says otherwise. */
  sort: oneOf('recent', 'traces', 'failed', 'tokens', 'duration'),
});

export type GroupSearch = ReturnType<typeof readGroupSearch>;
