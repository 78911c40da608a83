/**
 * Lists the values of filters. The index has only hashes of values, so they come from reading the newest traces that match. How
 * many traces have a value is then counted by the index, where it is exact and as long as there is time.
 */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import {
  type Condition,
  compileFilter,
  createTextMatcher,
  type Facet,
  matchesAll,
  needsOf,
  readMetadata,
} from '../../domain/traces/search/trace-filter.ts';
import {
  ALL_TRACES,
  type SearchPosition,
  type SearchQuery,
  TOTAL_MAX,
  type TraceSearch,
  type ValueCount,
  type ValuesQuery,
} from '../../domain/traces/search/trace-search-store.ts';
import { createDocuments } from './documents.ts';
import { planFilter } from './index-plan.ts';
import { listPending } from './index-search.ts';
import { findBySequences, positionOf, rankFound } from './named-traces.ts';
import type { SearchRunner } from './search-runner.ts';
import type { TraceIndex } from './trace-index.ts';
import { createList, type List, type Listed } from './trace-list.ts';
import { createValueCounts, type FrequentValue, type ValueCounts } from './value-counts.ts';

/** Most traces that are read. */
const TRACES_MAX = 10_000;
const READ_MAX_MS = 50;
/** So many are read even if that takes longer, up to a second. */
const TRACES_MIN = 200;
const READ_SLOWLY_MAX_MS = 1_000;
/** From the start on; after it no other value is counted by the index. */
const COUNT_MAX_MS = 80;
/** Counts stop at the first limit, which takes little time, and go on to the second one while there is time. */
const COUNT_LIMITS = [1_000, TOTAL_MAX] as const;
const ROWS_AT_ONCE = 500;

type Parts = {
  readonly runner: SearchRunner;
  readonly index: TraceIndex;
  readonly list: List;
  readonly search: SearchQuery;
  readonly facets: readonly Facet[];
  /** The sequences of traces that are not indexed; null: too many. */
  readonly pending: readonly number[] | null;
  readonly startedAtMs: number;
};

export function createValueList(runner: SearchRunner, index: TraceIndex): TraceSearch['listValues'] {
  return async (query) => {
    const startedAtMs = runner.nowMs();
    const { facets } = query;
    const search = toSearch(query);
    const pending = await listPending(runner, query.projectNumber);
    const parts: Parts = { runner, index, list: createList(runner, search), search, facets, pending, startedAtMs };
    const counts = createValueCounts(query);
    const read = await readNewest(parts, counts);
    const frequent = counts.mostFrequent();
    const counted = await countByIndex(parts, read, frequent);
    const toCount = (each: FrequentValue): ValueCount =>
      counted.get(each) ?? { value: each.value, count: each.count, isExact: read.isEnd };
    return {
      // The sort is stable: of equal counts the one that was read more often stays first.
      facets: frequent.map((values) => values.map(toCount).sort((one, other) => other.count - one.count)),
      isComplete: read.isEnd && !counts.isFull(),
    };
  };
}

/** The search that finds the traces, the newest first. */
function toSearch({ facets: _, prefix: __, ...query }: ValuesQuery): SearchQuery {
  return { ...ALL_TRACES, ...query, isAscending: false };
}

type Read = {
  /** Whether all traces of the query were read. */
  readonly isEnd: boolean;
  /** Whether all pending ones were. */
  readonly hasReadPending: boolean;
};

async function readNewest(parts: Parts, counts: ValueCounts): Promise<Read> {
  const { runner, search, facets, startedAtMs } = parts;
  const { projectNumber, filter } = search;
  const conditions = [...filter.conditions, ...facets.map((facet) => ({ ...facet, values: [] }))];
  const needs = needsOf({ ...filter, conditions });
  const documents = createDocuments(runner, { projectNumber, needs });
  const fits = compileFilter(filter);
  const holds = createTextMatcher(filter.text);
  let count = 0;
  const isOver = () => {
    const passedMs = runner.nowMs() - startedAtMs;
    return count >= TRACES_MAX || passedMs > (count < TRACES_MIN ? READ_SLOWLY_MAX_MS : READ_MAX_MS);
  };
  for await (const { rows, isPending } of pagesOf(parts)) {
    for (const part of documents.cut(rows)) {
      for (const { row, document } of await documents.read(part)) {
        const metadata = needs.metadata ? readMetadata(document.metadataJson) : {};
        const isFitting =
          fits(document, metadata) && (filter.text === '' || (await documents.forEachText(row, document, holds)));
        if (isFitting) counts.addTrace({ document, metadata, isPending });
        count += 1;
        if (isOver()) return { isEnd: false, hasReadPending: !isPending };
      }
      await yieldToEventLoop();
    }
  }
  return { isEnd: true, hasReadPending: true };
}

