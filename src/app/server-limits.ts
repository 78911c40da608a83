/** How long a client may take, and how much it may send before it is read. */

import type { Config } from '../config/config.ts';
import { MODEL_ANSWER_WHOLE_MS } from '../gateway/dispatch.ts';
import type { ServerLimits } from '../transport/server-options.ts';
import { MODEL_BODY_WHOLE_MS } from './proxy.ts';

/** The time a client has to read any response, and the lowest rate beyond that: one of 8 MiB is cut after a minute and a half. */
export const RESPONSE_TIMEOUTS = { graceMs: 30_000, bytesPerSecondMin: 131_072 };
/** The longest pause between two parts of a request body. */
export const BODY_GAP_MS = 10_000;
/** The time for a whole request body. */
export const BODY_WHOLE_MS = 60_000;
/** Bytes of all bodies together that are read in a turn of the event loop. */
export const BODY_BYTES_PER_TURN = 128 * 1024;
/** For what the gateway does before and behind a model: guardrails, and reading and writing the store. */
const SLACK_MS = 60_000;
/** The time for the head of a request. */
const HEADERS_MS = 10_000;
/** How long a connection may rest between requests. */
const IDLE_MS = 75_000;
/** Bytes of all headers of a request. */
const HEADERS_MAX_BYTES = 16_384;
/** Bytes of the request line. */
const REQUEST_LINE_MAX_BYTES = 8_192;
export const HEAD_LIMITS = { requestLineMaxBytes: REQUEST_LINE_MAX_BYTES, headersMaxBytes: HEADERS_MAX_BYTES };
/** Calls at once on a connection of HTTP/2. */
const STREAMS_PER_CONNECTION_MAX = 128;

/** The limits of connections and of their heads, for the server that listens. */
export function serverLimits({ limits }: Config): ServerLimits {
  return {
    headersTimeoutMs: HEADERS_MS,
    bodyGapTimeoutMs: BODY_GAP_MS,
    bodyTimeoutMs: BODY_WHOLE_MS,
    longBodyTimeoutMs: MODEL_BODY_WHOLE_MS,
    longAnswerTimeoutMs: MODEL_BODY_WHOLE_MS + MODEL_ANSWER_WHOLE_MS + SLACK_MS,
    streamsPerConnectionMax: STREAMS_PER_CONNECTION_MAX,
    headerBytesMax: HEADERS_MAX_BYTES,
    requestLineBytesMax: REQUEST_LINE_MAX_BYTES,
    connectionsMax: limits.connectionsMax,
    reconnectPenaltyMs: limits.reconnectPenaltyMs,
    idleTimeoutMs: IDLE_MS,
  };
}
