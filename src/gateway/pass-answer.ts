/** Passes the answer of a provider on to the caller, and says how it ended. */

import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { RequestError } from '../domain/events/request-content.ts';
import { createAnswerReader } from '../domain/gateway/dialects/answer-reader.ts';
import type { AnswerFacts } from '../domain/gateway/dialects/dialect.ts';
import { streamErrorEvent } from '../domain/gateway/dialects/gateway-error.ts';
import type { HoldMemory } from '../domain/gateway/dialects/held-bytes.ts';
import { type GatewayFault, gatewayFault } from '../domain/gateway/gateway-fault.ts';
import { maskTokens } from '../domain/token-mask.ts';
import { type AnswerHeaders, OWN_HEADERS, sendFault } from './answering.ts';
import type { Answer } from './attempts.ts';
import type { Keeping } from './cached-answers.ts';
import type { BodyRoute } from './data-routes.ts';
import { headersToCaller } from './forwarded-headers.ts';
import { type CallerResponse, isGone, type RelayEnd, relay } from './relay.ts';

type Passing = {
  readonly answer: Answer;
  readonly response: CallerResponse;
  readonly route: BodyRoute;
  /** Whether the usage at the end of a stream was asked for by the gateway alone. */
  readonly hidesUsage: boolean;
  readonly captures: boolean;
  readonly holdMemory: HoldMemory;
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
  /** What the caller is told instead of the answer; null: the answer, or as much of it as came. */
  readonly fault: GatewayFault | null;
  /** Sends what is held back, and ends the answer. */
  readonly finish: () => void;
};

/** Answers with this status or a higher one are errors. */
export const ERROR_STATUS_MIN = 400;
/** No answer with one of these has a body. */
const BARE_STATUSES: ReadonlySet<number> = new Set([204, 205, 304]);
const NOTHING = Buffer.alloc(0);
const HIDDEN = '...';
export const CALLER_LEFT = gatewayFault(
  499,
  'client_closed_request',
  'The caller left before the answer was complete.',
);
const UNREADABLE = gatewayFault(
  403,
  'guardrail_blocked',
  'The answer is larger than guardrails can read, or cannot be read.',
  { details: { stage: 'post' } },
);
const PROVIDER_BROKE = gatewayFault(
  502,
  'upstream_mid_stream_failure',
  'The connection to the provider broke before its answer was complete.',
);

/** What is encoded although it was not asked for cannot be read as one. */
export function isEventStream({ headers }: Pick<Answer, 'headers'>): boolean {
  const encoding = String(headers['content-encoding'] ?? 'identity');
  if (encoding.toLowerCase() !== 'identity') return false;
  return /^\s*text\/event-stream\b/i.test(String(headers['content-type'] ?? ''));
}

/** Rejects when an answer can be neither judged nor passed on. */
export async function passAnswer(passing: Passing): Promise<Passed> {
  const { answer, response, route, hidesUsage, captures, holdMemory, clock, judge, keeping } = passing;
  const isStreamed = isEventStream(answer);
  const isBare = BARE_STATUSES.has(answer.status);
  const isJudged = judge !== null && answer.status < ERROR_STATUS_MIN;
  const reader = createAnswerReader({
    route: route.kind,
    isStreamed,
    hidesUsage,
    captures: captures || isJudged,
    isJudged,
    holdMemory,
  });
  let firstTokenAtMs: number | null = null;
  const begin = () => writeHead(passing, isStreamed);
  const body = Buffer.isBuffer(answer.body) ? Readable.from([answer.body], { objectMode: false }) : answer.body;
  const relayed = await relay(body, {
    response,
    ...{ begin, holdMemory },
    holds: isJudged ? 'all' : isStreamed ? 'nothing' : 'last',
    read(part) {
      keeping?.push(part);
      const bytes = isBare ? NOTHING : reader.read(part);
      if (firstTokenAtMs === null && isStreamed && reader.hasOutput()) firstTokenAtMs = clock();
      return bytes;
    },
  });
  const { held } = relayed;
  // Of a stream that has told its end nothing is missing, whatever becomes of its connection.
  const isWhole = relayed.end === 'provider_broke' && isStreamed && reader.facts().isComplete;
  const end = isWhole ? 'complete' : relayed.end;
  const last = end === 'complete' ? reader.end() : NOTHING;
  const facts = reader.facts();
  const verdict = isJudged && end !== 'caller_left' ? await judged(end, facts, judge) : null;
  const { apiKey } = passing;
  const told = verdict === null ? errorOf({ end, status: answer.status, facts, captures, apiKey }) : errorFrom(verdict);
  const fault = verdict ?? (end === 'provider_broke' && !response.headersSent ? PROVIDER_BROKE : null);
  const finish = () => {
    if (isGone(response) || response.writableEnded) return;
    if (verdict !== null) sendFault(response, { dialect: route.dialect, fault: verdict }, passing.headers);
    else if (end === 'provider_broke') breakOff(passing, isStreamed);
    else {
      if (!response.headersSent) begin();
      const rest = [...held, last].filter(({ length }) => length > 0);
      const final = rest.pop() ?? NOTHING;
      for (const bytes of rest) (response as ServerResponse).write(bytes);
      (response as ServerResponse).end(final);
    }
  };
  return { facts, firstTokenAtMs, ...told, fault, finish };
}

async function judged(
  end: RelayEnd,
  facts: AnswerFacts,
  judge: NonNullable<Passing['judge']>,
): Promise<GatewayFault | null> {
  if (end === 'provider_broke') return PROVIDER_BROKE;
  return end === 'too_large' || !facts.isWhole ? UNREADABLE : await judge(facts);
}

/** A stream has no length: it may lose its usage, or end with an error. */
function writeHead({ answer, response, headers }: Passing, isStreamed: boolean): void {
  const length = answer.headers['content-length'];
  const known =
    length === undefined || isStreamed || BARE_STATUSES.has(answer.status) ? {} : { 'content-length': String(length) };
  const own = { ...OWN_HEADERS, ...headersToCaller(answer.headers), ...known, ...headers };
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

type Ended = Pick<Passing, 'captures' | 'apiKey'> & {
  readonly end: RelayEnd;
  readonly status: number;
  readonly facts: AnswerFacts;
};

function errorOf({ end, status, facts, captures, apiKey }: Ended): Told {
  if (end === 'caller_left' && !facts.isComplete) return errorFrom(CALLER_LEFT);
  if (end === 'provider_broke' && !facts.isComplete) return errorFrom(PROVIDER_BROKE);
  if (status < ERROR_STATUS_MIN && facts.error === null) return { error: null, errorMessage: null };
  const { type = null, message = null } = facts.error ?? {};
  const httpStatus = status < ERROR_STATUS_MIN ? null : status;
  const hide = (text: string) => maskTokens(text.replaceAll(apiKey() || HIDDEN, HIDDEN));
  // Providers quote what they refuse.
  const errorMessage = message === null || !captures ? null : hide(message);
  return { error: { class: hide(type || 'provider_error'), httpStatus }, errorMessage };
}
