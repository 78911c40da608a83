/** What the address of one run of an experiment says. */

export type RunSearch = {
  /** The id of the run that it is compared with. */
  readonly against?: string;
  /** Shows only the entries that went otherwise. */
  readonly differing?: true;
};

export function readRunSearch(raw: Record<string, unknown>): RunSearch {
  const { against, differing } = raw;
  // An id of digits is read as a number.
  const isId = (typeof against === 'string' && against !== '') || typeof against === 'number';
  return { ...(isId && { against: String(against) }), ...(differing === true && { differing }) };
}
