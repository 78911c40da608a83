/**
 * Finds traces by the index. Traces that changed since they were indexed are read from their tables. For all others the
 * index answers alone where it is exact, and else proposes candidates. Every returned trace passed the filter of the
 * domain.
 */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { createMatcher, createTextMatcher, needsOf } from '../../domain/traces/search/trace-filter.ts';
import type { FoundTraces, SearchPosition, SearchQuery } from '../../domain/traces/search/trace-search-store.ts';
import { createDocuments } from './documents.ts';
import { planFilter } from './index-plan.ts';
import {
  comparePositions,
  countMaxMsOf,
  FIND_MAX_MS,
  findBySequences,
  isBehind,
  positionOf,
  type Ranked,
  rankFound,
  totalOf,
} from './named-traces.ts';
import type { SearchRunner } from './search-runner.ts';
import type { IndexSelection, SelectedPage, TraceIndex } from './trace-index.ts';

/** With more traces that are not indexed, scanning all traces in order is faster. */
const PENDING_MAX = 20_000;
const VERIFIED_AT_ONCE = 100;

/** Null: the index does not help with this query. */
export async function findByIndex(
  runner: SearchRunner,
  index: TraceIndex,
  query: SearchQuery,
): Promise<FoundTraces | null> {
  const { projectNumber } = query;
  const plan = planFilter(projectNumber, query.filter);
  if (plan === null) return null;
  const pending = await listPending(runner, projectNumber);
  if (pending === null) return null;
  const selection = await index.open({ query, plan, leftOut: pending });
  if (selection === null) return null;
  const check = createCheck(runner, query);
  const found = rankFound(await findBySequences(runner, projectNumber, pending), query);
  const fitting: Ranked[] = [];
  const endsAtMs = runner.nowMs() + FIND_MAX_MS;
  let isLate = false;
  await check(found, (row, fits) => {
    if (fits) fitting.push(row);
    isLate = runner.nowMs() > endsAtMs;
    return isLate;
  });
  // The scan in order is better then: it ends in time with a cursor.
  if (isLate) return null;
  const parts: Parts = { runner, query, fitting, selection, check };
  return await (plan.isExact ? readSelected(parts) : verifySelected(parts));
}

/**
 * The sequences of pending traces, ascending; null: too many. They are read before the index, so that a trace that is indexed
 * meanwhile is seen twice and not missed.
 */
export async function listPending(
  { queries, runQuery }: SearchRunner,
  projectNumber: number,
): Promise<readonly number[] | null> {
  const marked = await runQuery(queries.listPending, { projectNumber, limit: PENDING_MAX + 1 });
  return marked.length > PENDING_MAX ? null : marked.map(({ sequence }) => sequence);
}

type Parts = {
  readonly runner: SearchRunner;
  readonly query: SearchQuery;
  /** Fitting traces among those that are checked regardless of the index. */
  readonly fitting: readonly Ranked[];
  readonly selection: IndexSelection;
  readonly check: CheckRows;
};

type SelectedRows = {
  readonly rows: readonly Ranked[];
  /** The position behind which the selection goes on; null: it has ended. */
  readonly last: SearchPosition | null;
};

/** The rows of the next candidates. Those that were removed since they were indexed are left out. */
async function selectRows({ runner, query, selection }: Parts, page: SelectedPage): Promise<SelectedRows> {
  const { sequences, last } = await selection.select(page);
  const found = await findBySequences(runner, query.projectNumber, sequences);
  return { rows: rankFound(found, query).filter((row) => isBehind(row, page.after, query)), last };
}

