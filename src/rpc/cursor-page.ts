/** Pages of lists with cursors. */

import type { CursorPageRequest } from '../domain/management/listing.ts';

/** The page that a request asks for; an empty cursor means the first page. */
export function cursorRequest({
  pageToken,
  pageSize,
}: {
  readonly pageToken: string;
  readonly pageSize?: number | undefined;
}): CursorPageRequest {
  return { cursor: pageToken, limit: pageSize ?? null };
}
