/** Which spans a trace has no room for. */

import type { Span, TraceAppend, TraceRecord } from '../../domain/trace.ts';
import type { AppendTables } from './tables.ts';

type Given = {
  readonly append: TraceAppend;
  /** Each id once. */
  readonly spans: readonly Span[];
  /** The stored trace, if there is one. */
  readonly record: TraceRecord | undefined;
};

const NONE: ReadonlySet<string> = new Set();

/** Their ids. Spans that take the place of stored ones need no room; of the others the first ones get it. */
export function findExcess(tables: AppendTables, { append, spans, record }: Given): ReadonlySet<string> {
  let room = append.spansMax - (record?.spanCount ?? 0);
  if (spans.length <= room) return NONE;
  const excess = new Set<string>();
  for (const { spanId } of spans) {
    if (record !== undefined && tables.hasSpan({ ...record, projectNumber: append.projectNumber }, spanId)) continue;
    if (room > 0) room -= 1;
    else excess.add(spanId);
  }
  return excess;
}
