import { expect, it } from 'vitest';
import type { WorkReplay } from '../../src/domain/delivery-rows.ts';
import { applyWork } from '../../src/domain/delivery-work.ts';
import { createWorkSet, type LoadedRows } from '../../src/domain/delivery-work-set.ts';
import { NO_EVENTS } from '../../src/domain/event-type.ts';
import type { Lane } from '../../src/domain/webhook-store.ts';
import { newEndpoint } from '../support/deliveries.ts';

const FRESH_POSITION = 900;
const REPLAY: WorkReplay = {
  number: 7,
  endpointNumber: 1,
  status: 'running',
  position: 40,
  toSeq: 500,
  enqueued: 40,
  delivered: 40,
  dead: 0,
  completedAtMs: null,
};

function rowsWith(replay: WorkReplay): LoadedRows {
  const endpoint = { number: 1, id: 'endpoint', organizationNumber: 1, version: 3, maxInFlight: 4, inFlight: 0 };
  const subscriptionsJson = JSON.stringify([{ fromSeq: 1, mask: NO_EVENTS }]);
  return {
    endpoints: [{ ...newEndpoint(), ...endpoint, position: FRESH_POSITION, subscriptionsJson }],
    deliveries: [],
    replays: [replay],
    contents: new Map(),
    attempts: new Map(),
    numbers: [],
  };
}

/** Where a lane stands, as one is told who believes that it is at the beginning. */
function positionTold(lane: Lane, replay = REPLAY): number | null {
  const cut = { kind: 'cut', endpointNumber: 1, version: 3, lane, fromPosition: 0, toPosition: 10 } as const;
  const work = [{ ...cut, batches: [], leaseMs: 30_000 }];
  const [outcome] = applyWork(createWorkSet(rowsWith(replay)), work, { nowMs: 1, attemptsPerHourMax: null });
  expect(outcome).toMatchObject({ kind: 'refused', reason: 'moved' });
  return outcome?.kind === 'refused' ? (outcome.place?.position ?? null) : null;
}

it('whoever wanted to cut a lane that stands elsewhere is told where that lane is, and not where another one is', () => {
  expect(positionTold({ kind: 'fresh' })).toBe(FRESH_POSITION);
  expect(positionTold({ kind: 'replay', number: 7 })).toBe(40);
});

it('a replay that is over has nothing left before it', () => {
  const told = positionTold({ kind: 'replay', number: 7 }, { ...REPLAY, status: 'cancelled' });
  expect(told).toBeGreaterThanOrEqual(REPLAY.toSeq);
});
