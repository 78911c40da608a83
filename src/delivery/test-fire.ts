/** Sends one made-up event to an endpoint, to see whether it arrives. */

import type { AttemptResult } from '../domain/destination.ts';
import type { Endpoint } from '../domain/endpoint.ts';
import { type MakeAttempt, ourFault } from './attempt.ts';

export type TestFire = (endpoint: Endpoint, test: TestMessage) => Promise<AttemptResult>;

export type TestMessage = {
  readonly dispatchId: string;
  /** Of the one event. */
  readonly envelope: string;
  readonly nowMs: number;
};

export function createTestFire(attempt: MakeAttempt, signal: AbortSignal): TestFire {
  return async (endpoint, { dispatchId, envelope, nowMs }) => {
    try {
      return await attempt({ endpoint, dispatchId, attempt: 1, envelopes: [envelope], test: true, nowMs }, signal);
    } catch {
      return ourFault();
    }
  };
}
