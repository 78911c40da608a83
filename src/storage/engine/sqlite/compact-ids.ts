/**
 * Ids of the usual shapes are kept as bytes: they sit in the row and in an index, and the text form doubles both.
 * Other ids are kept as text; SQLite tells the two apart, so no two ids ever share a form.
 */

import { IDS_AT_ONCE } from '../../questions.ts';

const HEX_ID = /^(?:[0-9a-f]{32}|[0-9a-f]{16})$/;
const HASHED_REQUEST_ID = /^req_[0-9a-f]{30}$/;
const TRACE_ID_DIGITS = 32;

export type StoredId = string | Buffer;

/** The stored form of a trace or span id. */
export function packId(id: string): StoredId {
  return HEX_ID.test(id) ? Buffer.from(id, 'hex') : id;
}

/** The stored form of a request key. */
export function packRequestKey(key: string): StoredId {
  return HASHED_REQUEST_ID.test(key) ? Buffer.from(key.slice(4), 'hex') : key;
}

export function unpackRequestKey(stored: StoredId): string {
  return typeof stored === 'string' ? stored : `req_${stored.toString('hex')}`;
}

/** SQL for the text of the stored key of a request. */
export const REQUEST_KEY_TEXT = `iif(typeof(requests.request_key) = 'blob',
  'req_' || lower(hex(requests.request_key)), requests.request_key)`;

/** SQL for the text of a stored trace or span id. */
export function idTextSql(column: string): string {
  return `iif(typeof(${column}) = 'blob', lower(hex(${column})), ${column})`;
}

/** The bounds of the stored ids in byte form that start with a prefix; null when none can. */
export function packPrefixRange(prefix: string): { readonly first: Buffer; readonly last: Buffer } | null {
  if (!/^[0-9a-f]{1,32}$/.test(prefix)) return null;
  return {
    // No longer than needed: a shorter id that begins like a longer one comes before it.
    first: Buffer.from(prefix.length % 2 === 0 ? prefix : `${prefix}0`, 'hex'),
    last: Buffer.from(prefix.padEnd(TRACE_ID_DIGITS, 'f'), 'hex'),
  };
}

/** Stored forms of trace or span ids, for statements that have places for IDS_AT_ONCE of them: SQLite takes no lists. */
export function packIds(ids: readonly string[]): readonly StoredId[] {
  return fillPlaces(ids.map(packId));
}

/** The same of what is stored as it is. In the places that are left the last stands again, which finds nothing more. */
export function fillPlaces<Id>(ids: readonly Id[]): readonly Id[] {
  const last = ids.at(-1);
  if (last === undefined || ids.length > IDS_AT_ONCE)
    throw new Error(`a question has room for 1 to ${IDS_AT_ONCE} ids`);
  return [...ids, ...Array.from({ length: IDS_AT_ONCE - ids.length }, () => last)];
}
