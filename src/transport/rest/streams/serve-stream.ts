/** Writes a stream of responses as one HTTP response, as fast as the client reads it. */

import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { constants } from 'node:http2';
import type { Writable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { Fault } from '../../../domain/fault.ts';
import { toFault } from '../../../rpc/invoke.ts';
import type { CallIds } from '../../../rpc/method.ts';
import type { ResponseStream } from '../../../rpc/streams/invoke-stream.ts';
import { addIds } from '../../call-ids.ts';
import { isClosed, responseSinkOf } from '../../response-watch.ts';
import type { Family } from '../../status.ts';
import { faultResponse } from '../errors.ts';
import { accepts, GZIP_MIN_BYTES, packedHeaders, type RestRequest, type RestResponse } from '../exchange.ts';
import type { StreamFormat, StreamWriter } from './format.ts';

type ServedStream = {
  readonly request: RestRequest;
  readonly response: RestResponse;
  readonly ids: CallIds;
  readonly family: Family;
  readonly format: StreamFormat;
  /** Whether the responses hold a secret, and are never compressed: see PreparedResponse. */
  readonly secret: boolean;
};

/** Where the text goes: the response itself, or the compression in front of it. */
type Body = Pick<Writable, 'on' | 'off'> & {
  readonly write: (text: string) => boolean;
  readonly end: (text?: string) => unknown;
};

/** How much text is buffered before a write, in a stream that is not live. */
const CHUNK_CHARACTERS = 32_768;

/** `signal` aborts when the client disconnects; `cut` breaks the connection off. */
export function watchDisconnect(response: RestResponse): { readonly signal: AbortSignal; readonly cut: () => void } {
  const left = new AbortController();
  const outlet = responseSinkOf(response);
  outlet.once('close', () => left.abort());
  if (isClosed(outlet)) left.abort();
  return { signal: left.signal, cut: () => void outlet.destroy() };
}

/** Resolves when all has been written, or the client has disconnected. */
export async function serveStream(served: ServedStream, responses: ResponseStream): Promise<void> {
  const { request, response, format: form } = served;
  try {
    if (response.headersSent || isClosed(responseSinkOf(response))) return;
    if (request.method === 'HEAD') openPlain(served).end();
    else await writeAll(served, form.start(), responses);
  } finally {
    responses.close();
  }
}

function openPlain(served: ServedStream): Body {
  const response = served.response as ServerResponse;
  return response.writeHead(200, headersOf(served));
}

function openPacked(served: ServedStream): Body {
  const response = served.response as ServerResponse;
  response.writeHead(200, { ...headersOf(served), ...packedHeaders(response, 'gzip') });
  const packing = createGzip();
  packing.on('error', () => response.destroy()).pipe(response);
  responseSinkOf(response).once('close', () => packing.destroy());
  return packing;
}

/** Each response of a live stream is to arrive at once, which compression would delay. */
function mayBePacked({ request, format, secret }: ServedStream): boolean {
  return !format.isLive && !secret && accepts(request.headers['accept-encoding'], 'gzip');
}

function headersOf({ ids, format: form }: ServedStream): OutgoingHttpHeaders {
  const headers = {
    'content-type': form.mediaType,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    // Tells proxies not to buffer, which would delay the stream.
    'x-accel-buffering': 'no',
  };
  return addIds(headers, ids);
}

async function writeAll(served: ServedStream, writer: StreamWriter, responses: ResponseStream): Promise<void> {
  const { response, format: form } = served;
  let buffered = '';
  // A body that may be compressed begins once it is known whether it is large enough.
  let body: Body | null = mayBePacked(served) ? null : openPlain(served);
  const flush = async () => {
    const text = buffered;
    buffered = '';
    if (text === '') return;
    body ??= openPacked(served);
    await writeText(response, body, text);
  };
  try {
    for await (const message of responses) {
      for (const chunk of writer.write(message)) {
        buffered += chunk;
        if (buffered.length >= CHUNK_CHARACTERS) await flush();
      }
      if (form.isLive) await flush();
    }
    const text = buffered + writer.end();
    body ??= Buffer.byteLength(text) < GZIP_MIN_BYTES ? openPlain(served) : openPacked(served);
    body.end(text);
  } catch (error) {
    if (!isClosed(responseSinkOf(response))) endEarly(served, body ?? openPlain(served), writer, toFault(error));
  }
}

/** Resolves once the response accepts more. */
async function writeText(response: RestResponse, body: Body, text: string): Promise<void> {
  if (body.write(text) || isClosed(responseSinkOf(response))) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      body.off('drain', done);
      response.off('close', done);
      resolve();
    };
    body.on('drain', done);
    response.on('close', done);
  });
}

function endEarly({ response, family, ids }: ServedStream, body: Body, { fail }: StreamWriter, fault: Fault): void {
  if (fail !== null) body.end(fail(faultResponse(fault, family, ids).body.join('')));
  // An HTTP/2 connection carries other streams, so only this stream is reset.
  else if ('stream' in response) response.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  else response.destroy();
}
