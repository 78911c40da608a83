/**
 * Passes the filters of a match to the thread that reads only once: those of a project's triggers may be thousands, match
 * every trace, and are compiled there.
 */

import type { SearchFilter } from '../../../domain/traces/search/trace-filter.ts';
import type { MatchQuery, TraceSearch } from '../../../domain/traces/search/trace-search-store.ts';

type Match = TraceSearch['match'];

type KeptQuery = Omit<MatchQuery, 'filters'> & {
  readonly filtersId: number;
  /** Null: the thread was given them before. */
  readonly filters: readonly SearchFilter[] | null;
};

/** The thread has dropped these filters, or is a new one. */
type Unknown = 'unknown filters';

/** The match as the thread serves it. */
export type KeptMatch = (query: KeptQuery) => Promise<Awaited<ReturnType<Match>> | Unknown>;

/** Of all lists together; each filter takes a few kilobytes when it is compiled. */
const KEPT_MAX = 20_000;

export function sendFiltersOnce(match: KeptMatch): Match {
  const ids = new WeakMap<readonly SearchFilter[], number>();
  let lastId = 0;
  return async ({ filters, ...query }) => {
    const known = ids.get(filters);
    if (known !== undefined) {
      const found = await match({ ...query, filtersId: known, filters: null });
      if (found !== 'unknown filters') return found;
    }
    lastId += 1;
    ids.set(filters, lastId);
    const found = await match({ ...query, filtersId: lastId, filters });
    if (found === 'unknown filters') throw new Error('filters that were just sent are unknown');
    return found;
  };
}

export function keepFilters(match: Match, keptMax = KEPT_MAX): KeptMatch {
  const kept = new Map<number, readonly SearchFilter[]>();
  let count = 0;

  function drop(id: number): void {
    count -= kept.get(id)?.length ?? 0;
    kept.delete(id);
  }

  return async ({ filtersId, filters: sent, ...query }) => {
    const filters = sent ?? kept.get(filtersId);
    if (filters === undefined) return 'unknown filters';
    drop(filtersId);
    kept.set(filtersId, filters);
    count += filters.length;
    // The one that was used longest ago first.
    for (const id of kept.keys()) {
      if (count <= keptMax || id === filtersId) break;
      drop(id);
    }
    return await match({ ...query, filters });
  };
}
