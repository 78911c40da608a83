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

export type TestFireDeps = {
  readonly attempt: MakeAttempt;
  /** Ends the tests that are under way. */
  readonly signal: AbortSignal;
  /** A test that could not be made, through no fault of the receiver. */
  readonly onFault: (error: unknown, dispatchId: string) => void;
};

export function createTestFire({ attempt, signal, onFault }: TestFireDeps): TestFire {
  return async (endpoint, { dispatchId, envelope, nowMs }) => {
    try {
      return await attempt({ endpoint, dispatchId, attempt: 1, envelopes: [envelope], test: true, nowMs }, signal);
    } catch (error) {
      onFault(error, dispatchId);
      return ourFault();
    }
  };
}
