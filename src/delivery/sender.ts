/** Makes the attempts that were claimed, and stores their results. */

import { verdictOf } from '../domain/delivery/delivery.ts';
import { LEASE_MS } from '../domain/delivery/delivery-step.ts';
import type { DeliveryStore, LogEntry, WorkItem, WorkOutcome } from '../domain/delivery/webhook-store.ts';
import type { AttemptResult } from '../domain/endpoints/destination.ts';
import type { Endpoint } from '../domain/endpoints/endpoint.ts';
import type { MakeAttempt } from './attempt.ts';
import type { Sending } from './dispatch-state.ts';
import { SENDER_LOST, toFailed } from './failure.ts';
import type { DeliveryMeter } from './meter.ts';
import type { WorkQueue } from './work-queue.ts';

export type Sender = ReturnType<typeof createSender>;

type MadeAttempt = {
  readonly sending: Sending;
  /** The endpoint when the attempt started. */
  readonly endpoint: Endpoint;
  readonly result: AttemptResult;
};

/** `outcome` is null when it is unknown whether the result was stored. */
type RecordedAttempt = { readonly outcome: WorkOutcome | null; readonly wasReached: boolean };

export type SenderLog = {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
};

export type SenderDeps = {
  readonly store: Pick<DeliveryStore, 'envelopes'>;
  readonly attempt: MakeAttempt;
  readonly add: WorkQueue['add'];
  readonly nowMs: () => number;
  readonly random: () => number;
  /** Resolves after a delay. */
  readonly pause: (delayMs: number) => Promise<void>;
  readonly meter: DeliveryMeter;
  readonly log: SenderLog;
};

/** An attempt starts only if at least this much of its lease is left. */
const LEASE_LEFT_MIN_MS = 15_000;
const RECORD_RETRY_MS = 500;

export function createSender(deps: SenderDeps) {
  const { store, attempt, add, nowMs, meter, log } = deps;
  const ending = new AbortController();

  /** Makes the attempt of a claim; `onRead` gets its events where they have to be read. Never rejects. */
  async function tryAttempt(sending: Sending, onRead: (entries: readonly LogEntry[]) => void): Promise<MadeAttempt> {
    const { start, claimed } = sending;
    let { endpoint } = start.state;
    try {
      const entries = start.claim.entries ?? (await readEntries(sending));
      if (start.claim.entries === null) onRead(entries);
      // The endpoint may have changed while the events were read; the attempt goes to the new one.
      endpoint = start.state.endpoint;
      const startsAtMs = nowMs();
      if (claimed.attempt === 1 && !claimed.replay) meter.lag(Math.max(0, startsAtMs - claimed.created.firstMs) / 1000);
      if (start.startedAtMs + LEASE_MS - startsAtMs < LEASE_LEFT_MIN_MS) {
        return { sending, endpoint, result: toFailed(SENDER_LOST, 0) };
      }
      const envelopes = entries.map(({ envelope }) => envelope);
      const request = { dispatchId: claimed.dispatchId, attempt: claimed.attempt, envelopes, test: false };
      return { sending, endpoint, result: await attempt({ ...request, endpoint, nowMs: startsAtMs }, ending.signal) };
    } catch (error) {
      log.warn({ err: error, dispatchId: claimed.dispatchId }, 'an attempt could not be made');
      return { sending, endpoint, result: toFailed(SENDER_LOST, 0) };
    }
  }

  async function readEntries({ start, claimed: { seqs, created } }: Sending): Promise<readonly LogEntry[]> {
    const entries = await store.envelopes(start.state.endpoint.organizationNumber, seqs, created);
    // Only whole batches are sent: maintenance ends deliveries whose events retention has removed.
    if (entries.length !== seqs.length) throw new Error('events of the delivery are gone');
    return entries;
  }

  /**
   * Hands the result to the store at once, and resolves when it is stored or given up. Never rejects. Retries until the
   * lease ends, because no other sender can take the delivery over before, or until the process ends.
   */
  async function record(made: MadeAttempt): Promise<RecordedAttempt> {
    const { sending, endpoint, result } = made;
    const { start, claimed } = sending;
    const item: WorkItem = {
      kind: 'finish',
      endpointNumber: endpoint.number,
      number: claimed.number,
      fence: claimed.fence,
      verdict: verdictOf(result),
      destinationVersion: endpoint.destinationVersion,
      random: deps.random(),
    };
    for (;;) {
      try {
        const outcome = await add(item);
        report(made, outcome);
        return { outcome, wasReached: wasReached(result) };
      } catch (error) {
        if (ending.signal.aborted || nowMs() - start.startedAtMs >= LEASE_MS) {
          log.warn({ err: error, dispatchId: claimed.dispatchId }, 'the result of an attempt could not be stored');
          return { outcome: null, wasReached: wasReached(result) };
        }
        await deps.pause(RECORD_RETRY_MS);
      }
    }
  }

  function report({ sending: { claimed }, endpoint, result }: MadeAttempt, outcome: WorkOutcome): void {
    if (outcome.kind !== 'recorded') {
      meter.staleResult();
      return;
    }
    log.info(
      {
        endpoint: endpoint.id,
        dispatchId: claimed.dispatchId,
        attempt: claimed.attempt,
        outcome: outcome.outcome,
        status: result.responseStatus,
        latencyMs: Math.round(result.latencyMs),
        events: claimed.seqs.length,
        ...(result.kind === 'refused' ? { error: result.error } : {}),
      },
      'delivery attempt',
    );
    meter.attempt({
      kind: endpoint.destinationKind,
      outcome: outcome.outcome,
      reason: reasonOf(result),
      seconds: result.latencyMs / 1000,
    });
    if (result.kind === 'refused' && result.error.startsWith('url_refused')) meter.policyRefusal();
    if (outcome.deadReason !== null) meter.dead(outcome.deadReason);
    if (outcome.disabled !== null) {
      meter.disabled(outcome.disabled);
      log.warn({ endpoint: endpoint.id, reason: outcome.disabled }, 'a webhook endpoint was disabled');
    }
  }

  /** Aborts the attempts in flight, and gives up results that cannot be stored. */
  const abort = () => ending.abort();
  return { attempt: tryAttempt, record, abort };
}

const UNREACHED = /^(timeout|dns_failed|connect_failed|tls_failed)/;

/** Whether the attempt reached the receiver. */
function wasReached(result: AttemptResult): boolean {
  return result.kind === 'accepted' || !UNREACHED.test(result.error);
}

/** A metric label from a closed set: the class of the status, or the error up to its first space or colon. */
function reasonOf(result: AttemptResult): string {
  if (result.responseStatus !== null) return `${Math.floor(result.responseStatus / 100)}xx`;
  if (result.kind === 'accepted') return 'accepted';
  return /^[A-Za-z_]{1,40}/.exec(result.error)?.[0] ?? 'other';
}
