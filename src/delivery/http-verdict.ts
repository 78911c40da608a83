/** Converts responses and errors of connections into results and failures of attempts. */

import { isIPv6 } from 'node:net';
import type { AttemptResult } from '../domain/endpoints/destination.ts';
import { readRetryAfterMs } from '../scheduling/retry-after.ts';
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
const NO_ADDRESS = 'EADDRNOTAVAIL';
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

/** For errors while connecting to an address. */
export function connectFailure(error: Error, address: string): Failure {
  const code = codeOf(error);
  // A machine without IPv6 says so of every such address. Otherwise all its ports are in use.
  if (code === NO_ADDRESS && isIPv6(address)) return CONNECT_FAILED;
  return LOCAL_CODES.has(code) ? NO_SOCKET : CONNECT_FAILED;
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

/** The floor in milliseconds from `now` on, at most an hour; null when the value names no later time. */
function parseRetryAfter(value: string, now: number): number | null {
  const waitMs = readRetryAfterMs(value, now);
  return waitMs === null ? null : Math.min(waitMs, RETRY_AFTER_MAX_MS);
}
