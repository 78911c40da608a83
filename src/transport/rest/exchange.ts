/** One HTTP exchange, HTTP/1.1 or HTTP/2 alike. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { gzip } from 'node:zlib';
import type { CallIds } from '../../rpc/method.ts';
import { traceparentOf } from '../call-ids.ts';

/** The parts that both kinds of request share. */
export type RestRequest = (IncomingMessage | Http2ServerRequest) & {
  readonly headers: { readonly [name: string]: string | undefined };
};
export type RestResponse = ServerResponse | Http2ServerResponse;

export type Answer = {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
  readonly mediaType: string;
  /** Never compressed: the size would tell of a secret beside text of the caller's own. */
  readonly secret?: boolean;
};

export const JSON_MEDIA_TYPE = 'application/json; charset=utf-8';
const GZIP_MIN_BYTES = 1_024;
/** Who sends heads that large once will do so again: the connection is not kept for it. */
const CLOSING_STATUSES: ReadonlySet<number> = new Set([414, 431]);

/** Writes one answer and ends the exchange. A body that was not read to its end, or a head too large, closes the connection. */
export function respond(request: RestRequest, response: RestResponse, ids: CallIds, answer: Answer): void {
  const bytes = Buffer.byteLength(answer.body);
  if (bytes < GZIP_MIN_BYTES || answer.secret || !acceptsGzip(request.headers['accept-encoding'])) {
    const encoding = bytes === answer.body.length ? 'latin1' : 'utf8';
    write(request, response, { headers: headersOf(answer, ids, bytes), answer, body: answer.body, encoding });
    return;
  }
  gzip(answer.body, (error, packed) => {
    const headers = headersOf(answer, ids, error ? bytes : packed.length);
    if (!error) Object.assign(headers, { 'content-encoding': 'gzip', vary: 'accept-encoding' });
    write(request, response, { headers, answer, body: error ? answer.body : packed, encoding: 'utf8' });
  });
}

type Headers = Record<string, string | number>;

function headersOf(answer: Answer, ids: CallIds, bytes: number): Headers {
  const headers: Headers = {
    'content-type': answer.mediaType,
    'content-length': bytes,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': ids.requestId,
    ...answer.headers,
  };
  const traceparent = traceparentOf(ids);
  if (traceparent) headers.traceparent = traceparent;
  return headers;
}

type Written = {
  readonly headers: Headers;
  readonly answer: Answer;
  readonly body: string | Buffer;
  /** latin1 for text without any other character: the same bytes, written faster. */
  readonly encoding: 'latin1' | 'utf8';
};

function write(request: RestRequest, response: RestResponse, { headers, answer, body, encoding }: Written): void {
  if (response.headersSent || response.destroyed) return;
  const unread = !request.complete;
  const closes = unread || CLOSING_STATUSES.has(answer.status);
  if (closes && request.httpVersionMajor === 1) headers.connection = 'close';
  if (answer.status === 204) delete headers['content-length'];
  (response as ServerResponse).writeHead(answer.status, headers);
  if (request.method === 'HEAD') response.end();
  // Text leaves together with the headers, in one write.
  else response.end(body as string, encoding);
  // What is still on its way is thrown away while the answer leaves.
  if (unread) request.resume();
}

function acceptsGzip(accepted: string | undefined): boolean {
  if (!accepted?.includes('gzip')) return false;
  return accepted.split(',').some((part) => {
    const [name = '', quality = ''] = part.trim().split(';');
    return name.trim().toLowerCase() === 'gzip' && !/^\s*q\s*=\s*0(\.0*)?\s*$/i.test(quality);
  });
}
