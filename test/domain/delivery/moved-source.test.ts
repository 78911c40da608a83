import { expect, it } from 'vitest';
import type { ReplayRow } from '../../../src/domain/delivery/delivery-rows.ts';
import { applyWork } from '../../../src/domain/delivery/delivery-work.ts';
import { createLoadedRows, type RowsRead } from '../../../src/domain/delivery/loaded-rows.ts';
import type { DeliverySource } from '../../../src/domain/delivery/webhook-store.ts';
import { NO_EVENTS } from '../../../src/domain/events/event-type.ts';
import { newEndpoint } from '../../support/deliveries.ts';

const FRESH_POSITION = 900;
const REPLAY: ReplayRow = {
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

function rowsWith(replay: ReplayRow): RowsRead {
  const endpoint = { number: 1, id: 'endpoint', organizationNumber: 1, version: 3, maxInFlight: 4, inFlight: 0 };
  const subscriptionsJson = JSON.stringify([{ fromSeq: 1, mask: NO_EVENTS }]);
  return {
    endpoints: [{ ...newEndpoint(), ...endpoint, position: FRESH_POSITION, subscriptionsJson }],
    deliveries: [],
    replays: [replay],
    contents: new Map(),
    attempts: new Map(),
    dispatchIds: [],
    numbers: [],
  };
}

/** The position of a source in the refusal of an item that expected it at the beginning. */
function reportedPosition(source: DeliverySource, replay = REPLAY): number | null {
  const cut = { kind: 'advance', endpointNumber: 1, version: 3, source, fromPosition: 0, toPosition: 10 } as const;
  const work = [{ ...cut, batches: [], leaseMs: 30_000 }];
  const [outcome] = applyWork(createLoadedRows(rowsWith(replay)), work, { nowMs: 1, attemptsPerHourMax: null });
  expect(outcome).toMatchObject({ kind: 'refused', reason: 'moved' });
  return outcome?.kind === 'refused' ? (outcome.snapshot?.position ?? null) : null;
}

it('an advance from a wrong position is refused with the position of its own source, not of another one', () => {
  expect(reportedPosition({ kind: 'live' })).toBe(FRESH_POSITION);
  expect(reportedPosition({ kind: 'replay', number: 7 })).toBe(40);
});

it('a replay that has ended has its position at its end', () => {
  const position = reportedPosition({ kind: 'replay', number: 7 }, { ...REPLAY, status: 'cancelled' });
  expect(position).toBeGreaterThanOrEqual(REPLAY.toSeq);
});
