/** The search parameters of the trace page. */

import { SpanType } from '../../../gen/spandrel/v1/traces_pb.js';
import { oneOf, type RawSearch, readerOf, text } from '../layout/search.ts';
import { readTraceListSearch } from '../traces/search.ts';
import { spanTypeName } from './trace-enums.ts';

const readTree = readerOf({
  /** The id of the chosen span. */
  span: text,
  view: oneOf('tree', 'flame'),
  /** The text that spans must contain. */
  find: text,
  /** Types of spans, separated by commas. */
  types: text,
  /** The place in the search that one came from, from 1 on; it may have changed since. */
  at: place,
});

/** Beside its own parameters the page keeps those of the search that one came from. */
export function readTraceSearch(raw: RawSearch) {
  return { ...readTraceListSearch(raw), ...readTree(raw) };
}

export type TraceSearch = ReturnType<typeof readTraceSearch>;

function place(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : undefined;
}

/** Null for all types. */
export function readTypes(listed: string | undefined): ReadonlySet<SpanType> | null {
  if (listed === undefined) return null;
  const names = listed.split(',');
  const types = Object.values(SpanType).filter(
    (type) => typeof type === 'number' && names.includes(spanTypeName(type)),
  );
  return types.length === 0 ? null : new Set(types as SpanType[]);
}

export function writeTypes(types: ReadonlySet<SpanType> | null): string | undefined {
  return types === null ? undefined : [...types].map(spanTypeName).join();
}
