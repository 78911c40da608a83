/** What an attempt is recorded as. */

import { type AttemptResult, UNRESOLVED_ERROR } from '../domain/destination.ts';
import { parseRetryAfter } from './retry-after.ts';

/** Why no answer came. */
export type Failure = { readonly error: string; readonly terminalHint: boolean; readonly isOurs: boolean };

export type Answer = {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly text: string;
  readonly latencyMs: number;
};

const failure = (error: string, terminalHint = false, isOurs = false): Failure => ({ error, terminalHint, isOurs });

export const TIMEOUT = failure('timeout');
export const DNS_FAILED = failure(UNRESOLVED_ERROR);
export const CONNECT_FAILED = failure('connect_failed');
export const CONNECTION_RESET = failure('connection_reset');
export const BAD_RESPONSE = failure('bad_response');
export const URL_REFUSED = failure('url_refused: the destination is not allowed', true);
/** This process gave up, or had no means; the receiver has no part in it. */
export const SENDER_LOST = failure('sender_lost', false, true);
const NO_SOCKET = failure('connect_failed', false, true);

/** This machine ran out of sockets, ports or memory. */
const OUR_CODES = ['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL'];
const CODE = /^[A-Z][A-Z0-9_]{0,99}$/;
/** Of the protocol itself; every other code of TLS is about the certificate. */
const PROTOCOL_CODE = /^(ERR_SSL_|EPROTO$)/;
const NETWORK_CODE = /^E[A-Z]+$/;

const GONE = 410;
const ASKS_FOR_PATIENCE = [429, 503];
const PASSING = [408, GONE, 429];

export function isAcceptedStatus(status: number): boolean {
  return status >= 200 && status < 300;
}

export function toAnswered({ status, retryAfter, text, latencyMs }: Answer, now: number): AttemptResult {
  if (isAcceptedStatus(status)) return { kind: 'accepted', latencyMs, responseStatus: status, responseText: text };
  const floor = retryAfter !== null && ASKS_FOR_PATIENCE.includes(status) ? parseRetryAfter(retryAfter, now) : null;
  return {
    kind: 'refused',
    latencyMs,
    responseStatus: status,
    error: `HTTP ${status}`,
    terminalHint: status >= 300 && status < 500 && !PASSING.includes(status),
    responseText: text,
    retryAfterMs: floor,
    isGone: status === GONE,
    isOurs: false,
  };
}

export function toFailed(reason: Failure, latencyMs: number): AttemptResult {
  return {
    kind: 'refused',
    latencyMs,
    responseStatus: null,
    ...reason,
    responseText: null,
    retryAfterMs: null,
    isGone: false,
  };
}

/** While the connection was being made. */
export function connectFailure(error: Error): Failure {
  return OUR_CODES.includes(codeOf(error)) ? NO_SOCKET : CONNECT_FAILED;
}

/** After the connection was made: during the handshake of TLS, or later. */
export function connectionFailure(error: Error, isHandshake: boolean): Failure {
  const code = codeOf(error);
  if (PROTOCOL_CODE.test(code)) return failure(`tls_failed: ${code}`);
  if (!isHandshake || code === '' || NETWORK_CODE.test(code)) return CONNECTION_RESET;
  return failure(`tls_failed: ${code}`, true);
}

function codeOf(error: Error): string {
  const code = 'code' in error ? String(error.code) : '';
  return CODE.test(code) ? code : '';
}
