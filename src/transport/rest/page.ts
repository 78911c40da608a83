/** What is served outside the contract: pages, each whole and the same for everybody. */

import { type Answer, splitBytes } from './exchange.ts';

export type Page = {
  readonly status: number;
  readonly mediaType: string;
  readonly body: string | Buffer;
  /** The body packed with gzip, where it is kept so. */
  readonly packed?: Buffer;
  /** The body packed with brotli, where it is kept so. */
  readonly brotli?: Buffer;
  /** With an etag, whoever has the body already is not sent it again. */
  readonly headers?: Readonly<Record<string, string>>;
};

export type Pages = {
  /** How the process is doing and what it serves, by path. */
  readonly states: ReadonlyMap<string, () => Promise<Page>>;
  /** Pages that many paths lead to; null for any other path. */
  find(path: string): FoundPage | null;
};

/** `route` is the template of the path. */
export type FoundPage = { readonly route: string; readonly load: () => Promise<Page> };

const RETRY_AFTER_SECONDS = '1';

/** `known` is what the reader says of the body it has. */
export function answerPage(
  { status, mediaType, body, packed, brotli, headers = {} }: Page,
  known: string | undefined,
): Answer {
  if (headers.etag !== undefined && known === headers.etag) return { status: 304, headers, body: [], mediaType };
  const retry = status === 503 ? { 'retry-after': RETRY_AFTER_SECONDS } : {};
  return { status, headers: { ...headers, ...retry }, body: splitBytes(body), packed, brotli, mediaType };
}
