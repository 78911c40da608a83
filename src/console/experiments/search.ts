/** The search parameters of the run page. */

import { flag, oneOf, readerOf, text } from '../layout/search.ts';

/** Runs beside the one of the page: with more of them no column is wide enough. */
export const OTHERS_MAX = 9;

export const readRunSearch = readerOf({
  /** The id of the run to compare with. */
  against: text,
  /** The ids of further runs that are compared with it. */
  with: texts,
  /** Shows only entries with different results. */
  differing: flag,
  /** Whether entries that became worst come first; else in the order of the baseline. */
  sort: oneOf('regression'),
  /** Whether outputs are shown as they are, without the words that differ. */
  plain: flag,
});

export type RunSearch = ReturnType<typeof readRunSearch>;

/** The router parses a text of digits as a number. */
function texts(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const known = value.map(text).filter((each) => each !== undefined);
  return known.length === 0 ? undefined : [...new Set(known)].slice(0, OTHERS_MAX);
}
