/** Lists in pages: by number, or by a cursor that says where the page before ended. */

import type { CursorCodec } from './cursor.ts';
import { Fault } from './fault.ts';

/** Null: the default. */
export type PageWish = { readonly page: number | null; readonly limit: number | null };

export type Page<T> = {
  readonly items: readonly T[];
  readonly page: number;
  readonly limit: number;
  readonly total: number;
};

const LIMIT_DEFAULT = 50;

/** One page of a list that was read whole. */
export function takePage<T>(all: readonly T[], wish: PageWish): Page<T> {
  const page = wish.page ?? 1;
  const limit = wish.limit ?? LIMIT_DEFAULT;
  return { items: all.slice((page - 1) * limit, page * limit), page, limit, total: all.length };
}

export type CursorWish = {
  /** Empty: the first page. */
  readonly cursor: string;
  readonly limit: number | null;
};

/** `nextCursor` is null when nothing remains. */
export type CursorPage<T> = { readonly items: readonly T[]; readonly nextCursor: string | null };

/** Where in a list a record stands. */
export type ListPlace = { readonly createdAtMs: number; readonly id: string };

/** What cursors of one list under the same filters belong to. */
export type CursorBook = { readonly cursors: CursorCodec; readonly binding: readonly string[] };

/** A filter as a binding has it, so that no value of it reads like its absence. */
export function bindFilter(value: string | number | null): string {
  return value === null ? '' : `=${value}`;
}

/** Throws invalid_cursor for any cursor that is not of this very list. Null: the list from its beginning. */
export function openCursor({ cursors, binding }: CursorBook, cursor: string): ListPlace | null {
  if (cursor === '') return null;
  const [createdAtMs, id] = cursors.open(binding, cursor) ?? [];
  if (typeof createdAtMs !== 'number' || typeof id !== 'string') throw invalidCursor();
  return { createdAtMs, id };
}

export function invalidCursor(): Fault {
  return new Fault('invalid_cursor', 'The cursor is not valid for this list.');
}

export function limitOf({ limit }: CursorWish): number {
  return limit ?? LIMIT_DEFAULT;
}

/** A page of what was read from where it begins; one more than asked tells whether anything remains. */
export function cutPage<T>(
  found: readonly T[],
  limit: number,
  { cursors, binding, placeOf }: CursorBook & { readonly placeOf: (item: T) => ListPlace },
): CursorPage<T> {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  if (found.length <= limit || last === undefined) return { items, nextCursor: null };
  const { createdAtMs, id } = placeOf(last);
  return { items, nextCursor: cursors.seal(binding, [createdAtMs, id]) };
}

/** A page of a list that was read whole, oldest first. */
export function takePageAfter<T>(
  all: readonly T[],
  wish: CursorWish,
  book: CursorBook & { readonly placeOf: (item: T) => ListPlace },
): CursorPage<T> {
  const after = openCursor(book, wish.cursor);
  const { placeOf } = book;
  const remaining = all
    .filter((item) => after === null || compareAges(placeOf(item), after) > 0)
    .toSorted((one, other) => compareAges(placeOf(one), placeOf(other)));
  return cutPage(remaining, limitOf(wish), book);
}

function compareAges(one: ListPlace, other: ListPlace): number {
  if (one.createdAtMs !== other.createdAtMs) return one.createdAtMs - other.createdAtMs;
  if (one.id === other.id) return 0;
  return one.id < other.id ? -1 : 1;
}