type Row = Listed | ReturnType<typeof rankFound>[number];
type Page = { readonly rows: readonly Row[]; readonly isPending: boolean };

/** Pending traces first, then the newest of the others. */
async function* pagesOf({ runner, index, list, search, pending }: Parts): AsyncGenerator<Page, void> {
  const { projectNumber, filter } = search;
  const find = async (sequences: readonly number[]) =>
    rankFound(await findBySequences(runner, projectNumber, sequences), search);
  for (const sequences of chunksOf(pending?.toReversed() ?? [])) yield { rows: await find(sequences), isPending: true };
  const plan = pending === null || matchesAll(filter) ? null : planFilter(projectNumber, filter);
  const selection = plan === null ? null : await index.open({ query: search, plan, leftOut: pending ?? [] });
  const isRead = new Set(pending);
  for (let after: SearchPosition | null = null; ; ) {
    if (selection === null) {
      const rows: readonly Listed[] = await list(after, ROWS_AT_ONCE);
      yield { rows: rows.filter(({ sequence }) => !isRead.has(sequence)), isPending: false };
      const last = rows.at(-1);
      if (last === undefined || rows.length < ROWS_AT_ONCE) return;
      after = positionOf(last);
    } else {
      const { sequences, last } = await selection.select({ after, limit: ROWS_AT_ONCE });
      yield { rows: await find(sequences), isPending: false };
      if (last === null) return;
      after = last;
    }
  }
}

function chunksOf(sequences: readonly number[]): readonly (readonly number[])[] {
  const count = Math.ceil(sequences.length / ROWS_AT_ONCE);
  return Array.from({ length: count }, (_, at) => sequences.slice(at * ROWS_AT_ONCE, (at + 1) * ROWS_AT_ONCE));
}

/** A frequent value, and the condition that finds it. */
type Wanted = { readonly each: FrequentValue; readonly condition: Condition };

/** The most frequent value of each facet first. */
function rankWanted(facets: readonly Facet[], frequent: readonly (readonly FrequentValue[])[]): readonly Wanted[] {
  const ranks = Math.max(0, ...frequent.map(({ length }) => length));
  return Array.from({ length: ranks }, (_, rank) =>
    facets.flatMap((facet, place) => {
      const each = frequent[place]?.[rank];
      return each === undefined ? [] : [{ each, condition: { ...facet, values: [each.value] } }];
    }),
  ).flat();
}

async function countByIndex(
  parts: Parts,
  { isEnd, hasReadPending }: Read,
  frequent: readonly (readonly FrequentValue[])[],
): Promise<ReadonlyMap<FrequentValue, ValueCount>> {
  const { runner, facets, startedAtMs } = parts;
  const counted = new Map<FrequentValue, ValueCount>();
  if (isEnd) return counted;
  let left = rankWanted(facets, frequent);
  for (const limit of COUNT_LIMITS) {
    const beyond: Wanted[] = [];
    for (const wanted of left) {
      const { each, condition } = wanted;
      let count = each.count;
      if (count <= limit) {
        if (runner.nowMs() - startedAtMs > COUNT_MAX_MS) return counted;
        const others = await countOthers(parts, condition, limit + 1);
        if (others === null) return counted;
        count = others + each.pending;
        const isExact = hasReadPending && count <= limit;
        counted.set(each, { value: each.value, count: Math.min(count, limit), isExact });
      }
      if (count > limit) beyond.push(wanted);
    }
    left = beyond;
  }
  return counted;
}

/** How many traces that are not pending meet a condition more; null: the index cannot tell. */
async function countOthers(
  { index, search, pending }: Parts,
  condition: Condition,
  limit: number,
): Promise<number | null> {
  const filter = { ...search.filter, conditions: [...search.filter.conditions, condition] };
  // The index has no conjunction of a negation and a value.
  const plan = filter.isNegated ? null : planFilter(search.projectNumber, filter);
  if (plan === null || !plan.isExact || pending === null) return null;
  const selection = await index.open({ query: { ...search, filter }, plan, leftOut: pending });
  return selection === null ? null : await selection.count(limit);
}
