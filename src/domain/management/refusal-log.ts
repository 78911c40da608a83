/** Writes refusals to the audit log outside of requests, at a limited rate. */

import type { Clock, RandomBytes } from '../clock.ts';
import { type Actor, type AuditedAction, auditRecord } from './audit.ts';
import type { AuditRecord, ManagementStore } from './management.ts';

type RefusalsDeps = {
  readonly store: Pick<ManagementStore, 'recordRefusal'>;
  readonly clock: Clock;
  readonly random: RandomBytes;
  /** Resolves after the delay, or as soon as the signal aborts. */
  readonly pause: (delayMs: number, signal: AbortSignal) => Promise<void>;
  readonly onError: (error: unknown) => void;
};

/** The refused action with the status and code of the refusal. */
export type RefusedAction = AuditedAction & { readonly status: number; readonly code: string };

/** Lets the request be answered first. */
const FIRST_DELAY_MS = 10;
const WRITE_INTERVAL_MS = 1_000;
/** One per second is written, so none waits longer than the minute within which equal ones are counted. */
const WAITING_MAX = 50;

/** Refusals to write for one credential, by name. */
type Waiting = Map<string, AuditRecord>;

export type Refusals = ReturnType<typeof createRefusals>;

export function createRefusals({ store, clock, random, pause, onError }: RefusalsDeps) {
  const waitingByKey = new Map<string, Waiting>();
  const writers = new Set<Promise<void>>();
  const stopping = new AbortController();

  async function write(key: string, waiting: Waiting): Promise<void> {
    await pause(FIRST_DELAY_MS, stopping.signal);
    for (const [name, record] of waiting) {
      waiting.delete(name);
      try {
        await store.recordRefusal(record);
      } catch (error) {
        onError(error);
      }
      await pause(WRITE_INTERVAL_MS, stopping.signal);
    }
    waitingByKey.delete(key);
  }

  return {
    /** Never fails. */
    record(actor: Actor, audited: RefusedAction): void {
      const key = JSON.stringify([actor.organizationId, actor.actorKind, actor.actorKeyId, actor.actorUserId]);
      let waiting = waitingByKey.get(key);
      if (waiting === undefined) {
        waiting = new Map();
        waitingByKey.set(key, waiting);
        const writer = write(key, waiting).finally(() => writers.delete(writer));
        writers.add(writer);
      }
      add(waiting, actor, audited);
    },
    /** Stores the remaining refusals. */
    async stop(): Promise<void> {
      stopping.abort();
      await Promise.all(writers);
    },
  };

  function add(waiting: Waiting, actor: Actor, audited: RefusedAction): void {
    const name = nameOf(audited);
    const equal = waiting.get(name);
    if (equal) waiting.set(name, { ...equal, count: equal.count + 1 });
    // A caller that tries one id after the other is counted in one entry without the id.
    else if (waiting.size >= WAITING_MAX && audited.targetId !== null)
      add(waiting, actor, { ...audited, targetId: null });
    else waiting.set(name, auditRecord(actor, { ...audited, outcome: 'refused' }, { nowMs: clock(), random }));
  }
}

function nameOf({ action, targetId, code }: RefusedAction): string {
  return JSON.stringify([action, targetId, code]);
}
