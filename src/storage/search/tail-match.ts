/** Matches changed traces against the filters of all live tails; each trace is read once. */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { createCooperativeRunner, type RunCooperatively } from '../../domain/steps.ts';
import { type Needs, needsOf, type SearchFilter } from '../../domain/traces/search/trace-filter.ts';
import type { MatchedTrace, TraceSearch } from '../../domain/traces/search/trace-search-store.ts';
import { createFilterIndex } from '../../domain/traces/tail/filter-index.ts';
import { createTextSet, type TextSet } from '../../domain/traces/tail/text-set.ts';
import type { RowOf } from '../statements/statement.ts';
import { queryInBatches } from '../transaction.ts';
import { createDocuments, type Documents, type Read } from './documents.ts';
import type { SearchQueries, SearchRunner } from './search-runner.ts';

type Found = RowOf<SearchQueries['findByIds']>;

const MATCH_MAX_MS = 1_000;
/** Before it yields to the event loop. */
const BUSY_MAX_MS = 10;

export function createMatch(runner: SearchRunner): TraceSearch['match'] {
  const { queries, runQuery, idsPerQuery, nowMs } = runner;
  const runCooperatively = createCooperativeRunner({ yieldToEventLoop: () => yieldToEventLoop(), nowMs });
  const compile = createCompiled();
  return async ({ projectNumber, expiredBeforeMs, traceIds, filters }) => {
    const endsAtMs = nowMs() + MATCH_MAX_MS;
    const find = (ids: readonly string[]) => runQuery(queries.findByIds, { projectNumber, ids });
    const found = await queryInBatches(traceIds, idsPerQuery, find);
    const indexes = new Map(traceIds.map((traceId, index) => [traceId, index]));
    const indexOf = ({ traceId }: Found) => indexes.get(traceId) ?? 0;
    const rows = found
      .filter(({ insertedAtMs }) => expiredBeforeMs === null || insertedAtMs >= expiredBeforeMs)
      .toSorted((one, other) => indexOf(one) - indexOf(other));
    const { needs, fitAll, texts } = compile(filters);
    const documents = createDocuments(runner, { projectNumber, needs });
    const traces: MatchedTrace[] = [];
    let busyUntilMs = nowMs() + BUSY_MAX_MS;
    for (const part of documents.cut(rows)) {
      for (const read of await documents.read(part)) {
        const matching = fitAll(read.document);
        const missing = await missingTexts({ documents, texts, runCooperatively }, read, textsOf(matching, filters));
        const fits = matching.filter((index) => !missing.has(filters[index]?.text ?? ''));
        const { traceId, updatedAtMs } = read.row;
        if (fits.length > 0) traces.push({ traceId, updatedAtMs, fits });
        if (nowMs() > endsAtMs) return { traces, left: traceIds.slice(indexOf(read.row) + 1) };
        if (nowMs() < busyUntilMs) continue;
        await yieldToEventLoop();
        busyUntilMs = nowMs() + BUSY_MAX_MS;
      }
    }
    return { traces, left: [] };
  };
}

type Compiled = ReturnType<typeof compileAll>;

/** By the list of filters: triggers use the same one again and again. */
function createCompiled(): (filters: readonly SearchFilter[]) => Compiled {
  const known = new WeakMap<readonly SearchFilter[], Compiled>();
  return (filters) => {
    const compiled = known.get(filters) ?? compileAll(filters);
    known.set(filters, compiled);
    return compiled;
  };
}

function compileAll(filters: readonly SearchFilter[]) {
  return {
    needs: needsOfAll(filters),
    fitAll: createFilterIndex(filters),
    texts: createTextSet(new Set(filters.map(({ text }) => text))),
  };
}

function needsOfAll(filters: readonly SearchFilter[]): Needs {
  const each = filters.map(needsOf);
  return {
    metadata: each.some(({ metadata }) => metadata),
    spans: each.some(({ spans }) => spans),
    evaluations: each.some(({ evaluations }) => evaluations),
    feedback: each.some(({ feedback }) => feedback),
    annotations: each.some(({ annotations }) => annotations),
    texts: each.some(({ texts }) => texts),
  };
}

function textsOf(indexes: readonly number[], filters: readonly SearchFilter[]): Set<string> {
  const texts = new Set(indexes.map((index) => filters[index]?.text ?? ''));
  texts.delete('');
  return texts;
}

type Looking = { readonly documents: Documents; readonly texts: TextSet; readonly runCooperatively: RunCooperatively };

/** Removes from `missing` the texts that the trace contains; reads its texts once, however many are searched. */
async function missingTexts(
  { documents, texts, runCooperatively }: Looking,
  { row, document }: Read<Found>,
  missing: Set<string>,
): Promise<ReadonlySet<string>> {
  if (missing.size === 0) return missing;
  await documents.forEachText(row, document, async (text) => {
    await runCooperatively(texts.find(text, missing));
    return missing.size === 0;
  });
  return missing;
}
