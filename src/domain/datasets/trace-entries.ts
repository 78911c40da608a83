/** Makes entries of the traces that a search finds, as many as fit. */

import type { SearchCall, SearchConditions, TraceSearches } from '../traces/search/trace-search.ts';
import type { SearchTotal } from '../traces/search/trace-search-store.ts';
import type { TraceView } from '../traces/traces.ts';
import { type Pauses, validateEntries } from './entries.ts';

/** What a dataset can still hold. */
export type Capacity = { readonly entriesMax: number; readonly bytesMax: number };

type TraceEntries = {
  /** The compact JSON text of each; the trace that started last comes first. */
  readonly entries: readonly string[];
  readonly found: SearchTotal;
};

const PAGE_SIZE = 100;

/** Throws validation_error. Holds one page of traces at a time, and counts only the largest page as memory. */
export async function readTraceEntries(
  { searches, ...pauses }: Pauses & { readonly searches: Pick<TraceSearches, 'search'> },
  {
    search,
    capacity,
    call,
  }: { readonly search: SearchConditions; readonly capacity: Capacity; readonly call: SearchCall },
): Promise<TraceEntries> {
  let largestPageBytes = 0;
  const entries: string[] = [];
  // A full dataset still reads one trace, because the search also counts; the caller drops its entry.
  let leftTraces = Math.max(capacity.entriesMax, 1);
  let found: SearchTotal = { count: 0, isExact: true };
  let leftBytes = Math.max(capacity.bytesMax, 1);
  let cursor: string | null = '';
  while (cursor !== null && leftTraces > 0 && leftBytes > 0) {
    const pageSize = Math.min(PAGE_SIZE, leftTraces);
    let pageBytes = 0;
    const countResponseBytes = (bytes: number) => {
      pageBytes += bytes;
      if (pageBytes <= largestPageBytes) return;
      call.countResponseBytes(pageBytes - largestPageBytes);
      largestPageBytes = pageBytes;
    };
    const page = await searches.search(
      { ...search, pageSize, sortBy: null, isAscending: false, includeSpans: false, cursor },
      { ...call, countResponseBytes },
    );
    found = page.total;
    leftTraces -= page.views.length;
    for (const view of page.views) {
      const entry = await entryOf(view, pauses);
      // One byte more for the line break.
      const bytes = entry === null ? 0 : Buffer.byteLength(entry) + 1;
      if (entry === null || bytes > leftBytes) continue;
      leftBytes -= bytes;
      call.countResponseBytes(bytes);
      entries.push(entry);
    }
    cursor = page.nextCursor;
  }
  return { entries, found };
}

/**
 * The output of the trace is the expected output where the trace has none. Null when a dataset cannot store the entry.
 */
async function entryOf({ record, input, output, expectedOutput }: TraceView, pauses: Pauses): Promise<string | null> {
  const texts = { input, expected_output: expectedOutput ?? output };
  const beginning = JSON.stringify(texts).slice(0, -1);
  const line = `${beginning},"metadata":${record.metadataJson},"trace_id":${JSON.stringify(record.traceId)}}`;
  const { entries } = await validateEntries({ entriesJson: `[${line}]`, csv: null, jsonl: null }, pauses);
  return entries[0] ?? null;
}
