/** Finds traces and shows them page by page. */

import { canonicalJson } from '../../../json/canonical-json.ts';
import type { Project } from '../../caller.ts';
import type { CursorCodec } from '../../cursor.ts';
import { Fault, type Reason, validationFault } from '../../fault.ts';
import { termStartMs, traceTermDays } from '../../retention-terms.ts';
import { hasMoreCharactersThan } from '../../text-limits.ts';
import { normaliseTraceId } from '../trace-ids.ts';
import type { TraceRows } from '../trace-rows.ts';
import type { Traces, TraceView } from '../traces.ts';
import { foldText } from './fold-text.ts';
import type { SearchCall } from './search-call.ts';
import { createShowTraces } from './show-traces.ts';
import { type Condition, isOrdered, type SearchFilter } from './trace-filter.ts';
import { readFilters, type SentFilter, type TraceSort } from './trace-search-query.ts';
import {
  EVER,
  type InstantRange,
  type SearchPosition,
  type SearchQuery,
  type SearchTotal,
  TOTAL_MAX,
  type TraceSearch,
} from './trace-search-store.ts';

/** What a search looks for; null: not sent. */
export type SearchConditions = {
  readonly startMs: number | null;
  readonly endMs: number | null;
  /** Empty: any. */
  readonly query: string;
  /** All must match. */
  readonly filters: readonly SentFilter[];
  readonly negateFilters: boolean;
  /** Empty: all. */
  readonly traceIds: readonly string[];
  /** Whether the dates are those of the last change, instead of the start. */
  readonly isByUpdate: boolean;
};

export type SearchRequest = SearchConditions & {
  readonly pageSize: number | null;
  /** Null: not sent. */
  readonly sortBy: TraceSort | null;
  readonly isAscending: boolean;
  readonly includeSpans: boolean;
  /** Empty: the first page. */
  readonly cursor: string;
};

type FilterRequest = Pick<SearchRequest, 'filters' | 'negateFilters' | 'query' | 'traceIds'>;

type ThreadRequest = Pick<SearchRequest, 'pageSize' | 'cursor'> & { readonly threadId: string };

export type TracePage = {
  readonly views: readonly TraceView[];
  readonly total: SearchTotal;
  /** Null: the last page. */
  readonly nextCursor: string | null;
  /** Whether time ran out before the page was full: too many traces are not indexed yet. */
  readonly isPartial: boolean;
};

export type TraceSearches = {
  /** Throws validation_error or invalid_scroll_id. */
  search(request: SearchRequest, call: SearchCall): Promise<TracePage>;
  /** Positions of all traces that a search finds, page by page. Throws as `search` does. */
  walk(request: SearchRequest, call: SearchCall): AsyncGenerator<readonly SearchPosition[], void>;
  /** The traces of a thread, oldest first. Throws validation_error or invalid_scroll_id. */
  thread(request: ThreadRequest, call: SearchCall): Promise<TracePage>;
  /** The filter of a request, without its dates. */
  filterOf(request: FilterRequest): { readonly filter: SearchFilter; readonly traceIds: readonly string[] | null };
  /** The problems of a request. */
  problems(request: Pick<SearchRequest, 'filters'>): readonly Reason[];
};

type TraceSearchesDeps = {
  readonly store: Pick<TraceSearch, 'find'>;
  readonly traces: Pick<Traces, 'get'>;
  readonly rows: TraceRows;
  readonly cursors: CursorCodec;
  /** The term in days of projects without a setting; null: for ever. */
  readonly traceDefaultDays: number | null;
};

const DAY_MS = 86_400_000;
const DAYS_DEFAULT = 30;
const PAGE_SIZE_DEFAULT = 100;
const THREAD_PAGE_SIZE_DEFAULT = 1000;
const THREAD_ID_CHARACTERS_MAX = 512;
const SPANS_PER_TRACE = 200;
const NO_TOTAL: SearchTotal = { count: 0, isExact: true };

