/** Tells which traces fit which filters, for whoever follows what changes: they are read once for all filters. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { createTextMatcher, type Needs, needsOf, type SearchFilter } from '../../domain/trace-filter.ts';
import type { MatchedTrace, TraceSearch } from '../../domain/trace-search-store.ts';
import { createFilterIndex } from '../../domain/trace-tail/filter-index.ts';
import { askInTurns, type RowOf } from '../questions.ts';
import { createDocuments, type Documents, type Read } from './documents.ts';
import type { SearchAsking, SearchQuestions } from './trace-search.ts';

type Found = RowOf<SearchQuestions['findByIds']>;

export function createMatch(asking: SearchAsking): TraceSearch['match'] {
  const { questions, ask, idsAtOnce } = asking;
  return async ({ projectNumber, goneBeforeMs, traceIds, filters }) => {
    const find = (ids: readonly string[]) => ask(questions.findByIds, { projectNumber, ids });
    const found = await askInTurns(traceIds, idsAtOnce, find);
    const places = new Map(traceIds.map((traceId, place) => [traceId, place]));
    const placeOf = ({ traceId }: Found) => places.get(traceId) ?? 0;
    const rows = found
      .filter(({ insertedAtMs }) => goneBeforeMs === null || insertedAtMs >= goneBeforeMs)
      .toSorted((one, other) => placeOf(one) - placeOf(other));
    const documents = createDocuments(asking, { projectNumber, needs: needsOfAll(filters) });
    const fitAll = createFilterIndex(filters);
    const matched: MatchedTrace[] = [];
    for (const part of documents.cut(rows)) {
      for (const read of await documents.read(part)) {
        const holds = createTextLookup(documents, read);
        const fits: number[] = [];
        for (const place of fitAll(read.document)) if (await holds(filters[place]?.text ?? '')) fits.push(place);
        const { traceId, updatedAtMs } = read.row;
        if (fits.length > 0) matched.push({ traceId, updatedAtMs, fits });
      }
      await nextTurn();
    }
    return matched;
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

/** Each text is looked for once, however many ask for it. */
function createTextLookup(documents: Documents, { row, document }: Read<Found>): (text: string) => Promise<boolean> {
  const known = new Map<string, Promise<boolean>>([['', Promise.resolve(true)]]);
  return (text) => {
    const found = known.get(text) ?? documents.forEachText(row, document, createTextMatcher(text));
    known.set(text, found);
    return found;
  };
}
