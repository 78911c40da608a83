/** Deadlines that callers set: the headers of gRPC and Connect, and the refusal of a call that is late. */

import { Fault } from '../domain/fault.ts';
import type { HttpHandler } from './server-options.ts';

const UNIT_MS: { readonly [unit: string]: number } = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 };
/** The longest delay of a timer, which holds 31 bits: 24 days. */
const TIMER_MAX_MS = 2_147_483_647;

/** Milliseconds, at least 0; null when the header is not a duration. */
export function parseGrpcTimeout(header: string): number | null {
  const match = /^(\d{1,8})([HMSmun])$/.exec(header);
  const unitMs = UNIT_MS[match?.[2] ?? ''];
  return unitMs === undefined ? null : Math.min(Number(match?.[1]) * unitMs, TIMER_MAX_MS);
}

type Request = Parameters<HttpHandler>[0];

const CONNECT = 'connect-timeout-ms';
const GRPC = 'grpc-timeout';

/**
 * Caps deadlines in the headers at the longest delay of a timer: a timer with a longer one fires at once, and the library
 * refuses longer deadlines instead of capping them. Headers that are not a duration are left for the library to refuse.
 */
export function capDeadline({ headers }: Request): void {
  const connect = headers[CONNECT];
  if (typeof connect === 'string' && /^\d{1,10}$/.test(connect) && Number(connect) > TIMER_MAX_MS) {
    headers[CONNECT] = String(TIMER_MAX_MS);
  }
  const grpc = headers[GRPC];
  if (typeof grpc === 'string' && parseGrpcTimeout(grpc) === TIMER_MAX_MS) {
    // The protocol allows at most eight digits.
    headers[GRPC] = `${Math.floor(TIMER_MAX_MS / 1_000)}S`;
  }
}

export function deadlineFault(): Fault {
  return new Fault('request_timeout', 'The deadline of the call has passed.');
}
