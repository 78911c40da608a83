/** Pages served outside the contract. Those that a browser passes while it signs in depend on the request; others do not. */

import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Fault } from '../../domain/fault.ts';
import type { CallIds } from '../../rpc/method.ts';
import { type PreparedResponse, splitIntoChunks } from './exchange.ts';

export type Page = Pick<PreparedResponse, 'status' | 'mediaType' | 'packed' | 'brotli'> & {
  readonly body: string | Buffer;
  /** With an etag, a client that has the body already gets 304. */
  readonly headers?: PreparedResponse['headers'];
  /** Set where the page tells of a refusal. */
  readonly fault?: Fault;
};

/** The request of a page. */
export type PageVisit = {
  readonly query: string;
  readonly header: (name: string) => string | undefined;
  readonly ids: CallIds;
  readonly remoteAddress: string | null;
  readonly network: string | null;
  /** Whether it came over TLS. */
  readonly isSecure: boolean;
};

export type Pages = {
  /** The page at a path: health, metrics, documentation, the console or a record; null for any other path. */
  find(path: string): FoundPage | null;
};

/** `route` is the template of the path. */
export type FoundPage = { readonly route: string; readonly load: LoadPage };
export type LoadPage = (visit: PageVisit) => Promise<Page>;

/** Loads a page with its first request and keeps it, because it never changes. */
export function keepPage(load: () => Promise<Page>): () => Promise<Page> {
  let kept: Promise<Page> | null = null;
  return () => {
    kept ??= load().catch((error: unknown) => {
      kept = null;
      throw error;
    });
    return kept;
  };
}

const pack = promisify(gzip);

/** The page of a file, also compressed, with an etag. */
export async function filePage(mediaType: string, body: Buffer, headers: NonNullable<Page['headers']>): Promise<Page> {
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  return { status: 200, mediaType, body, packed: await pack(body), headers: { ...headers, etag } };
}

const RETRY_AFTER_SECONDS = '1';

/** Whether the If-None-Match header names the etag. */
export function hasEtag(known: string | undefined, etag: string): boolean {
  if (known === undefined || known === etag) return known === etag;
  return known.split(',').some((each) => each.trim() === '*' || each.trim().replace(/^W\//, '') === etag);
}

/** `known` is the If-None-Match header. */
export function pageResponse(
  { status, mediaType, body, packed, brotli, headers = {} }: Page,
  known: string | undefined,
): PreparedResponse {
  if (typeof headers.etag === 'string' && hasEtag(known, headers.etag))
    return { status: 304, headers, body: [], mediaType };
  const retry = status === 503 ? { 'retry-after': RETRY_AFTER_SECONDS } : {};
  return { status, headers: { ...retry, ...headers }, body: splitIntoChunks(body), packed, brotli, mediaType };
}
