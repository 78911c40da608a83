/** Writes the response of one exchange, over HTTP/1.1 or HTTP/2. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { constants, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import { gzip } from 'node:zlib';
import { Fault } from '../../domain/fault.ts';
import type { CallIds } from '../../rpc/method.ts';
import { addIds } from '../call-ids.ts';
import { collectUntilEndOfTurn } from '../end-of-turn.ts';
import { reportBugs } from '../server-bugs.ts';
import type { ResponseBody } from './response-body.ts';

/** The parts that both kinds of request share. */
export type RestRequest = (IncomingMessage | Http2ServerRequest) & {
  readonly headers: { readonly [name: string]: string | undefined };
};
export type RestResponse = ServerResponse | Http2ServerResponse;

export type HeadLimits = { readonly requestLineMaxBytes: number; readonly headersMaxBytes: number };

/** HTTP/2 has limits of its own, which are larger. */
export function checkSizes(limits: HeadLimits, { url = '', method = '', rawHeaders }: RestRequest): void {
  if (url.length + method.length + 10 > limits.requestLineMaxBytes)
    throw new Fault('uri_too_long', 'The request line is too long.');
  let bytes = 0;
  for (const text of rawHeaders) bytes += text.length + 2;
  if (bytes > limits.headersMaxBytes) throw new Fault('headers_too_large', 'The request headers are too large.');
}

export type PreparedResponse = {
  readonly status: number;
  readonly headers: { readonly [name: string]: string | string[] };
  readonly body: ResponseBody;
  /** The body compressed with gzip, where it is kept so. */
  readonly packed?: Buffer | undefined;
  /** The body compressed with brotli, where it is kept so. */
  readonly brotli?: Buffer | undefined;
  readonly mediaType: string;
  /** Never compressed: the size would reveal a secret that stands beside text of the caller's own (BREACH). */
  readonly secret?: boolean;
};

export const JSON_MEDIA_TYPE = 'application/json; charset=utf-8';
export const GZIP_MIN_BYTES = 1_024;
const CHUNK_BYTES = 262_144;
const TOGETHER_MAX_BYTES = 16_384;
/** A client that sends heads this large will do so again, so its connection is closed. */
const CLOSING_STATUSES: ReadonlySet<number> = new Set([414, 431]);

/** Writes the response and ends the exchange. An unread rest of the body, or a head that is too large, closes the connection. */
export function respond(request: RestRequest, response: RestResponse, ids: CallIds, answer: PreparedResponse): void {
  const { body } = answer;
  const bytes = sizeOf(body);
  const write = (content: Content, headers: Headers) => {
    const written = { request, response, headers: headersOf(answer, ids, headers), status: answer.status, content };
    // Several large responses written in one turn would block other requests.
    if (content.bytes > TOGETHER_MAX_BYTES) writeResponse(written);
    else writeTogether(written);
  };
  const plain = () => write({ chunks: body, bytes }, { 'content-length': bytes });
  const accepted = request.headers['accept-encoding'];
  const sendPacked = (packed: Buffer, coding = 'gzip') => {
    const headers = { 'content-length': packed.length, ...packedHeaders(response, coding) };
    write({ chunks: splitIntoChunks(packed), bytes: packed.length }, headers);
  };
  if (answer.brotli && accepts(accepted, 'br')) {
    sendPacked(answer.brotli, 'br');
    return;
  }
  if (bytes < GZIP_MIN_BYTES || answer.secret || !accepts(accepted, 'gzip')) {
    plain();
    return;
  }
  if (answer.packed) {
    sendPacked(answer.packed);
    return;
  }
  gzip(body.length === 1 ? (body[0] ?? '') : Buffer.concat(body.map(bytesOf)), (error, packed) => {
    if (error) plain();
    else sendPacked(packed);
  });
}

/** The headers of a compressed body. */
export function packedHeaders(response: RestResponse, coding: string): { readonly [name: string]: string } {
  const varied = response.getHeader('vary');
  return { 'content-encoding': coding, vary: varied === undefined ? 'accept-encoding' : `${varied}, accept-encoding` };
}

