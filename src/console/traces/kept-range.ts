/** The range that a tab keeps from page to page. A link in another tab shows the range of its address. */

import type { RawSearch } from '../layout/search.ts';
import { RANGE_DEFAULT, type Range, type RangeSearch, readRange, writeRange } from './range.ts';

const NAME = 'spandrel.range';

/** Keeps the range of the page that is shown; the default one is none. */
export function keepRange(range: Range): void {
  try {
    const kept = writeRange(range);
    if (kept.range === undefined || kept.range === RANGE_DEFAULT) sessionStorage.removeItem(NAME);
    else sessionStorage.setItem(NAME, JSON.stringify(kept));
  } catch {
    // Without storage every page begins with the default.
  }
}

/**
 * Lets a page without a range in its address begin with the kept one. The router then writes it into the address. A
 * saved view brings its own.
 */
export function withKeptRange<Search extends RangeSearch>(read: (raw: RawSearch) => Search) {
  return (raw: RawSearch): Search =>
    read(raw.range === undefined && raw.saved === undefined ? { ...raw, ...keptRange() } : raw);
}

function keptRange(): RangeSearch {
  try {
    return readRange(JSON.parse(sessionStorage.getItem(NAME) ?? '{}'));
  } catch {
    return {};
  }
}