/** Searches the index alone; checks only the traces of the page. */
async function readSelected(parts: Parts): Promise<FoundTraces> {
  const { query, fitting, selection, check } = parts;
  const { after, limit, countMax } = query;
  const rows: Ranked[] = [];
  let isEnd = false;
  for (let last = after; rows.length <= limit && !isEnd; ) {
    const some = await selectRows(parts, { after: last, limit: limit + 1 - rows.length });
    rows.push(...some.rows);
    [last, isEnd] = [some.last, some.last === null];
  }
  const { page, next } = toPage({ query, fitting, rows, end: null });
  const isFitting = new Set(fitting);
  await check(
    page.filter((row) => !isFitting.has(row)),
    (row, fits) => {
      if (fits) isFitting.add(row);
      return false;
    },
  );
  const isAll = isEnd && after === null;
  const counted = countMax === null ? 0 : isAll ? rows.length : await selection.count(countMax + 1);
  return {
    traces: page.filter((row) => isFitting.has(row)).map(positionOf),
    next,
    total: totalOf(counted + fitting.length, true, countMax),
  };
}

/** Checks the candidates of the index until the page is full and counted. */
async function verifySelected(parts: Parts): Promise<FoundTraces> {
  const { query, fitting, check } = parts;
  const { limit, countMax, filter } = query;
  const { nowMs } = parts.runner;
  const startedAtMs = nowMs();
  const countMaxMs = countMaxMsOf(filter);
  const rows: Ranked[] = [];
  let count = fitting.length;
  let end: SearchPosition | null = query.after;
  let isEnd = false;
  let isOver = false;
  while (!isEnd && !isOver) {
    const selected = await selectRows(parts, { after: end, limit: VERIFIED_AT_ONCE });
    await check(selected.rows, (row, fits) => {
      if (fits) {
        count += 1;
        if (rows.length <= limit) rows.push(row);
      }
      end = positionOf(row);
      const passedMs = nowMs() - startedAtMs;
      const isFull = rows.length > limit;
      isOver = isFull ? countMax === null || count > countMax || passedMs > countMaxMs : passedMs > FIND_MAX_MS;
      return isOver;
    });
    if (isOver) break;
    isEnd = selected.last === null;
    end = selected.last ?? end;
  }
  const isCutShort = !isEnd && rows.length <= limit;
  const { page, next } = toPage({ query, fitting, rows, end: isCutShort ? end : null });
  return { traces: page.map(positionOf), next, total: totalOf(count, isEnd, countMax) };
}

type ToPage = {
  readonly query: SearchQuery;
  readonly fitting: readonly Ranked[];
  readonly rows: readonly Ranked[];
  /** The position at which checking stopped early; null: it reached the end. */
  readonly end: SearchPosition | null;
};

function toPage({ query, fitting, rows, end }: ToPage): { page: readonly Ranked[]; next: SearchPosition | null } {
  const isKnown = new Set(fitting.map(({ sequence }) => sequence));
  const merged = [
    ...fitting.filter((row) => isBehind(row, query.after, query)),
    ...rows.filter(({ sequence }) => !isKnown.has(sequence)),
  ]
    .filter((row) => end === null || comparePositions(row, end, query) <= 0)
    .sort((one, other) => comparePositions(one, other, query));
  const page = merged.slice(0, query.limit);
  const last = page.at(-1);
  const next = merged.length > query.limit && last !== undefined ? positionOf(last) : end;
  return { page, next };
}

/** Checks rows in order, until `take` returns true. */
type CheckRows = (rows: readonly Ranked[], take: (row: Ranked, fits: boolean) => boolean) => Promise<void>;

function createCheck(runner: SearchRunner, { projectNumber, filter }: SearchQuery): CheckRows {
  const fits = createMatcher(filter);
  const holds = createTextMatcher(filter.text);
  const documents = createDocuments(runner, { projectNumber, needs: needsOf(filter) });
  return async (rows, take) => {
    for (const part of documents.cut(rows)) {
      for (const { row, document } of await documents.read(part)) {
        const isFitting = fits(document) && (filter.text === '' || (await documents.forEachText(row, document, holds)));
        if (take(row, isFitting)) return;
      }
      await yieldToEventLoop();
    }
  };
}