/** State of a walk. Its first page fixes dates and counts traces. */
type Walk = {
  readonly fromMs: number;
  readonly toMs: number;
  readonly after: SearchPosition | null;
  readonly total: SearchTotal | null;
};

type Plan = {
  /** What a cursor is bound to, with the project. */
  readonly binding: string;
  readonly walk: Walk;
  readonly searchQuery: Omit<SearchQuery, 'projectNumber' | 'expiredBeforeMs' | 'after' | 'countMax'>;
  readonly countMax: number;
  readonly spansLimit: number;
};

export function createTraceSearches(deps: TraceSearchesDeps): TraceSearches {
  const { store, cursors, traceDefaultDays } = deps;
  const show = createShowTraces(deps);

  async function run(plan: Plan, call: SearchCall): Promise<TracePage> {
    const { walk, searchQuery, spansLimit, countMax } = plan;
    const { project } = call;
    const found = await store.find({
      ...searchQuery,
      ...boundsOf(call),
      after: walk.after,
      countMax: walk.total === null ? countMax : null,
    });
    const total = walk.total ?? found.total ?? NO_TOTAL;
    const { views, last } = await show(found.traces, spansLimit, call);
    const next = last ?? found.next;
    const nextCursor = next === null ? null : seal(plan, project, { ...walk, after: next, total });
    const isPartial = found.next !== null && found.traces.length < searchQuery.limit;
    return { views, total: isPartial ? { ...total, isExact: false } : total, nextCursor, isPartial };
  }

  const boundsOf = (call: SearchCall) => visibleTo(call, traceDefaultDays);

  function seal({ binding }: Plan, project: Project, { fromMs, toMs, after, total }: Walk): string {
    const { key, traceId } = after ?? { key: 0, traceId: '' };
    const { count, isExact } = total ?? NO_TOTAL;
    return cursors.seal(['trace-search', project.id, binding], [fromMs, toMs, key, traceId, count, isExact ? 1 : 0]);
  }

  function open(cursor: string, binding: string, project: Project): Walk {
    const position = cursors.open(['trace-search', project.id, binding], cursor);
    const [fromMs, toMs, key, traceId, count, isExact] = position ?? [];
    if (typeof fromMs !== 'number' || typeof toMs !== 'number') throw invalidScrollId();
    if (typeof key !== 'number' || typeof traceId !== 'string' || typeof count !== 'number') throw invalidScrollId();
    return { fromMs, toMs, after: { key, traceId }, total: { count, isExact: isExact === 1 } };
  }

  function planSearch(request: SearchRequest, { project, nowMs }: SearchCall): Plan {
    const { startMs, endMs, cursor, isByUpdate, isAscending } = request;
    const { filter, traceIds: ids } = filterOf(request);
    const { conditions, isNegated, text } = filter;
    const sort = request.sortBy ?? (isByUpdate ? 'updated_at' : 'started_at');
    const filters = sortConditions(conditions).map((condition) => [
      condition.name,
      condition.of,
      sortValues(condition),
    ]);
    const binding = canonicalJson([sort, isAscending, isByUpdate, isNegated, text, ids ?? [], filters]);
    const walk =
      cursor === '' ? { ...datesOf(request, nowMs), after: null, total: null } : open(cursor, binding, project);
    if ((startMs ?? walk.fromMs) !== walk.fromMs || (endMs ?? walk.toMs) !== walk.toMs) throw invalidScrollId();
    const dates = { fromMs: walk.fromMs, toMs: walk.toMs };
    checkDates(dates);
    return {
      binding,
      walk,
      searchQuery: {
        started: isByUpdate ? EVER : dates,
        updated: isByUpdate ? dates : EVER,
        sort,
        isAscending,
        traceIds: ids,
        filter,
        limit: request.pageSize ?? PAGE_SIZE_DEFAULT,
      },
      spansLimit: request.includeSpans ? SPANS_PER_TRACE : 0,
      countMax: TOTAL_MAX,
    };
  }

  function planThread({ threadId, pageSize, cursor }: ThreadRequest, { project }: SearchCall): Plan {
    const binding = canonicalJson(['thread', threadId]);
    return {
      binding,
      walk: cursor === '' ? { ...EVER, after: null, total: null } : open(cursor, binding, project),
      searchQuery: {
        started: EVER,
        updated: EVER,
        sort: 'started_at',
        isAscending: true,
        traceIds: null,
        filter: {
          conditions: [{ name: 'metadata.thread_id', of: '', values: [threadId] }],
          isNegated: false,
          text: '',
        },
        limit: pageSize ?? THREAD_PAGE_SIZE_DEFAULT,
      },
      spansLimit: SPANS_PER_TRACE,
      // The answer of a thread has an exact total: it has no field for "and more".
      countMax: Number.MAX_SAFE_INTEGER,
    };
  }

  return {
    search: async (request, call) => await run(planSearch(request, call), call),
    async *walk(request, call) {
      const { walk, searchQuery } = planSearch(request, call);
      for (let { after } = walk; ; ) {
        const found = await store.find({ ...searchQuery, ...boundsOf(call), after, countMax: null });
        yield found.traces;
        if (found.next === null) return;
        after = found.next;
      }
    },
    async thread(request, call) {
      // No trace has a longer thread id, and databases may refuse it.
      if (hasMoreCharactersThan(request.threadId, THREAD_ID_CHARACTERS_MAX)) {
        return { views: [], total: NO_TOTAL, nextCursor: null, isPartial: false };
      }
      return await run(planThread(request, call), call);
    },
    filterOf,
    problems: ({ filters }) => readFilters(filters).reasons,
  };
}

