/** Writes a stream of answers as one HTTP response, as fast as it is taken. */

import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { constants } from 'node:http2';
import type { Fault } from '../../../domain/fault.ts';
import { toFault } from '../../../rpc/invoke.ts';
import type { CallIds } from '../../../rpc/method.ts';
import type { AnswerStream } from '../../../rpc/streams/invoke-stream.ts';
import { isGone, outletOf } from '../../answer-watch.ts';
import { traceparentOf } from '../../call-ids.ts';
import { type Family, faultAnswer } from '../errors.ts';
import type { RestRequest, RestResponse } from '../exchange.ts';
import type { StreamForm, StreamWriter } from './form.ts';

export type ServedStream = {
  readonly request: RestRequest;
  readonly response: RestResponse;
  readonly ids: CallIds;
  readonly family: Family;
  readonly form: StreamForm;
};

/** What leaves together where nobody waits for each answer. */
const PART_CHARACTERS = 32_768;

/** Whether anybody still takes what is written; `cut` breaks the connection off. */
export function watchLeaving(response: RestResponse): { readonly signal: AbortSignal; readonly cut: () => void } {
  const left = new AbortController();
  const outlet = outletOf(response);
  outlet.once('close', () => left.abort());
  if (isGone(outlet)) left.abort();
  return { signal: left.signal, cut: () => void outlet.destroy() };
}

/** Resolves when all has been written, or nobody is there to take it. */
export async function serveStream(served: ServedStream, answers: AnswerStream): Promise<void> {
  const { request, response, form } = served;
  try {
    if (response.headersSent || isGone(outletOf(response))) return;
    (response as ServerResponse).writeHead(200, headersOf(served));
    if (request.method === 'HEAD') response.end();
    else await writeAll(served, form.start(), answers);
  } finally {
    answers.close();
  }
}

function headersOf({ ids, form }: ServedStream): OutgoingHttpHeaders {
  const traceparent = traceparentOf(ids);
  return {
    'content-type': form.mediaType,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    // Proxies that gather answers until they are large would hold up a stream.
    'x-accel-buffering': 'no',
    'x-request-id': ids.requestId,
    ...(traceparent ? { traceparent } : {}),
  };
}

async function writeAll(served: ServedStream, writer: StreamWriter, answers: AnswerStream): Promise<void> {
  const { response, form } = served;
  let part = '';
  const flush = async () => {
    const text = part;
    part = '';
    if (text !== '') await writeText(response, text);
  };
  try {
    for await (const message of answers) {
      for (const piece of writer.write(message)) {
        part += piece;
        if (part.length >= PART_CHARACTERS) await flush();
      }
      if (form.isLive) await flush();
    }
    response.end(part + writer.end());
  } catch (error) {
    endEarly(served, writer, toFault(error));
  }
}

/** Resolves once there is room for more. */
async function writeText(response: RestResponse, text: string): Promise<void> {
  if ((response as ServerResponse).write(text) || isGone(outletOf(response))) return;
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
  if (isGone(outletOf(response))) return;
  if (fail !== null) response.end(fail(faultAnswer(fault, family, ids).body.join('')));
  // Over HTTP/2 the connection carries others: only the stream breaks off.
  else if ('stream' in response) response.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  else response.destroy();
}
