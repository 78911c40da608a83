/** Passes the answer of a provider on to the caller, and says how it ended. */

import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { RequestError } from '../domain/events/request-content.ts';
import { createAnswerReader } from '../domain/gateway/dialects/answer-reader.ts';
import type { AnswerFacts, ReadBody } from '../domain/gateway/dialects/dialect.ts';
import { streamErrorEvent } from '../domain/gateway/dialects/gateway-error.ts';
import { gatewayFault } from '../domain/gateway/gateway-fault.ts';
import { type AnswerHeaders, sendFault } from './answering.ts';
import type { Answer } from './attempts.ts';
import type { BodyRoute } from './data-routes.ts';
import { headersToCaller } from './forwarded-headers.ts';
import { type CallerResponse, type RelayEnd, relay } from './relay.ts';

type Passing = {
  readonly answer: Answer;
  readonly response: CallerResponse;
  readonly route: BodyRoute;
  readonly body: ReadBody;
  /** Whether the usage at the end of a stream was asked for by the gateway alone. */
  readonly hidesUsage: boolean;
  readonly captures: boolean;
  readonly headers: AnswerHeaders;
  readonly clock: () => number;
};

export type Passed = {
  readonly facts: AnswerFacts;
  readonly firstTokenAtMs: number | null;
  readonly error: RequestError | null;
  readonly errorMessage: string | null;
  /** Sends what is held back, and ends the answer. */
  readonly finish: () => void;
};

const ERROR_STATUS_MIN = 400;
const CLIENT_CLOSED = 499;
const PROVIDER_BROKE = gatewayFault(
  502,
  'upstream_mid_stream_failure',
  'The connection to the provider broke before its answer was complete.',
);

export function isEventStream({ headers }: Pick<Answer, 'headers'>): boolean {
  return /^\s*text\/event-stream\b/i.test(String(headers['content-type'] ?? ''));
}

/** Never rejects. */
export async function passAnswer(passing: Passing): Promise<Passed> {
  const { answer, response, route, hidesUsage, captures, clock } = passing;
  const isStreamed = isEventStream(answer);
  const reader = createAnswerReader({ route: route.kind, isStreamed, hidesUsage, captures });
  let firstTokenAtMs: number | null = null;
  const begin = () => writeHead(passing, isStreamed && hidesUsage);
  const body = Buffer.isBuffer(answer.body) ? Readable.from([answer.body], { objectMode: false }) : answer.body;
  const { end, held } = await relay(body, {
    response,
    begin,
    holdsLast: !isStreamed,
    read(part) {
      const bytes = reader.read(part);
      if (firstTokenAtMs === null && isStreamed && reader.hasOutput()) firstTokenAtMs = clock();
      return bytes;
    },
  });
  const last = end === 'complete' ? reader.end() : Buffer.alloc(0);
  const facts = reader.facts();
  const { error, message } = errorOf({ end, status: answer.status, facts });
  const finish = () => {
    if (response.destroyed || response.writableEnded) return;
    if (end === 'provider_broke') {
      breakOff(passing, { isStreamed, held });
      return;
    }
    if (!response.headersSent) begin();
    if (held !== null) (response as ServerResponse).write(held);
    if (last.length > 0) (response as ServerResponse).write(last);
    response.end();
  };
  return { facts, firstTokenAtMs, error, errorMessage: message, finish };
}

function writeHead({ answer, response, headers }: Passing, isChanged: boolean): void {
  const length = answer.headers['content-length'];
  const known = length === undefined || isChanged ? {} : { 'content-length': String(length) };
  const own = { 'cache-control': 'no-store', ...headersToCaller(answer.headers), ...known, ...headers };
  (response as ServerResponse).writeHead(answer.status, own);
}

type Broken = { readonly isStreamed: boolean; readonly held: Buffer | null };

/** A stream ends with an error of its dialect; any other answer that has begun can only be cut. */
function breakOff({ response, route, headers }: Passing, { isStreamed }: Broken): void {
  if (!response.headersSent) {
    sendFault(response, { dialect: route.dialect, fault: PROVIDER_BROKE }, headers);
  } else if (isStreamed) {
    (response as ServerResponse).end(streamErrorEvent(route.kind, PROVIDER_BROKE));
  } else response.destroy();
}

type Ended = { readonly end: RelayEnd; readonly status: number; readonly facts: AnswerFacts };

function errorOf({ end, status, facts }: Ended): { error: RequestError | null; message: string | null } {
  if (end === 'caller_left' && !facts.isComplete) {
    const error = { class: 'client_closed_request', httpStatus: CLIENT_CLOSED };
    return { error, message: 'The caller left before the answer was complete.' };
  }
  if (end === 'provider_broke' && !facts.isComplete) {
    return {
      error: { class: PROVIDER_BROKE.code, httpStatus: PROVIDER_BROKE.httpStatus },
      message: PROVIDER_BROKE.message,
    };
  }
  if (status < ERROR_STATUS_MIN && facts.error === null) return { error: null, message: null };
  const { type = null, message = null } = facts.error ?? {};
  const httpStatus = status < ERROR_STATUS_MIN ? null : status;
  return { error: { class: type ?? 'provider_error', httpStatus }, message };
}
