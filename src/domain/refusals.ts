/** Refusals on their way into the audit log: off the path of requests, and few however many there are. */

import { type Actor, auditRecord, type Deed } from './audit.ts';
import type { Clock, RandomBytes } from './clock.ts';
import type { AuditRecord, ManagementStore } from './management.ts';

export type RefusalsDeps = {
  readonly store: Pick<ManagementStore, 'noteRefusal'>;
  readonly clock: Clock;
  readonly random: RandomBytes;
  /** Resolves after the delay, or as soon as the signal says stop. */
  readonly pause: (delayMs: number, signal: AbortSignal) => Promise<void>;
  readonly onError: (error: unknown) => void;
};

/** What was refused, and with what. */
export type RefusedDeed = Deed & { readonly status: number; readonly code: string };

export type Refusals = {
  /** Never fails. */
  note(actor: Actor, deed: RefusedDeed): void;
  /** Stores what is left. */
  stop(): Promise<void>;
};

/** The request is answered first. */
const FIRST_DELAY_MS = 10;
const WRITE_INTERVAL_MS = 1_000;
/** Written one a second, so that none waits longer than the minute within which equal ones are counted up. */
const WAITING_MAX = 50;

/** What waits to be written for one credential. */
type Waiting = Map<string, AuditRecord>;

export function createRefusals({ store, clock, random, pause, onError }: RefusalsDeps): Refusals {
  const waitingByKey = new Map<string, Waiting>();
  const writers = new Set<Promise<void>>();
  const stopping = new AbortController();

  async function write(key: string, waiting: Waiting): Promise<void> {
    await pause(FIRST_DELAY_MS, stopping.signal);
    for (const [name, record] of waiting) {
      waiting.delete(name);
      try {
        await store.noteRefusal(record);
      } catch (error) {
        onError(error);
      }
      await pause(WRITE_INTERVAL_MS, stopping.signal);
    }
    waitingByKey.delete(key);
  }

  return {
    note(actor, deed) {
      const key = JSON.stringify([actor.organizationId, actor.actorKind, actor.actorKeyId]);
      let waiting = waitingByKey.get(key);
      if (waiting === undefined) {
        waiting = new Map();
        waitingByKey.set(key, waiting);
        const writer = write(key, waiting).finally(() => writers.delete(writer));
        writers.add(writer);
      }
      add(waiting, actor, deed);
    },
    async stop() {
      stopping.abort();
      await Promise.all(writers);
    },
  };

  function add(waiting: Waiting, actor: Actor, deed: RefusedDeed): void {
    const name = nameOf(deed);
    const equal = waiting.get(name);
    if (equal) waiting.set(name, { ...equal, count: equal.count + 1 });
    // Who tries one id after the other is counted, and no longer told apart by what was tried.
    else if (waiting.size >= WAITING_MAX && deed.targetId !== null) add(waiting, actor, { ...deed, targetId: null });
    else waiting.set(name, auditRecord(actor, { ...deed, outcome: 'refused' }, { nowMs: clock(), random }));
  }
}

function nameOf({ action, targetId, code }: RefusedDeed): string {
  return JSON.stringify([action, targetId, code]);
}
