/** The search parameters of the run page. */

export type RunSearch = {
  /** The id of the run to compare with. */
  readonly against?: string;
  /** Shows only entries with different results. */
  readonly differing?: true;
};

export function readRunSearch(raw: Record<string, unknown>): RunSearch {
  const { against, differing } = raw;
  // The router parses an id of digits as a number.
  const isId = (typeof against === 'string' && against !== '') || typeof against === 'number';
  return { ...(isId && { against: String(against) }), ...(differing === true && { differing }) };
}
