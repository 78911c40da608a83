/** Reads the traces that a search found, as many as fit an answer. */

import { type Row, readRow } from '../trace-row.ts';
import type { TraceRows } from '../trace-rows.ts';
import { RESPONSE_MAX_BYTES } from '../trace-size.ts';
import type { Traces, TraceView } from '../traces.ts';
import type { SearchCall } from './search-call.ts';
import type { SearchPosition } from './trace-search-store.ts';

type ShowDeps = { readonly traces: Pick<Traces, 'get'>; readonly rows: TraceRows };

export type FittingTraces = {
  readonly views: readonly TraceView[];
  /** The position of the last of them when others did not fit. */
  readonly last: SearchPosition | null;
};

/** Rows read together. */
const ROWS_AT_ONCE = 100;
/** Traces read one by one at once: more would only wait for each other. */
const READ_AT_ONCE = 8;
const NO_ROWS: ReadonlyMap<string, Row> = new Map();

export function createShowTraces({ traces, rows }: ShowDeps) {
  /** Reads rows in the order of their positions; null: erased since the search. */
  async function* readEach(positions: readonly SearchPosition[], spansLimit: number, { project, nowMs }: SearchCall) {
    const readOne = (traceId: string) => readRow(traces, { project, traceId, spansLimit, nowMs });
    for (let first = 0; first < positions.length; first += ROWS_AT_ONCE) {
      const page = positions.slice(first, first + ROWS_AT_ONCE);
      const ids = page.map(({ traceId }) => traceId);
      const known = spansLimit === 0 ? await rows.read(ids, { project, nowMs }) : NO_ROWS;
      for (let start = 0; start < page.length; start += READ_AT_ONCE) {
        const some = page.slice(start, start + READ_AT_ONCE);
        yield* await Promise.all(
          some.map(async (position) => {
            const { traceId } = position;
            return { position, row: known.get(traceId) ?? (await readOne(traceId)) };
          }),
        );
      }
    }
  }

  return async (positions: readonly SearchPosition[], spansLimit: number, call: SearchCall): Promise<FittingTraces> => {
    const views: TraceView[] = [];
    let { maxBytes: leftBytes = RESPONSE_MAX_BYTES } = call;
    let last: SearchPosition | null = null;
    for await (const { position, row } of readEach(positions, spansLimit, call)) {
      if (row !== null) {
        leftBytes -= row.bytes;
        if (leftBytes < 0 && views.length > 0) return { views, last };
        call.countResponseBytes(row.bytes);
        views.push(row.view);
      }
      last = position;
    }
    return { views, last: null };
  };
}