/** The traces that a call can see. */
export function visibleTo(
  { project, nowMs }: Pick<SearchCall, 'project' | 'nowMs'>,
  traceDefaultDays: number | null,
): Pick<SearchQuery, 'projectNumber' | 'expiredBeforeMs'> {
  const termDays = traceTermDays(project.traceRetentionDays, traceDefaultDays);
  return { projectNumber: project.number, expiredBeforeMs: termStartMs(termDays, nowMs) };
}

/** The dates of a request, the default ones where it has none. */
export function datesOf({ startMs, endMs }: Pick<SearchConditions, 'startMs' | 'endMs'>, nowMs: number): InstantRange {
  return { fromMs: startMs ?? nowMs - DAYS_DEFAULT * DAY_MS, toMs: endMs ?? nowMs + DAY_MS };
}

export function filterOf({ filters, negateFilters, query, traceIds }: FilterRequest) {
  const { conditions } = readFilters(filters);
  const isNegated = negateFilters && conditions.length > 0;
  const ids = traceIds.length === 0 ? null : [...new Set(traceIds.map(normaliseTraceId))].sort();
  return { filter: { conditions, isNegated, text: foldText(query) }, traceIds: ids };
}

/** Throws validation_error when the dates are in reverse. */
export function checkDates({ fromMs, toMs }: InstantRange): void {
  if (fromMs > toMs) throw validationFault('json', [DATES_REVERSED]);
}

const DATES_REVERSED: Reason = { field: 'startDate', type: 'custom', message: 'startDate must not be after endDate' };

function sortConditions(conditions: readonly Condition[]): readonly Condition[] {
  const textOf = ({ name, of }: Condition) => JSON.stringify([name, of]);
  return conditions.toSorted((one, other) => (textOf(one) < textOf(other) ? -1 : 1));
}

/** Alternatives in an order of their own; bounds stay a least and a greatest value. */
function sortValues({ name, values }: Condition): readonly string[] {
  return isOrdered(name) ? values : values.toSorted();
}

function invalidScrollId(): Fault {
  return new Fault('invalid_scroll_id', 'scrollId is not valid for this query');
}
