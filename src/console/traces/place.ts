/** Where somebody was in the list of traces, so that the way back leads there. Kept as long as the tab. */

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
const STORE = 'spandrel.places';
const PLACES_MAX = 50;

type Kept = {
  /** By search, which includes the project; the one that changed last is at the end. */
  readonly places: readonly (readonly [key: string, place: Place])[];
  /** The search that an entry of the browser's history showed. */
  readonly entries: readonly (readonly [entry: string, key: string])[];
};

let kept: Kept | null = null;

function readKept(): Kept {
  try {
    kept ??= JSON.parse(sessionStorage.getItem(STORE) ?? 'null') as Kept | null;
  } catch {
    // A browser without storage forgets the places when the page is reloaded.
  }
  kept ??= { places: [], entries: [] };
  return kept;
}

export function placeKey(slug: string, search: TraceListSearch): string {
  const { q, not, range, from, to, sort, dir } = search;
  return JSON.stringify([slug, q, not, range, from, to, sort, dir]);
}

/** The key of this entry of the history. The one that the browser opened has none. */
function thisEntry(): string {
  const state = history.state as { readonly __TSR_key?: unknown } | null;
  return String(state?.__TSR_key ?? 'first');
}

export function keepPlace(key: string, change: Partial<Place>): void {
  const { places, entries } = readKept();
  const before = places.find(([each]) => each === key)?.[1] ?? START;
  kept = {
    places: putLast(places, key, { ...before, ...change }),
    entries: putLast(entries, thisEntry(), key),
  };
  try {
    sessionStorage.setItem(STORE, JSON.stringify(kept));
  } catch {
    // See above.
  }
}

function putLast<Value>(list: readonly (readonly [string, Value])[], key: string, value: Value) {
  return [...list.filter(([each]) => each !== key).slice(1 - PLACES_MAX), [key, value] as const];
}

/** The start, unless one comes back by the history or by a link that says so. */
export function findPlace(key: string, isReturn: boolean): Place {
  const { places, entries } = readKept();
  const entry = thisEntry();
  const isBack = isReturn || entries.some(([each, shown]) => each === entry && shown === key);
  return (isBack ? places.find(([each]) => each === key)?.[1] : undefined) ?? START;
}
