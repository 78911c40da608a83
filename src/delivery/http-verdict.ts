/** Converts responses and errors of connections into results and failures of attempts. */

import type { AttemptResult } from '../domain/endpoints/destination.ts';
import { CONNECT_FAILED, CONNECTION_RESET, type Failure, failure, LOCAL_CODES, NO_SOCKET } from './failure.ts';

export type Answer = {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly text: string;
  readonly latencyMs: number;
};

export const URL_REFUSED = failure('url_refused: the destination is not allowed', { terminalHint: true });

const CODE = /^[A-Z][A-Z0-9_]{0,99}$/;
/** Codes of the TLS protocol; every other TLS code is about the certificate. */
const PROTOCOL_CODE = /^(ERR_SSL_|EPROTO$)/;
const NETWORK_CODE = /^E[A-Z]+$/;

const GONE = 410;
const RETRY_AFTER_STATUSES = [429, 503];
const TRANSIENT_STATUSES = [408, GONE, 429];

export function isAcceptedStatus(status: number): boolean {
  return status >= 200 && status < 300;
}

export function toAnswered({ status, retryAfter, text, latencyMs }: Answer, now: number): AttemptResult {
  if (isAcceptedStatus(status)) return { kind: 'accepted', latencyMs, responseStatus: status, responseText: text };
  const floor = retryAfter !== null && RETRY_AFTER_STATUSES.includes(status) ? parseRetryAfter(retryAfter, now) : null;
  return {
    kind: 'refused',
    latencyMs,
    responseStatus: status,
    error: `HTTP ${status}`,
    terminalHint: status >= 300 && status < 500 && !TRANSIENT_STATUSES.includes(status),
    responseText: text,
    retryAfterMs: floor,
    isGone: status === GONE,
    isSenderFault: false,
  };
}

/** For errors while connecting. */
export function connectFailure(error: Error): Failure {
  return LOCAL_CODES.has(codeOf(error)) ? NO_SOCKET : CONNECT_FAILED;
}

/** For errors after connecting: in the TLS handshake or later. */
export function connectionFailure(error: Error, isHandshake: boolean): Failure {
  const code = codeOf(error);
  if (PROTOCOL_CODE.test(code)) return failure(`tls_failed: ${code}`);
  if (!isHandshake || code === '' || NETWORK_CODE.test(code)) return CONNECTION_RESET;
  return failure(`tls_failed: ${code}`, { terminalHint: true });
}

function codeOf(error: Error): string {
  const code = 'code' in error ? String(error.code) : '';
  return CODE.test(code) ? code : '';
}

const RETRY_AFTER_MAX_MS = 3_600_000;
const SECONDS = /^[0-9]+$/;
const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';
const TIME = '[0-9]{2}:[0-9]{2}:[0-9]{2}';
/** The current date format, and the two that older servers still send (RFC 9110, 5.6.7). */
const DATE = new RegExp(
  `^(?:${DAY}, [0-9]{2} ${MONTH} [0-9]{4} ${TIME} GMT|[A-Z][a-z]{5,8}, [0-9]{2}-${MONTH}-[0-9]{2} ${TIME} GMT)$`,
);
const DATE_OF_C = new RegExp(`^${DAY} ${MONTH} [ 0-9][0-9] ${TIME} [0-9]{4}$`);

/**
 * Parses the header Retry-After. Milliseconds from `now` on, at most an hour; null when the value names no later time.
 */
function parseRetryAfter(value: string, now: number): number | null {
  const waitMs = SECONDS.test(value) ? Number(value) * 1_000 : parseDate(value) - now;
  return waitMs > 0 ? Math.min(Math.ceil(waitMs), RETRY_AFTER_MAX_MS) : null;
}

/** NaN for an invalid date, which compares as not later than any time. */
function parseDate(value: string): number {
  if (DATE.test(value)) return Date.parse(value);
  return DATE_OF_C.test(value) ? Date.parse(`${value} GMT`) : Number.NaN;
}
