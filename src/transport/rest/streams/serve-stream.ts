/** Writes a stream of responses as one HTTP response, as fast as the client reads it. */

import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { constants } from 'node:http2';
import type { Fault } from '../../../domain/fault.ts';
import { toFault } from '../../../rpc/invoke.ts';
import type { CallIds } from '../../../rpc/method.ts';
import type { ResponseStream } from '../../../rpc/streams/invoke-stream.ts';
import { addIds } from '../../call-ids.ts';
import { isClosed, responseSinkOf } from '../../response-watch.ts';
import type { Family } from '../../status.ts';
import { faultResponse } from '../errors.ts';
import type { RestRequest, RestResponse } from '../exchange.ts';
import type { StreamFormat, StreamWriter } from './format.ts';

type ServedStream = {
  readonly request: RestRequest;
  readonly response: RestResponse;
  readonly ids: CallIds;
  readonly family: Family;
  readonly format: StreamFormat;
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
    (response as ServerResponse).writeHead(200, headersOf(served));
    if (request.method === 'HEAD') response.end();
    else await writeAll(served, form.start(), responses);
  } finally {
    responses.close();
  }
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
  const flush = async () => {
    const text = buffered;
    buffered = '';
    if (text !== '') await writeText(response, text);
  };
  try {
    for await (const message of responses) {
      for (const chunk of writer.write(message)) {
        buffered += chunk;
        if (buffered.length >= CHUNK_CHARACTERS) await flush();
      }
      if (form.isLive) await flush();
    }
    response.end(buffered + writer.end());
  } catch (error) {
    endEarly(served, writer, toFault(error));
  }
}

/** Resolves once the response accepts more. */
async function writeText(response: RestResponse, text: string): Promise<void> {
  if ((response as ServerResponse).write(text) || isClosed(responseSinkOf(response))) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

function endEarly({ response, family, ids }: ServedStream, { fail }: StreamWriter, fault: Fault): void {
  if (isClosed(responseSinkOf(response))) return;
  if (fail !== null) response.end(fail(faultResponse(fault, family, ids).body.join('')));
  // An HTTP/2 connection carries other streams, so only this stream is reset.
  else if ('stream' in response) response.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  else response.destroy();
}
