/** Tells which traces fit which filters, for whoever follows what changes: they are read once for all filters. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { createStepTaker, type TakeSteps } from '../../domain/steps.ts';
import { type Needs, needsOf, type SearchFilter } from '../../domain/trace-filter.ts';
import type { MatchedTrace, TraceSearch } from '../../domain/trace-search-store.ts';
import { createFilterIndex } from '../../domain/trace-tail/filter-index.ts';
import { createTextSet, type TextSet } from '../../domain/trace-tail/text-set.ts';
import { askInTurns, type RowOf } from '../questions.ts';
import { createDocuments, type Documents, type Read } from './documents.ts';
import type { SearchAsking, SearchQuestions } from './trace-search.ts';

type Found = RowOf<SearchQuestions['findByIds']>;

const MATCH_MAX_MS = 1_000;
/** Without a turn of the event loop. */
const BUSY_MAX_MS = 10;

export function createMatch(asking: SearchAsking): TraceSearch['match'] {
  const { questions, ask, idsAtOnce, nowMs } = asking;
  const takeSteps = createStepTaker({ nextTurn: () => nextTurn(), nowMs });
  return async ({ projectNumber, goneBeforeMs, traceIds, filters }) => {
    const endsAtMs = nowMs() + MATCH_MAX_MS;
    const find = (ids: readonly string[]) => ask(questions.findByIds, { projectNumber, ids });
    const found = await askInTurns(traceIds, idsAtOnce, find);
    const places = new Map(traceIds.map((traceId, place) => [traceId, place]));
    const placeOf = ({ traceId }: Found) => places.get(traceId) ?? 0;
    const rows = found
      .filter(({ insertedAtMs }) => goneBeforeMs === null || insertedAtMs >= goneBeforeMs)
      .toSorted((one, other) => placeOf(one) - placeOf(other));
    const documents = createDocuments(asking, { projectNumber, needs: needsOfAll(filters) });
    const fitAll = createFilterIndex(filters);
    const texts = createTextSet(new Set(filters.map(({ text }) => text)));
    const traces: MatchedTrace[] = [];
    let busyUntilMs = nowMs() + BUSY_MAX_MS;
    for (const part of documents.cut(rows)) {
      for (const read of await documents.read(part)) {
        const asked = fitAll(read.document);
        const missing = await missingTexts({ documents, texts, takeSteps }, read, textsOf(asked, filters));
        const fits = asked.filter((place) => !missing.has(filters[place]?.text ?? ''));
        const { traceId, updatedAtMs } = read.row;
        if (fits.length > 0) traces.push({ traceId, updatedAtMs, fits });
        if (nowMs() > endsAtMs) return { traces, left: traceIds.slice(placeOf(read.row) + 1) };
        if (nowMs() < busyUntilMs) continue;
        await nextTurn();
        busyUntilMs = nowMs() + BUSY_MAX_MS;
      }
    }
    return { traces, left: [] };
  };
}

function needsOfAll(filters: readonly SearchFilter[]): Needs {
  const each = filters.map(needsOf);
  return {
    metadata: each.some(({ metadata }) => metadata),
    spans: each.some(({ spans }) => spans),
    evaluations: each.some(({ evaluations }) => evaluations),
    texts: each.some(({ texts }) => texts),
  };
}

function textsOf(places: readonly number[], filters: readonly SearchFilter[]): Set<string> {
  const texts = new Set(places.map((place) => filters[place]?.text ?? ''));
  texts.delete('');
  return texts;
}

type Looking = { readonly documents: Documents; readonly texts: TextSet; readonly takeSteps: TakeSteps };

/** Which of the texts the trace does not hold. Its own are gone through once, however many are looked for. */
async function missingTexts(
  { documents, texts, takeSteps }: Looking,
  { row, document }: Read<Found>,
  missing: Set<string>,
): Promise<ReadonlySet<string>> {
  if (missing.size === 0) return missing;
  await documents.forEachText(row, document, async (text) => {
    await takeSteps(texts.find(text, missing));
    return missing.size === 0;
  });
  return missing;
}
