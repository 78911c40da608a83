/** What the tools of the Model Context Protocol are made of: their requests, the values in these, and their cursors. */

import { Fault, type JsonValue } from '../../domain/fault.ts';
import type { JsonObject } from '../rest/json-object.ts';

/** A request of REST. */
export type ToolRequest = {
  readonly verb: 'GET' | 'POST';
  readonly path: string;
  readonly query?: JsonObject;
  readonly body?: JsonObject;
};

/** Without what the caller left out. */
export function sent(members: { readonly [name: string]: JsonValue | undefined }): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as JsonObject;
}

export function traceRequest(
  traceId: JsonValue | undefined,
  query: { readonly [name: string]: JsonValue | undefined },
): ToolRequest {
  return { verb: 'GET', path: `/api/traces/${segment(traceId)}`, query: sent(query) };
}

export function segment(value: JsonValue | undefined): string {
  const id = idOf(value);
  return id === '.' || id === '..' ? idOf('') : encodeURIComponent(id);
}

export function idOf(value: JsonValue | undefined): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new Fault('validation_error', 'An id must be a text that is not empty.');
}

export function rangeOf(from: JsonValue | undefined, to: JsonValue | undefined) {
  return { from: millisecondsOf(from), to: millisecondsOf(to) };
}

/** Leaves what is not a date to the route, which says what is wrong with it. */
export function millisecondsOf(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value !== 'string' || /^\d+$/.test(value)) return value;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? value : atMs;
}

export function offsetOf(cursor: JsonValue | undefined): number {
  if (cursor === undefined || cursor === null) return 0;
  const offset = typeof cursor === 'string' && /^\d{1,9}$/.test(cursor) ? Number(cursor) : null;
  if (offset === null) throw new Fault('validation_error', 'The cursor must be the next_cursor of an answer.');
  return offset;
}

export function objectOf(value: JsonValue): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}
