/**
 * Stores ids of the usual shapes as bytes: an id stands in its row and in an index, and its text takes twice the room.
 * Other ids stay text; SQLite distinguishes the two, so no two ids share a stored form.
 */

import { IDS_PER_QUERY_MAX } from '../../queries.ts';

const HEX_ID = /^(?:[0-9a-f]{32}|[0-9a-f]{16})$/;
const HASHED_REQUEST_ID = /^req_[0-9a-f]{30}$/;
const TRACE_ID_DIGITS = 32;

type StoredId = string | Buffer;

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
    // As short as possible: a shorter id sorts before a longer one with the same beginning.
    first: Buffer.from(prefix.length % 2 === 0 ? prefix : `${prefix}0`, 'hex'),
    last: Buffer.from(prefix.padEnd(TRACE_ID_DIGITS, 'f'), 'hex'),
  };
}

/**
 * The stored forms of trace or span ids as parameters of a query with IDS_PER_QUERY_MAX placeholders: SQLite takes no
 * lists.
 */
export function packIds(ids: readonly string[]): readonly StoredId[] {
  return fillParameters(ids.map(packId));
}

/** Fills all placeholders: the last id is repeated, which finds nothing more. */
export function fillParameters<Id>(ids: readonly Id[]): readonly Id[] {
  const last = ids.at(-1);
  if (last === undefined || ids.length > IDS_PER_QUERY_MAX)
    throw new Error(`a query has room for 1 to ${IDS_PER_QUERY_MAX} ids`);
  return [...ids, ...Array.from({ length: IDS_PER_QUERY_MAX - ids.length }, () => last)];
}
