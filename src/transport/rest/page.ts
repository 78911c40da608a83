/** Pages served outside the contract. They are the same for every client. */

import { type PreparedResponse, splitIntoChunks } from './exchange.ts';

export type Page = {
  readonly status: number;
  readonly mediaType: string;
  readonly body: string | Buffer;
  /** The body compressed with gzip, where it is kept so. */
  readonly packed?: Buffer;
  /** The body compressed with brotli, where it is kept so. */
  readonly brotli?: Buffer;
  /** With an etag, a client that has the body already gets 304. */
  readonly headers?: Readonly<Record<string, string>>;
};

export type Pages = {
  /** The page at a path: health, metrics, documentation, the console or a record; null for any other path. */
  find(path: string): FoundPage | null;
};

/** `route` is the template of the path. */
export type FoundPage = { readonly route: string; readonly load: () => Promise<Page> };

const RETRY_AFTER_SECONDS = '1';

/** `known` is the If-None-Match header. */
export function pageResponse(
  { status, mediaType, body, packed, brotli, headers = {} }: Page,
  known: string | undefined,
): PreparedResponse {
  if (headers.etag !== undefined && known === headers.etag) return { status: 304, headers, body: [], mediaType };
  const retry = status === 503 ? { 'retry-after': RETRY_AFTER_SECONDS } : {};
  return { status, headers: { ...headers, ...retry }, body: splitIntoChunks(body), packed, brotli, mediaType };
}
