/**
 * Finds traces by going through them in the order asked for. What an index or the text of their metadata tells is
 * left to the database; all else is judged here, by the rules of the domain, a part at a time.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  createMatcher,
  createTextMatcher,
  fitsAll,
  needleOf,
  needsOf,
  sortOutErrors,
} from '../../domain/trace-filter.ts';
import type { TraceSort } from '../../domain/trace-search-query.ts';
import type { FoundTraces, SearchPlace, SearchQuestion, TraceSearch } from '../../domain/trace-search-store.ts';
import type { Asking, Compiled, RowOf } from '../questions.ts';
import { type Candidate, createDocuments } from './documents.ts';
import { placeOf, totalOf } from './found.ts';
import { findByIndex } from './index-search.ts';
import { createMatch } from './match.ts';
import { rankByIds } from './named-traces.ts';
import type * as source from './questions.ts';
import type * as indexSource from './questions-index.ts';

export type SearchQuestions = { readonly [Name in keyof typeof source]: Compiled<(typeof source)[Name]> } & {
  readonly [Name in keyof typeof indexSource]: Compiled<(typeof indexSource)[Name]>;
};
export type SearchAsking = Asking<SearchQuestions> & {
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
};

type Listed = RowOf<SearchQuestions['listByStart']>;
/** What stands behind a place, at most so many. */
type List = (after: SearchPlace | null, limit: number) => Promise<readonly Listed[]>;

// A page that is not full by then says where to go on.
const FIND_MAX_MS = 3_000;
const COUNT_MAX_MS = 3_000;
const COUNT_WITH_TEXT_MAX_MS = 50;
const LISTED_AT_ONCE = 1_000;
/** Orders that the database has an index for. */
const LISTED_BY_INDEX: readonly TraceSort[] = ['started_at', 'updated_at'];
const LAST_TEXT = '\u{10ffff}';

export function createTraceSearch(asking: SearchAsking): TraceSearch {
  const { questions, ask } = asking;

  return {
    match: createMatch(asking),
    find: async (question) => {
      if (question.traceIds !== null) return await goThrough(asking, question, await rankByIds(asking, question));
      const isListed = fitsAll(question.filter) && LISTED_BY_INDEX.includes(question.sort);
      const found = isListed ? null : await findByIndex(asking, question);
      if (found !== null) return found;
      const list = createList(asking, question);
      if (!fitsAll(sortOutErrors(question.filter).rest)) return await goThrough(asking, question, list);
      const rows = await list(question.after, question.limit + 1);
      const traces = rows.slice(0, question.limit).map(placeOf);
      const next = rows.length > question.limit ? (traces.at(-1) ?? null) : null;
      const { countMax } = question;
      if (countMax === null) return { traces, next, total: null };
      const [row] = await ask(questions.countTraces, { ...boundsOf(question), limit: countMax + 1 });
      return { traces, next, total: totalOf(row?.count ?? 0, true, countMax) };
    },
  };
}

function createList({ questions, ask }: SearchAsking, question: SearchQuestion): List {
  const { isAscending } = question;
  const listing = questions[LISTINGS[question.sort][isAscending ? 0 : 1]];
  const first = isAscending
    ? { key: Number.MIN_SAFE_INTEGER, traceId: '' }
    : { key: Number.MAX_SAFE_INTEGER, traceId: LAST_TEXT };
  const bounds = boundsOf(question);
  return (after, limit) => {
    const { key, traceId } = after ?? first;
    return ask(listing, { ...bounds, key, traceId, limit });
  };
}

const LISTINGS = {
  started_at: ['listByStart', 'listByStartDown'],
  updated_at: ['listByUpdate', 'listByUpdateDown'],
  total_cost: ['listByCost', 'listByCostDown'],
  total_time_ms: ['listByDuration', 'listByDurationDown'],
  first_token_ms: ['listByFirstToken', 'listByFirstTokenDown'],
} as const satisfies Readonly<Record<TraceSort, readonly [keyof SearchQuestions, keyof SearchQuestions]>>;

function boundsOf({ projectNumber, goneBeforeMs, started, updated, filter }: SearchQuestion) {
  const { conditions, isNegated } = filter;
  const errors = sortOutErrors(filter);
  const needles = isNegated ? [] : conditions.map(needleOf).filter((needle) => needle !== null);
  return {
    projectNumber,
    goneBeforeMs: goneBeforeMs ?? Number.MIN_SAFE_INTEGER,
    startedFromMs: started.fromMs,
    startedToMs: started.toMs,
    updatedFromMs: updated.fromMs,
    updatedToMs: updated.toMs,
    errorsFrom: Number(errors.from),
    errorsTo: Number(errors.to),
    firstNeedle: needles[0] ?? null,
    secondNeedle: needles[1] ?? null,
  };
}

async function goThrough(asking: SearchAsking, question: SearchQuestion, list: List): Promise<FoundTraces> {
  const { filter, limit, countMax } = question;
  const { nowMs } = asking;
  const fits = createMatcher(filter);
  const holds = createTextMatcher(filter.text);
  const documents = createDocuments(asking, { projectNumber: question.projectNumber, needs: needsOf(filter) });
  const startedAtMs = nowMs();
  const countMaxMs = filter.text === '' ? COUNT_MAX_MS : COUNT_WITH_TEXT_MAX_MS;
  const traces: SearchPlace[] = [];
  let [count, after, next]: [number, SearchPlace | null, SearchPlace | null] = [0, question.after, null];

  const end = (isExact: boolean): FoundTraces => ({
    traces,
    next,
    total: totalOf(count, isExact, countMax),
  });

  for (;;) {
    const rows = await list(after, LISTED_AT_ONCE);
    for (const part of documents.cut(rows)) {
      for (const { row, document } of await documents.read(part)) {
        if (!fits(document) || (filter.text !== '' && !(await documents.forEachText(row, document, holds)))) continue;
        count += 1;
        if (traces.length < limit) traces.push(placeOf(row));
        else next ??= traces.at(-1) ?? null;
      }
      after = placeOf(part.at(-1) as Candidate & SearchPlace);
      const passedMs = nowMs() - startedAtMs;
      if (next === null && passedMs > FIND_MAX_MS) {
        next = after;
        return end(false);
      }
      if (next !== null && (countMax === null || count > countMax || passedMs > countMaxMs)) return end(false);
      await nextTurn();
    }
    if (rows.length < LISTED_AT_ONCE) return end(true);
  }
}
