/** Passes the answer of a provider on to the caller, and says how it ended. */

import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { RequestError } from '../domain/events/request-content.ts';
import { createAnswerReader } from '../domain/gateway/dialects/answer-reader.ts';
import type { AnswerFacts } from '../domain/gateway/dialects/dialect.ts';
import { streamErrorEvent } from '../domain/gateway/dialects/gateway-error.ts';
import { type GatewayFault, gatewayFault } from '../domain/gateway/gateway-fault.ts';
import { maskTokens } from '../domain/token-mask.ts';
import { type AnswerHeaders, sendFault } from './answering.ts';
import type { Answer } from './attempts.ts';
import type { Keeping } from './cached-answers.ts';
import type { BodyRoute } from './data-routes.ts';
import { headersToCaller } from './forwarded-headers.ts';
import { type CallerResponse, type RelayEnd, relay } from './relay.ts';

type Passing = {
  readonly answer: Answer;
  readonly response: CallerResponse;
  readonly route: BodyRoute;
  /** Whether the usage at the end of a stream was asked for by the gateway alone. */
  readonly hidesUsage: boolean;
  readonly captures: boolean;
  readonly headers: AnswerHeaders;
  readonly clock: () => number;
  /** Judges a successful answer before any of it is sent; null: it is sent as it comes. */
  readonly judge: ((facts: AnswerFacts) => Promise<GatewayFault | null>) | null;
  /** The key that the provider was sent, which some repeat in their errors; null: none. */
  readonly apiKey: () => string | null;
  /** Collects the answer for the cache; null: it is not kept. */
  readonly keeping: Keeping | null;
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
/** Guardrails see at most what is kept of an answer. */
const JUDGED_MAX_BYTES = 1024 * 1024;
const HIDDEN = '...';
export const CALLER_LEFT = gatewayFault(
  499,
  'client_closed_request',
  'The caller left before the answer was complete.',
);
const TOO_LARGE = gatewayFault(403, 'guardrail_blocked', 'The answer is larger than guardrails can read.', {
  details: { stage: 'post' },
});
const PROVIDER_BROKE = gatewayFault(
  502,
  'upstream_mid_stream_failure',
  'The connection to the provider broke before its answer was complete.',
);

export function isEventStream({ headers }: Pick<Answer, 'headers'>): boolean {
  return /^\s*text\/event-stream\b/i.test(String(headers['content-type'] ?? ''));
}

/** Rejects only when an answer cannot be judged. */
export async function passAnswer(passing: Passing): Promise<Passed> {
  const { answer, response, route, hidesUsage, captures, clock, judge, keeping } = passing;
  const isStreamed = isEventStream(answer);
  const isJudged = judge !== null && answer.status < ERROR_STATUS_MIN;
  const reader = createAnswerReader({ route: route.kind, isStreamed, hidesUsage, captures: captures || isJudged });
  let firstTokenAtMs: number | null = null;
  const begin = () => writeHead(passing, isStreamed && hidesUsage);
  const body = Buffer.isBuffer(answer.body) ? Readable.from([answer.body], { objectMode: false }) : answer.body;
  const { end, held } = await relay(body, {
    response,
    begin,
    holds: isJudged ? 'all' : isStreamed ? 'nothing' : 'last',
    read(part) {
      keeping?.push(part);
      const bytes = reader.read(part);
      if (firstTokenAtMs === null && isStreamed && reader.hasOutput()) firstTokenAtMs = clock();
      return bytes;
    },
  });
  const last = end === 'complete' ? reader.end() : Buffer.alloc(0);
  const facts = reader.facts();
  const verdict = isJudged && end !== 'caller_left' ? await judged(end, facts, judge) : null;
  const told =
    verdict === null ? errorOf({ end, status: answer.status, facts, apiKey: passing.apiKey }) : errorFrom(verdict);
  const finish = () => {
    if (response.destroyed || response.writableEnded) return;
    if (verdict !== null) sendFault(response, { dialect: route.dialect, fault: verdict }, passing.headers);
    else if (end === 'provider_broke') breakOff(passing, isStreamed);
    else {
      if (!response.headersSent) begin();
      for (const bytes of [...held, last]) if (bytes.length > 0) (response as ServerResponse).write(bytes);
      response.end();
    }
  };
  return { facts, firstTokenAtMs, ...told, finish };
}

async function judged(
  end: RelayEnd,
  facts: AnswerFacts,
  judge: NonNullable<Passing['judge']>,
): Promise<GatewayFault | null> {
  if (end === 'provider_broke') return PROVIDER_BROKE;
  return end === 'too_large' || facts.outputBytes > JUDGED_MAX_BYTES ? TOO_LARGE : await judge(facts);
}

function writeHead({ answer, response, headers }: Passing, isChanged: boolean): void {
  const length = answer.headers['content-length'];
  const known = length === undefined || isChanged ? {} : { 'content-length': String(length) };
  const own = { 'cache-control': 'no-store', ...headersToCaller(answer.headers), ...known, ...headers };
  (response as ServerResponse).writeHead(answer.status, own);
}

/** A stream ends with an error of its dialect; any other answer that has begun can only be cut. */
function breakOff({ response, route, headers }: Passing, isStreamed: boolean): void {
  if (!response.headersSent) {
    sendFault(response, { dialect: route.dialect, fault: PROVIDER_BROKE }, headers);
  } else if (isStreamed) {
    (response as ServerResponse).end(streamErrorEvent(route.kind, PROVIDER_BROKE));
  } else response.destroy();
}

type Told = Pick<Passed, 'error' | 'errorMessage'>;

function errorFrom({ code, httpStatus, message }: GatewayFault): Told {
  return { error: { class: code, httpStatus }, errorMessage: message };
}

type Ended = Pick<Passing, 'apiKey'> & { readonly end: RelayEnd; readonly status: number; readonly facts: AnswerFacts };

function errorOf({ end, status, facts, apiKey }: Ended): Told {
  if (end === 'caller_left' && !facts.isComplete) return errorFrom(CALLER_LEFT);
  if (end === 'provider_broke' && !facts.isComplete) return errorFrom(PROVIDER_BROKE);
  if (status < ERROR_STATUS_MIN && facts.error === null) return { error: null, errorMessage: null };
  const { type = null, message = null } = facts.error ?? {};
  const httpStatus = status < ERROR_STATUS_MIN ? null : status;
  const hide = (text: string) => maskTokens(text.replaceAll(apiKey() || HIDDEN, HIDDEN));
  const errorClass = type === null ? 'provider_error' : hide(type);
  return { error: { class: errorClass, httpStatus }, errorMessage: message === null ? null : hide(message) };
}
