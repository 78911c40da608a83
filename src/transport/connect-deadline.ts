/** Deadlines of the Connect library, which hands them to a timer as they come. */

import { parseGrpcTimeout, TIMER_MAX_MS } from './grpc-timeout.ts';
import type { HttpHandler } from './server.ts';

type Request = Parameters<HttpHandler>[0];

const CONNECT = 'connect-timeout-ms';
const GRPC = 'grpc-timeout';

/**
 * A timer that is set further away than it can hold fires at once. The library has a limit of its own, but refuses
 * what is beyond it, so the headers are cut before it reads them. What is no duration is left for it to refuse.
 */
export function capDeadline({ headers }: Request): void {
  const connect = headers[CONNECT];
  if (typeof connect === 'string' && /^\d{1,10}$/.test(connect) && Number(connect) > TIMER_MAX_MS) {
    headers[CONNECT] = String(TIMER_MAX_MS);
  }
  const grpc = headers[GRPC];
  if (typeof grpc === 'string' && parseGrpcTimeout(grpc) === TIMER_MAX_MS) {
    // In eight digits at most, as the protocol has it.
    headers[GRPC] = `${Math.floor(TIMER_MAX_MS / 1_000)}S`;
  }
}