/** Divides bytes into chunks that are written one after the other, without a copy. */
export function splitIntoChunks(body: string | Buffer): ResponseBody {
  if (typeof body === 'string' || body.length <= CHUNK_BYTES) return [body];
  const count = Math.ceil(body.length / CHUNK_BYTES);
  return Array.from({ length: count }, (_, index) => body.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES));
}

/** The bytes of the body in UTF-8. */
export function sizeOf(body: ResponseBody): number {
  let bytes = 0;
  for (const chunk of body) bytes += Buffer.byteLength(chunk);
  return bytes;
}

function bytesOf(chunk: string | Buffer): Buffer {
  return typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}

type Headers = Record<string, string | number | string[]>;

function headersOf(answer: PreparedResponse, ids: CallIds, ofContent: Headers): Headers {
  const headers: Headers = {
    'content-type': answer.mediaType,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...ofContent,
    ...answer.headers,
  };
  return addIds(headers, ids);
}

type Content = { readonly chunks: ResponseBody; readonly bytes: number };
type Written = {
  readonly request: RestRequest;
  readonly response: RestResponse;
  readonly status: number;
  readonly headers: Headers;
  readonly content: Content;
};

const writeTogether = collectUntilEndOfTurn((written: Written) =>
  reportBugs(
    () => writeResponse(written),
    () => written.response.destroy(),
  ),
);

function writeResponse({ request, response, status, headers, content }: Written): void {
  if (response.headersSent || response.destroyed) return;
  const unread = !request.complete;
  const closes = unread || CLOSING_STATUSES.has(status);
  if (closes && request.httpVersionMajor === 1) headers.connection = 'close';
  if (status === 204 || status === 304) delete headers['content-length'];
  (response as ServerResponse).writeHead(status, headers);
  if (request.method === 'HEAD') response.end();
  else if (content.bytes > CHUNK_BYTES) writeChunks(response, content.chunks);
  else endWith(response, content);
  if (unread) discardBody(request, response);
}

/**
 * Discards the rest of the request body while the response is sent. A client that still sends behind it is stopped: over
 * HTTP/2 by a reset of its stream, over HTTP/1.1 by the end of the connection.
 */
export function discardBody(request: RestRequest, response: RestResponse): void {
  if ('stream' in response) {
    const { stream } = response;
    const stop = () => {
      if (stream.state.remoteClose !== 1) stream.close(constants.NGHTTP2_NO_ERROR);
    };
    if (stream.writableFinished) stop();
    // A reset before would take the place of what is not sent yet.
    else stream.once('finish', stop);
  }
  request.resume();
}

/** Writes text together with the headers, in one write; as latin1 where possible, which is faster. */
function endWith(response: RestResponse, { chunks, bytes }: Content): void {
  const [first = '', ...more] = chunks;
  const body = more.length === 0 || typeof first !== 'string' ? first : chunks.join('');
  const isLatin = bytes === body.length;
  if (typeof body === 'string') response.end(body, isLatin ? 'latin1' : 'utf8');
  else (response as ServerResponse).end(body);
}

/** Writes one chunk per turn of the event loop: a write of megabytes would block other requests. */
function writeChunks(response: RestResponse, chunks: ResponseBody): void {
  let next = 0;
  /** The next chunks, until they are large enough for one write. */
  const joinChunks = (): Buffer => {
    const part: Buffer[] = [];
    for (let bytes = 0; next < chunks.length && bytes < CHUNK_BYTES; next += 1) {
      const chunk = bytesOf(chunks[next] as string | Buffer);
      bytes += chunk.length;
      part.push(chunk);
    }
    return part.length === 1 ? (part[0] as Buffer) : Buffer.concat(part);
  };
  const writeOne = () => {
    if (response.destroyed) return;
    const part = joinChunks();
    if (next >= chunks.length) (response as ServerResponse).end(part);
    else if ((response as ServerResponse).write(part)) setImmediate(writeOne);
    else response.once('drain', writeOne);
  };
  writeOne();
}

export function accepts(accepted: string | undefined, coding: 'gzip' | 'br'): boolean {
  if (!accepted?.includes(coding)) return false;
  return accepted.split(',').some((part) => {
    const [name = '', quality = ''] = part.trim().split(';');
    return name.trim().toLowerCase() === coding && !/^\s*q\s*=\s*0(\.0*)?\s*$/i.test(quality);
  });
}
