/** Why an attempt has no response, whatever its destination. */

import { type AttemptResult, UNRESOLVED_ERROR } from '../domain/endpoints/destination.ts';

/** The part of a result that the reason decides. */
export type Failure = Pick<
  Extract<AttemptResult, { kind: 'refused' }>,
  'kind' | 'error' | 'terminalHint' | 'isSenderFault' | 'isTooLarge'
>;

export function failure(error: string, marks: Partial<Omit<Failure, 'kind' | 'error'>> = {}): Failure {
  return { kind: 'refused', error, terminalHint: false, isSenderFault: false, ...marks };
}

export const TIMEOUT = failure('timeout');
export const DNS_FAILED = failure(UNRESOLVED_ERROR);
export const CONNECT_FAILED = failure('connect_failed');
export const CONNECTION_RESET = failure('connection_reset');
export const BAD_RESPONSE = failure('bad_response');
/** This process gave up or lacked resources; the receiver had no part in it. */
export const SENDER_LOST = failure('sender_lost', { isSenderFault: true });
export const NO_SOCKET = failure('connect_failed', { isSenderFault: true });

/** This machine ran out of sockets, ports or memory. */
export const LOCAL_CODES: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL']);

export function toFailed(reason: Failure, latencyMs: number): AttemptResult {
  return { ...reason, latencyMs, responseStatus: null, responseText: null, retryAfterMs: null, isGone: false };
}
