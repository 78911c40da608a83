/** Pages of lists with cursors. */

import type { CursorPage, CursorPageRequest } from '../domain/management/listing.ts';

/** The fields of a request for a page. */
export type Paged = { readonly pageToken: string; readonly pageSize?: number | undefined };

/** The page that a request asks for; an empty cursor means the first page. */
export function cursorRequest({ pageToken, pageSize }: Paged): CursorPageRequest {
  return { cursor: pageToken, limit: pageSize ?? null };
}

/** The response with a page. */
export function pageMessage<Item, Shown>({ items, nextCursor }: CursorPage<Item>, show: (item: Item) => Shown) {
  return { data: items.map((item) => show(item)), nextPageToken: nextCursor ?? undefined };
}
