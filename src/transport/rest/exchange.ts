/** One HTTP exchange, HTTP/1.1 or HTTP/2 alike. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { gzip } from 'node:zlib';
import type { CallIds } from '../../rpc/method.ts';
import { traceparentOf } from '../call-ids.ts';
import type { AnswerBody } from './body-parts.ts';

/** The parts that both kinds of request share. */
export type RestRequest = (IncomingMessage | Http2ServerRequest) & {
  readonly headers: { readonly [name: string]: string | undefined };
};
export type RestResponse = ServerResponse | Http2ServerResponse;

export type Answer = {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: AnswerBody;
  /** The body packed with gzip already. */
  readonly packed?: Buffer | undefined;
  /** The body packed with brotli already. */
  readonly brotli?: Buffer | undefined;
  readonly mediaType: string;
  /** Never compressed: the size would tell of a secret beside text of the caller's own. */
  readonly secret?: boolean;
};

export const JSON_MEDIA_TYPE = 'application/json; charset=utf-8';
const GZIP_MIN_BYTES = 1_024;
const PIECE_BYTES = 262_144;
/** Who sends heads that large once will do so again: the connection is not kept for it. */
const CLOSING_STATUSES: ReadonlySet<number> = new Set([414, 431]);

/** Writes one answer and ends the exchange. A body that was not read to its end, or a head too large, closes the connection. */
export function respond(request: RestRequest, response: RestResponse, ids: CallIds, answer: Answer): void {
  const { body } = answer;
  const bytes = sizeOf(body);
  const write = (content: Content, headers: Headers) =>
    writeAnswer(request, response, {
      headers: headersOf(answer, ids, headers),
      status: answer.status,
      content,
    });
  const plain = () => write({ pieces: body, bytes }, { 'content-length': bytes });
  const accepted = request.headers['accept-encoding'];
  const sendPacked = (packed: Buffer, coding = 'gzip') => {
    const headers = { 'content-length': packed.length, 'content-encoding': coding, vary: 'accept-encoding' };
    write({ pieces: splitBytes(packed), bytes: packed.length }, headers);
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

/** Bytes in pieces that leave one after the other, without a copy. */
export function splitBytes(body: string | Buffer): AnswerBody {
  if (typeof body === 'string' || body.length <= PIECE_BYTES) return [body];
  const count = Math.ceil(body.length / PIECE_BYTES);
  return Array.from({ length: count }, (_, index) => body.subarray(index * PIECE_BYTES, (index + 1) * PIECE_BYTES));
}

/** In UTF-8. */
export function sizeOf(body: AnswerBody): number {
  let bytes = 0;
  for (const piece of body) bytes += Buffer.byteLength(piece);
  return bytes;
}

function bytesOf(piece: string | Buffer): Buffer {
  return typeof piece === 'string' ? Buffer.from(piece) : piece;
}

type Headers = Record<string, string | number>;

function headersOf(answer: Answer, ids: CallIds, ofContent: Headers): Headers {
  const headers: Headers = {
    'content-type': answer.mediaType,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': ids.requestId,
    ...ofContent,
    ...answer.headers,
  };
  const traceparent = traceparentOf(ids);
  if (traceparent) headers.traceparent = traceparent;
  return headers;
}

type Content = { readonly pieces: AnswerBody; readonly bytes: number };
type Written = { readonly status: number; readonly headers: Headers; readonly content: Content };

function writeAnswer(request: RestRequest, response: RestResponse, { status, headers, content }: Written): void {
  if (response.headersSent || response.destroyed) return;
  const unread = !request.complete;
  const closes = unread || CLOSING_STATUSES.has(status);
  if (closes && request.httpVersionMajor === 1) headers.connection = 'close';
  if (status === 204 || status === 304) delete headers['content-length'];
  (response as ServerResponse).writeHead(status, headers);
  if (request.method === 'HEAD') response.end();
  else if (content.bytes > PIECE_BYTES) writePieces(response, content.pieces);
  else endWith(response, content);
  // What is still on its way is thrown away while the answer leaves.
  if (unread) request.resume();
}

/** Text leaves together with the headers, in one write; as latin1 where it is that, for then it is written faster. */
function endWith(response: RestResponse, { pieces, bytes }: Content): void {
  const [first = '', ...more] = pieces;
  const body = more.length === 0 || typeof first !== 'string' ? first : pieces.join('');
  const isLatin = bytes === body.length;
  if (typeof body === 'string') response.end(body, isLatin ? 'latin1' : 'utf8');
  else (response as ServerResponse).end(body);
}

/** Handing megabytes to the kernel at once takes longer than others should wait. */
function writePieces(response: RestResponse, pieces: AnswerBody): void {
  let next = 0;
  /** A large part of the rest, or all of it. */
  const takePart = (): Buffer => {
    const part: Buffer[] = [];
    for (let bytes = 0; next < pieces.length && bytes < PIECE_BYTES; next += 1) {
      const piece = bytesOf(pieces[next] as string | Buffer);
      bytes += piece.length;
      part.push(piece);
    }
    return part.length === 1 ? (part[0] as Buffer) : Buffer.concat(part);
  };
  const writeOne = () => {
    if (response.destroyed) return;
    const part = takePart();
    if (next >= pieces.length) (response as ServerResponse).end(part);
    else if ((response as ServerResponse).write(part)) setImmediate(writeOne);
    else response.once('drain', writeOne);
  };
  writeOne();
}

function accepts(accepted: string | undefined, coding: 'gzip' | 'br'): boolean {
  if (!accepted?.includes(coding)) return false;
  return accepted.split(',').some((part) => {
    const [name = '', quality = ''] = part.trim().split(';');
    return name.trim().toLowerCase() === coding && !/^\s*q\s*=\s*0(\.0*)?\s*$/i.test(quality);
  });
}
