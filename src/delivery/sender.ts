/** Makes the attempts that were claimed, and sees to it that what came of each is stored. */

import type { AttemptResult } from '../domain/destination.ts';
import type { Endpoint } from '../domain/endpoint.ts';
import { verdictOf } from '../domain/verdict.ts';
import type { DeliveryStore, LogEntry, Work, WorkOutcome } from '../domain/webhook-store.ts';
import { type MakeAttempt, ourFault } from './attempt.ts';
import { envelopesOf } from './batch.ts';
import { LEASE_MS } from './claims.ts';
import type { Sending } from './dispatcher.ts';
import type { DeliveryMeter } from './meter.ts';
import type { WorkQueue } from './work-queue.ts';

export type Sender = {
  send(sending: Sending): void;
  /** Resolves when no attempt is under way and none waits to be stored; after the delay those left are broken off. */
  end(delayMs: number): Promise<void>;
};

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

/** So much of a lease must be left when an attempt starts. */
const LEASE_LEFT_MIN_MS = 15_000;
const RECORD_RETRY_MS = 500;

/** The endpoint as it was when the attempt began. */
type Attempted = { readonly sending: Sending; readonly endpoint: Endpoint; readonly result: AttemptResult };

export function createSender(deps: SenderDeps): Sender {
  const { store, attempt, add, nowMs, meter, log } = deps;
  const ending = new AbortController();
  const underWay = new Set<Promise<void>>();

  async function run(sending: Sending): Promise<void> {
    await record(await tryToSend(sending));
  }

  async function tryToSend(sending: Sending): Promise<Attempted> {
    const { entry, claimed, askedAtMs } = sending;
    let { endpoint } = entry;
    try {
      const entries = sending.entries ?? (await readEntries(sending));
      // It may have become another one meanwhile; from here on it is sent to this one.
      endpoint = entry.endpoint;
      const startsAtMs = nowMs();
      if (claimed.attempt === 1 && !claimed.replay) meter.lag(Math.max(0, startsAtMs - claimed.created.firstMs) / 1000);
      if (askedAtMs + LEASE_MS - startsAtMs < LEASE_LEFT_MIN_MS) return { sending, endpoint, result: ourFault() };
      const { dispatchId } = claimed;
      const order = { dispatchId, attempt: claimed.attempt, envelopes: envelopesOf(entries), test: false };
      return { sending, endpoint, result: await attempt({ ...order, endpoint, nowMs: startsAtMs }, ending.signal) };
    } catch (error) {
      log.warn({ err: error, dispatchId: claimed.dispatchId }, 'an attempt could not be made');
      return { sending, endpoint, result: ourFault() };
    }
  }

  async function readEntries({ entry, claimed: { seqs, created } }: Sending): Promise<readonly LogEntry[]> {
    const entries = await store.envelopes(entry.endpoint.organizationNumber, seqs, created);
    // Only whole batches are sent: housekeeping ends those whose events retention took.
    if (entries.length !== seqs.length) throw new Error('events of the delivery are gone');
    return entries;
  }

  /**
   * A result that could not be stored is tried again for as long as nobody else can have taken the delivery over, though
   * not beyond the end of the process.
   */
  async function record(attempted: Attempted): Promise<void> {
    const { sending, endpoint, result } = attempted;
    const { claimed, free } = sending;
    const work: Work = {
      kind: 'finish',
      endpointNumber: endpoint.number,
      number: claimed.number,
      fence: claimed.fence,
      verdict: verdictOf(result),
      destinationVersion: endpoint.destinationVersion,
      random: deps.random(),
    };
    for (;;) {
      const stored = add(work);
      // After a failure it depends on what is stored whether the endpoint gets another slot at once.
      if (result.kind === 'accepted') free();
      try {
        const outcome = await stored;
        tell(attempted, outcome);
        sending.ended(outcome, wasReached(result));
        free();
        return;
      } catch (error) {
        if (ending.signal.aborted || nowMs() - sending.askedAtMs >= LEASE_MS) {
          log.warn({ err: error, dispatchId: claimed.dispatchId }, 'the result of an attempt could not be stored');
          sending.ended(null, wasReached(result));
          free();
          return;
        }
        await deps.pause(RECORD_RETRY_MS);
      }
    }
  }

  function tell({ sending: { claimed }, endpoint, result }: Attempted, outcome: WorkOutcome): void {
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

  return {
    send(sending) {
      const running = run(sending).finally(() => underWay.delete(running));
      underWay.add(running);
    },
    async end(delayMs) {
      const enough = deps.pause(delayMs).then(() => ending.abort());
      await Promise.race([Promise.all(underWay), enough]);
      await Promise.all(underWay);
    },
  };
}

const NOBODY_THERE = /^(timeout|dns_failed|connect_failed|tls_failed)/;

/** Whether the receiver took any part in it. */
function wasReached(result: AttemptResult): boolean {
  return result.kind === 'accepted' || !NOBODY_THERE.test(result.error);
}

/** From a closed set: what stands before the first space or colon, and statuses by their class. */
function reasonOf(result: AttemptResult): string {
  if (result.responseStatus !== null) return `${Math.floor(result.responseStatus / 100)}xx`;
  if (result.kind === 'accepted') return 'accepted';
  return /^[A-Za-z_]{1,40}/.exec(result.error)?.[0] ?? 'other';
}
