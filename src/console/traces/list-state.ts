import { withNamedRange } from './range.ts';
import type { TraceListSearch } from './search.ts';

/**
 * The part of a search that a saved view keeps. Whether the list follows new traces is no part of it. The range always
 * is, by its name if it is the default one.
 */
export function stateOf(search: TraceListSearch): TraceListSearch {
  const { q, not, range, from, to, sort, dir, columns } = withNamedRange(search);
  const all = { q, not, range, from, to, sort, dir, columns };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}
