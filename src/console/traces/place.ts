/** Where somebody was in the list of traces, so that the way back leads there. Kept until the page is reloaded. */

import type { TraceListSearch } from './search.ts';

export type Place = {
  readonly scrollTop: number;
  /** The trace that was opened last. */
  readonly traceId: string | null;
};

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** Whether a link leads back to where one was. */
    readonly isReturn?: true;
  }
}

const START: Place = { scrollTop: 0, traceId: null };
/** By search, which includes the project. */
const bySearch = new Map<string, Place>();
/** The search that an entry of the browser's history showed. */
const entries = new Map<string, string>();
const ENTRIES_MAX = 200;

export function placeKey(slug: string, search: TraceListSearch): string {
  const { q, not, range, from, to, sort, dir } = search;
  return JSON.stringify([slug, q, not, range, from, to, sort, dir]);
}

/** `entry` is the key of the history entry. */
export function keepPlace(key: string, entry: string | undefined, change: Partial<Place>): void {
  bySearch.set(key, { ...(bySearch.get(key) ?? START), ...change });
  if (entry === undefined) return;
  entries.set(entry, key);
  const [oldest] = entries.keys();
  if (entries.size > ENTRIES_MAX && oldest !== undefined) entries.delete(oldest);
}

/** The start, unless one comes back by the history or by a link that says so. */
export function findPlace(key: string, entry: string | undefined, isReturn: boolean): Place {
  const isBack = isReturn || (entry !== undefined && entries.get(entry) === key);
  return (isBack ? bySearch.get(key) : undefined) ?? START;
}
