/** Reads traces as the index has them. */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { readDimensions } from '../../domain/analytics/dimensions.ts';
import { durationsOf } from '../../domain/analytics/entries.ts';
import { spansByModel } from '../../domain/analytics/sums.ts';
import type { LinkedPrompts } from '../../domain/traces/prompt-links.ts';
import { facetsOf } from '../../domain/traces/search/facets.ts';
import type { Needs } from '../../domain/traces/search/trace-filter.ts';
import type { RowOf } from '../statements/statement.ts';
import { createDocuments, type Read } from './documents.ts';
import { dimensionNumber, facetNumber, modelNumber } from './index-plan.ts';
import type { SearchQueries, SearchRunner } from './search-runner.ts';
import type { IndexedSums, IndexedTrace, TextCollector } from './trace-index.ts';

type Found = RowOf<SearchQueries['findBySequences']>;

const ALL_NEEDS: Needs = {
  metadata: true,
  spans: true,
  evaluations: true,
  feedback: true,
  annotations: true,
  texts: true,
};
const TRACES_AT_ONCE = 128;
/** Before it yields to the event loop. */
const BUSY_MAX_MS = 5;

/** In the order of `sequences`, which ascend; traces that were removed meanwhile are left out. */
export async function* readIndexedTraces<Text>(
  runner: SearchRunner,
  projectNumber: number,
  { sequences, newText }: { readonly sequences: readonly number[]; readonly newText: () => TextCollector<Text> },
): AsyncGenerator<IndexedTrace<Text>> {
  const { queries, runQuery, nowMs } = runner;
  const documents = createDocuments(runner, { projectNumber, needs: ALL_NEEDS });
  let turnAtMs = nowMs() + BUSY_MAX_MS;
  for (let start = 0; start < sequences.length; start += TRACES_AT_ONCE) {
    const some = sequences.slice(start, start + TRACES_AT_ONCE);
    const rows = await runQuery(queries.findBySequences, { projectNumber, sequences: some });
    for (const part of documents.cut(rows.toSorted((one, other) => one.sequence - other.sequence))) {
      for (const { row, document } of await documents.read(part)) {
        const text = newText();
        await documents.forEachText(row, document, (each) => {
          text.add(each);
          return false;
        });
        yield { ...factsOf(projectNumber, { row, document }), text: text.end() };
        if (nowMs() < turnAtMs) continue;
        await yieldToEventLoop();
        turnAtMs = nowMs() + BUSY_MAX_MS;
      }
    }
  }
}

function factsOf(projectNumber: number, { row, document }: Read<Found>): Omit<IndexedTrace<never>, 'text'> {
  const { promptTokens, completionTokens } = row;
  const totalTokens =
    promptTokens === null && completionTokens === null ? null : (promptTokens ?? 0) + (completionTokens ?? 0);
  const { sequence, traceId, startMs, updatedAtMs, insertedAtMs, totalTimeMs, totalCostNanoUsd, firstTokenMs } = row;
  return {
    ...{ projectNumber, sequence, traceId, startMs, updatedAtMs, insertedAtMs },
    ...{ totalTimeMs, totalCostNanoUsd, totalTokens, firstTokenMs },
    facets: [...facetsOf(document)].map((facet) => facetNumber(projectNumber, facet)),
    sums: sumsOf(projectNumber, { row, document }),
  };
}

function sumsOf(projectNumber: number, { row, document: { metadataJson, spans } }: Read<Found>): IndexedSums {
  const { spanCount, hasError, promptTokens, completionTokens } = row;
  const { userId, customerId, threadId, labels, prompts: linked } = readDimensions(metadataJson);
  const numberOf = (value: string) => dimensionNumber(projectNumber, value);
  return {
    ...{ spanCount, hasError, promptTokens, completionTokens },
    user: userId === null ? null : numberOf(userId),
    customer: customerId === null ? null : numberOf(customerId),
    thread: threadId === null ? null : numberOf(threadId),
    labels: labels.map(numberOf),
    prompts: linked.names.length === 0 ? null : mapLists(linked, numberOf),
    models: [...spansByModel(spans.map(withDuration))].map(([model, of]) => ({
      model: modelNumber(projectNumber, model),
      ...durationsOf(of),
    })),
  };
}

function withDuration({ model, startedAtMs, finishedAtMs, firstTokenMs }: Read<Found>['document']['spans'][number]) {
  return { model, durationMs: finishedAtMs - startedAtMs, firstTokenMs };
}

function mapLists({ names, prompts, versions }: LinkedPrompts, numberOf: (value: string) => number) {
  return { names: names.map(numberOf), prompts: prompts.map(numberOf), versions: versions.map(numberOf) };
}
