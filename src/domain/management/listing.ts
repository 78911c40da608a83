/** Pages of lists, by number or by a cursor for the position where the last page ended. */

import type { CursorCodec } from '../cursor.ts';
import { Fault } from '../fault.ts';

/** Null: the default. */
export type PageRequest = { readonly page: number | null; readonly limit: number | null };

export type Page<T> = {
  readonly items: readonly T[];
  readonly page: number;
  readonly limit: number;
  readonly total: number;
};

const LIMIT_DEFAULT = 50;

/** One page of a list that was read whole. */
export function slicePage<T>(all: readonly T[], request: PageRequest): Page<T> {
  const page = request.page ?? 1;
  const limit = request.limit ?? LIMIT_DEFAULT;
  return { items: all.slice((page - 1) * limit, page * limit), page, limit, total: all.length };
}

export type CursorPageRequest = {
  /** Empty: the first page. */
  readonly cursor: string;
  readonly limit: number | null;
};

/** `nextCursor` is null when nothing remains. */
export type CursorPage<T> = { readonly items: readonly T[]; readonly nextCursor: string | null };

/** The position of a record in a list. */
export type PagePosition = { readonly createdAtMs: number; readonly id: string };

/** The records after a position; null: from the beginning. */
export type PageRange = { readonly after: PagePosition | null; readonly limit: number };

/** The codec and binding of the cursors of one list under the same filters. */
type CursorScope = { readonly cursors: CursorCodec; readonly binding: readonly string[] };

type Listing<T> = CursorScope & { readonly positionOf: (item: T) => PagePosition };

/** A filter value as part of a binding; no value equals the absence of a filter. */
export function bindFilter(value: string | number | null): string {
  return value === null ? '' : `=${value}`;
}

/** Throws invalid_cursor for a cursor of another list. Null: the list from its beginning. */
export function openCursor({ cursors, binding }: CursorScope, cursor: string): PagePosition | null {
  if (cursor === '') return null;
  const [createdAtMs, id] = cursors.open(binding, cursor) ?? [];
  if (typeof createdAtMs !== 'number' || typeof id !== 'string') throw invalidCursor();
  return { createdAtMs, id };
}

export function invalidCursor(): Fault {
  return new Fault('invalid_cursor', 'The cursor is not valid for this list.');
}

export function limitOf({ limit }: CursorPageRequest): number {
  return limit ?? LIMIT_DEFAULT;
}

/** Turns up to `limit` + 1 records into a page; the extra record shows whether more remain. */
export function toCursorPage<T>(
  found: readonly T[],
  limit: number,
  { cursors, binding, positionOf }: Listing<T>,
): CursorPage<T> {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  if (found.length <= limit || last === undefined) return { items, nextCursor: null };
  const { createdAtMs, id } = positionOf(last);
  return { items, nextCursor: cursors.seal(binding, [createdAtMs, id]) };
}

/** A page that `read` finds. One record more than the page holds shows whether more remain. */
export async function readCursorPage<T>(
  listing: Listing<T>,
  request: CursorPageRequest,
  read: (range: PageRange) => Promise<readonly T[]>,
): Promise<CursorPage<T>> {
  const after = openCursor(listing, request.cursor);
  const limit = limitOf(request);
  return toCursorPage(await read({ after, limit: limit + 1 }), limit, listing);
}

/** What a page or a step may hold. */
export type Room = { readonly countMax: number; readonly bytesMax: number };

/** The first items that fit; at least one. */
export function takeFirst<T>(
  items: readonly T[],
  { countMax, bytesMax }: Room,
  bytesOf: (item: T) => number,
): readonly T[] {
  let bytes = 0;
  const end = items.findIndex((item, index) => {
    bytes += bytesOf(item);
    return index > 0 && (index >= countMax || bytes > bytesMax);
  });
  return end === -1 ? items : items.slice(0, end);
}

/** A page of a list that was read whole, oldest first. */
export function slicePageAfter<T>(all: readonly T[], request: CursorPageRequest, listScope: Listing<T>): CursorPage<T> {
  const after = openCursor(listScope, request.cursor);
  const { positionOf } = listScope;
  const remaining = all
    .filter((item) => after === null || compareAges(positionOf(item), after) > 0)
    .toSorted((one, other) => compareAges(positionOf(one), positionOf(other)));
  return toCursorPage(remaining, limitOf(request), listScope);
}

function compareAges(one: PagePosition, other: PagePosition): number {
  if (one.createdAtMs !== other.createdAtMs) return one.createdAtMs - other.createdAtMs;
  if (one.id === other.id) return 0;
  return one.id < other.id ? -1 : 1;
}
