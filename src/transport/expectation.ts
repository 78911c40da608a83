/** The Expect header: `100-continue` is supported, every other expectation is refused. */

import type { IncomingHttpHeaders } from 'node:http';
import { Fault } from '../domain/fault.ts';

type Request = { readonly httpVersion: string; readonly headers: IncomingHttpHeaders };

/** The refusal of a request that expects something unknown; null for every other. */
export function expectationProblem({ httpVersion, headers }: Request): Fault | null {
  // HTTP/1.0 does not know the header.
  if (headers.expect === undefined || httpVersion === '1.0') return null;
  if (headers.expect.trim().toLowerCase() === '100-continue') return null;
  return new Fault('expectation_failed', 'The only expectation that can be met is 100-continue.');
}
