/** Turns what a lane has found into the work of a claim. */

import type { RandomBytes } from '../domain/clock.ts';
import { newId } from '../domain/ids.ts';
import type { LogEntry, NewBatch, Work } from '../domain/webhook-store.ts';
import { dispatchIdOf } from './batch.ts';
import type { Entry } from './entry.ts';
import { takePending } from './lane-cursor.ts';
import type { Next } from './next-work.ts';

/** While it lasts nobody else sends the delivery. */
export const LEASE_MS = 30_000;

export type Claim = {
  readonly work: Work;
  /** What the delivery that is sent at once holds; null where that has to be read. */
  readonly entries: readonly LogEntry[] | null;
  /** Whether it needs a slot. */
  readonly sends: boolean;
  /** Whether more deliveries come of it, which wait. */
  readonly waits: boolean;
};

/** How a batch must be divided for its destination; one part where it need not be. */
export type Split = (batch: { readonly dispatchId: string; readonly entries: readonly LogEntry[] }) => readonly Part[];

export type Part =
  | { readonly kind: 'message'; readonly dispatchId: string; readonly entries: readonly LogEntry[] }
  | {
      readonly kind: 'too_large';
      readonly dispatchId: string;
      readonly entries: readonly LogEntry[];
      readonly error: string;
    };

export type ClaimDeps = { readonly random: RandomBytes; readonly split: Split };

export function createClaims({ random, split }: ClaimDeps) {
  const attemptId = () => newId('webhookattempt', random);

  function cut(entry: Entry, next: Exclude<Next, { kind: 'waiting' }>): Claim {
    const { endpoint } = entry;
    const { cursor } = next;
    const fromPosition = cursor.position;
    const { taken, toPosition } = takePending(cursor, endpoint.maxBatchSize);
    cursor.position = toPosition;
    const replayId = next.kind === 'replay' ? next.lane.replay.id : null;
    const parts = taken.length === 0 ? [] : partsOf(endpoint, taken, replayId);
    const sent = parts.find((part) => part.kind === 'message');
    return {
      work: {
        kind: 'cut',
        endpointNumber: endpoint.number,
        version: endpoint.version,
        lane: next.kind === 'replay' ? { kind: 'replay', number: next.lane.replay.number } : { kind: 'fresh' },
        fromPosition,
        toPosition,
        batches: parts.map((part) => toBatch(part, part === sent)),
        leaseMs: LEASE_MS,
      },
      entries: sent?.entries ?? null,
      sends: sent !== undefined,
      waits: parts.some((part) => part.kind === 'message' && part !== sent),
    };
  }

  function partsOf(endpoint: Entry['endpoint'], entries: readonly LogEntry[], replayId: string | null) {
    const ids = entries.map(({ id }) => id);
    const dispatchId = dispatchIdOf(endpoint.id, ids, replayId);
    if (endpoint.destinationKind === 'http') return [{ kind: 'message', dispatchId, entries }] as const;
    return split({ dispatchId, entries });
  }

  function toBatch(part: Part, isSent: boolean): NewBatch {
    const { dispatchId, entries } = part;
    const [first] = entries;
    const last = entries.at(-1);
    if (first === undefined || last === undefined) throw new Error('a batch without events is cut');
    return {
      dispatchId,
      attemptId: attemptId(),
      seqs: entries.map(({ seq }) => seq),
      eventIds: entries.map(({ id }) => id),
      created: { firstMs: first.createdAtMs, lastMs: last.createdAtMs },
      fate: part.kind === 'too_large' ? 'too_large' : isSent ? 'send' : 'wait',
      error: part.kind === 'too_large' ? part.error : null,
    };
  }

  /** Also moves the lane on, as if the work were done. */
  return (entry: Entry, next: Next): Claim => {
    if (next.kind !== 'waiting') return cut(entry, next);
    const { number, fence } = next.delivery;
    const { endpoint } = entry;
    return {
      work: {
        kind: 'take',
        endpointNumber: endpoint.number,
        version: endpoint.version,
        number,
        fence,
        attemptId: attemptId(),
        leaseMs: LEASE_MS,
      },
      entries: null,
      sends: true,
      waits: false,
    };
  };
}

export type PrepareClaim = ReturnType<typeof createClaims>;
