/** The state of a dispatcher with endpoints and a log in memory, for tests of its claims. */

import { createClaims, nextClaim } from '../../src/delivery/claims.ts';
import { createDispatchState, type DispatchState, type StartedClaim } from '../../src/delivery/dispatch-state.ts';
import { type DispatchEvent, stepDispatch } from '../../src/delivery/dispatch-step.ts';
import type { LogPages } from '../../src/delivery/log-pages.ts';
import { splitBatch } from '../../src/delivery/queue-message.ts';
import type {
  ClaimedDelivery,
  DispatchEndpoint,
  EndpointSnapshot,
  LogEntry,
  WorkOutcome,
} from '../../src/domain/delivery/webhook-store.ts';
import { ALL_EVENTS } from '../../src/domain/events/event-type.ts';

const TYPE = 'gateway.request.completed';

export type DispatchingOptions = {
  readonly endpoints: readonly DispatchEndpoint[];
  /** The last position of the log of each organization. */
  readonly headSeq?: number;
  readonly concurrency?: number;
  readonly entryOf?: (seq: number) => Partial<LogEntry>;
  readonly nowMs?: number;
};

export type Dispatching = {
  readonly state: DispatchState;
  /** What `nowMs` returns from now on. */
  time: { nowMs: number };
  step(event: DispatchEvent): void;
  /** Claims until no slot can be used. */
  claimAll(): readonly StartedClaim[];
  /** The store grants the claim. */
  grant(start: StartedClaim): void;
  /** The receiver accepts the attempt of a granted claim, and the store has the result. */
  accept(start: StartedClaim): void;
};

export function startDispatching(options: DispatchingOptions): Dispatching {
  const { endpoints, headSeq = 0, concurrency = 4, entryOf = () => ({}), nowMs = 1_000 } = options;
  const time = { nowMs };
  const state = createDispatchState(concurrency);
  const prepare = createClaims({ random: (count) => Buffer.alloc(count, 7), split: splitBatch });
  const deps = {
    pages: pagesOf(entryOf),
    prepare,
    isFull: () => false,
    nowMs: () => time.nowMs,
    retentionNowMs: () => time.nowMs,
  };
  const step = (event: DispatchEvent) => void stepDispatch(state, event, time.nowMs);
  step({ kind: 'endpoints', endpoints });
  const organizations = new Set(endpoints.map(({ organizationNumber }) => organizationNumber));
  step({
    kind: 'heads',
    heads: [...organizations].map((organizationNumber) => ({ organizationNumber, seq: headSeq })),
  });
  return {
    state,
    time,
    step,
    claimAll() {
      const claims: StartedClaim[] = [];
      for (let start = nextClaim(state, deps); start !== null; start = nextClaim(state, deps)) claims.push(start);
      return claims;
    },
    grant: (start) => step({ kind: 'claim_ended', start, outcome: grantOf(start) }),
    accept(start) {
      const snapshot = snapshotOf(start);
      const recorded = { outcome: 'success', nextAtMs: null, disabled: null, deadReason: null } as const;
      const outcome: WorkOutcome = { kind: 'recorded', ...recorded, snapshot };
      step({ kind: 'attempt_ended', start, outcome, wasReached: true });
    },
  };
}

function grantOf(start: StartedClaim): WorkOutcome {
  const { item, entries } = start.claim;
  const seqs = entries?.map(({ seq }) => seq) ?? [];
  const claimed: ClaimedDelivery = {
    ...{ number: 1, fence: 1, attempt: 1, replay: false, seqs, created: { firstMs: 0, lastMs: 0 } },
    dispatchId: item.kind === 'advance' ? (item.batches[0]?.dispatchId ?? '') : 'waiting',
  };
  return { kind: 'claimed', claimed: start.claim.sends ? claimed : null, snapshot: snapshotOf(start) };
}

function snapshotOf({ state: { endpoint, live } }: StartedClaim): EndpointSnapshot {
  const { version, consecutiveFailures } = endpoint;
  return { version, consecutiveFailures, isActive: true, position: live.position, inFlight: 0 };
}

/** A log with an event at every position. */
function pagesOf(entryOf: (seq: number) => Partial<LogEntry>): Pick<LogPages, 'find'> {
  const known = new Map<number, LogEntry>();
  const read = (seq: number) => {
    const entry = known.get(seq) ?? {
      ...{ seq, id: `event-${seq}`, type: TYPE, createdAtMs: 0, envelope: '{}' },
      ...entryOf(seq),
    };
    known.set(seq, entry);
    return entry;
  };
  return {
    find: (_organizationNumber, seq, headSeq) => ({
      entries: Array.from({ length: headSeq - seq + 1 }, (_, index) => read(seq + index)),
      coveredTo: headSeq,
      types: ALL_EVENTS,
    }),
  };
}
