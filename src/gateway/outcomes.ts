/**
 * Stores the outcomes of requests. One that cannot be stored now is tried again until its request would be settled: a
 * lost outcome would bill the estimate for good.
 */

import type { RequestStore } from '../domain/events/log-port.ts';
import type { RequestIdentity } from '../domain/events/request-report.ts';
import type { GatewayOutcome } from '../domain/gateway/gateway-outcome.ts';
import { startSchedule, type Wait } from '../scheduling/schedule.ts';

type OutcomesDeps = {
  readonly store: Pick<RequestStore, 'conclude' | 'renew'>;
  readonly clock: () => number;
  readonly wait: Wait;
  /** After which a request without an outcome is settled. */
  readonly graceMs: number;
  readonly onError: (error: unknown, message: string) => void;
};

type InProgress = RequestIdentity & { readonly organizationNumber: number };

const RETRY_FIRST_MS = 250;
const RETRY_MAX_MS = 15_000;
/** Outcomes that wait for the store; of more, only the report is kept, without the span. */
const WAITING_SPANS_MAX = 256;
const SHARES_OF_GRACE = 3;

export type Outcomes = ReturnType<typeof createOutcomes>;

export function createOutcomes({ store, clock, wait, graceMs, onError }: OutcomesDeps) {
  const inProgress = new Map<string, InProgress>();
  const stopping = new AbortController();
  const pending = new Set<Promise<void>>();
  let waiting = 0;

  async function keepTrying(outcome: GatewayOutcome): Promise<void> {
    const hasRoom = waiting < WAITING_SPANS_MAX;
    const kept = hasRoom ? outcome : { ...outcome, trace: null };
    const untilMs = clock() + graceMs;
    waiting += 1;
    try {
      for (let delayMs = RETRY_FIRST_MS; clock() < untilMs; delayMs = Math.min(2 * delayMs, RETRY_MAX_MS)) {
        await wait(delayMs, stopping.signal);
        if (await stored(kept)) return;
        if (stopping.signal.aborted) return;
      }
    } finally {
      waiting -= 1;
    }
  }

  async function stored(outcome: GatewayOutcome): Promise<boolean> {
    try {
      await store.conclude(outcome);
      return true;
    } catch (error) {
      onError(error, 'the outcome of a request through the gateway could not be stored yet');
      return false;
    }
  }

  /** Where the store is away, it goes on in the background. */
  async function concludeOne(outcome: GatewayOutcome, isLosable: boolean): Promise<void> {
    const isStored = await stored(outcome);
    for (const { projectNumber, gatewayRequestId } of outcome.report.records) {
      inProgress.delete(`${projectNumber} ${gatewayRequestId}`);
    }
    if (isStored || (isLosable && waiting >= WAITING_SPANS_MAX)) return;
    const trying = keepTrying(outcome).finally(() => pending.delete(trying));
    pending.add(trying);
  }

  async function track(outcome: GatewayOutcome, isLosable: boolean): Promise<void> {
    const concluding = concludeOne(outcome, isLosable).finally(() => pending.delete(concluding));
    pending.add(concluding);
    await concluding;
  }

  async function renew(): Promise<void> {
    const byOrganization = Map.groupBy(inProgress.values(), ({ organizationNumber }) => organizationNumber);
    for (const [organizationNumber, requests] of byOrganization) {
      await store.renew({ kind: 'renewal', organizationNumber, receivedAtMs: clock(), requests });
    }
  }

  const intervalMs = graceMs / SHARES_OF_GRACE;
  const renewing = startSchedule({
    firstDelayMs: intervalMs,
    intervalMs,
    retryDelayMs: Math.min(intervalMs, RETRY_MAX_MS),
    wait,
    run: renew,
    onError: (error) => onError(error, 'requests in progress through the gateway could not be renewed'),
  });

  return {
    /** The request is admitted, and is not settled while this process works on it. */
    begin(request: InProgress): void {
      inProgress.set(`${request.projectNumber} ${request.gatewayRequestId}`, request);
    },
    /** The request gets no outcome from this process: it settles. */
    forget({ projectNumber, gatewayRequestId }: RequestIdentity): void {
      inProgress.delete(`${projectNumber} ${gatewayRequestId}`);
    },
    /** Resolves once the outcome is stored, or waits for the store. Never rejects. */
    conclude: (outcome: GatewayOutcome) => track(outcome, false),
    /**
     * Stores the outcome of a request that was refused before it was admitted. Nothing is billed without it, so it is lost where
     * the store is away and many others wait already. Never rejects.
     */
    noteRefusal: (outcome: GatewayOutcome) => track(outcome, true),
    /** Tries once more what waits. */
    async stop(): Promise<void> {
      stopping.abort();
      await renewing.stop();
      while (pending.size > 0) await Promise.all(pending);
    },
  };
}
