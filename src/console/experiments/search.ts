/** The search parameters of the run page. */

import { flag, readerOf, text } from '../layout/search.ts';

export const readRunSearch = readerOf({
  /** The id of the run to compare with. */
  against: text,
  /** Shows only entries with different results. */
  differing: flag,
});

export type RunSearch = ReturnType<typeof readRunSearch>;
