/** Entries that are made of traces: what a search finds, as many as have room. */

import type { SearchCall, SearchRequest, TraceSearches } from '../trace-search.ts';
import type { SearchTotal } from '../trace-search-store.ts';
import type { TraceView } from '../traces.ts';
import { judgeEntries } from './entries.ts';

/** A search without pages. */
export type TracesFound = Pick<
  SearchRequest,
  'startMs' | 'endMs' | 'query' | 'filtersJson' | 'negateFilters' | 'traceIds' | 'isByUpdate'
>;

/** How much room there is. */
export type Room = { readonly entriesMax: number; readonly bytesMax: number };

export type TraceEntries = {
  /** The compact JSON text of each; the trace that began last comes first. */
  readonly entries: readonly string[];
  readonly found: SearchTotal;
};

const PAGE_SIZE = 100;

/** Throws validation_error. Of the traces no more than a page is held, and counted, at a time. */
export async function readTraceEntries(
  searches: Pick<TraceSearches, 'search'>,
  { search, room, call }: { readonly search: TracesFound; readonly room: Room; readonly call: SearchCall },
): Promise<TraceEntries> {
  let largestPageBytes = 0;
  const entries: string[] = [];
  // Where there is no room, one is looked at to learn how many there are; who stores entries leaves it out.
  let leftTraces = Math.max(room.entriesMax, 1);
  let found: SearchTotal = { count: 0, isExact: true };
  let leftBytes = Math.max(room.bytesMax, 1);
  let cursor: string | null = '';
  while (cursor !== null && leftTraces > 0 && leftBytes > 0) {
    const pageSize = Math.min(PAGE_SIZE, leftTraces);
    let pageBytes = 0;
    const countAnswer = (bytes: number) => {
      pageBytes += bytes;
      if (pageBytes <= largestPageBytes) return;
      call.countAnswer(pageBytes - largestPageBytes);
      largestPageBytes = pageBytes;
    };
    const page = await searches.search(
      { ...search, pageSize, sortBy: null, isAscending: false, includeSpans: false, cursor },
      { ...call, countAnswer },
    );
    found = page.total;
    leftTraces -= page.views.length;
    for (const view of page.views) {
      const entry = await entryOf(view);
      // Beside the text there is the end of its line.
      const bytes = entry === null ? 0 : Buffer.byteLength(entry) + 1;
      if (entry === null || bytes > leftBytes) continue;
      leftBytes -= bytes;
      call.countAnswer(bytes);
      entries.push(entry);
    }
    cursor = page.nextCursor;
  }
  return { entries, found };
}

/**
 * What the application answered then is what later answers are compared with, where nobody said what was expected. Null:
 * a dataset cannot keep it.
 */
async function entryOf({ record, input, output, expectedOutput }: TraceView): Promise<string | null> {
  const texts = { input, expected_output: expectedOutput ?? output };
  const beginning = JSON.stringify(texts).slice(0, -1);
  const line = `${beginning},"metadata":${record.metadataJson},"trace_id":${JSON.stringify(record.traceId)}}`;
  const { entries } = await judgeEntries({ entriesJson: `[${line}]`, csv: null, jsonl: null });
  return entries[0] ?? null;
}
