/**
 * Housekeeping of deliveries: a walk over the endpoints, some at a time, and then over what has ended. Several processes
 * may be at it; what somebody else has in hand is left to the next walk.
 */

import type { DeliveryStore, SweepQuestion, Swept } from '../../domain/webhook-store.ts';
import { applyHousework, type Housework } from '../delivery/housework.ts';
import { BUCKET_MS, HOUR_MS } from '../delivery/tables.ts';
import { createWorkSet } from '../delivery/work-set.ts';
import type { Lane } from './connection.ts';
import { writeChanges } from './delivery-apply.ts';
import {
  CLEAR,
  DROP_ENDED,
  DROP_HOURS,
  FIND_ENDPOINTS,
  FIND_HOUSEWORK,
  type FoundPiece,
  giveUpBeforeMs,
} from './delivery-sweep-statements.ts';
import { readTables } from './delivery-tables.ts';
import { inTransaction } from './transaction.ts';
import { endLostTests } from './webhook-tests.ts';

export type SweepDeps = {
  readonly lane: Lane;
  /** Called after a commit that disabled endpoints. */
  readonly notify: () => void;
};

/** Where a step ends: whether more is left of what it looked at, and what it disabled and expired. */
type StepEnd = Omit<Swept, 'more'> & { readonly isFull: boolean };

/** Figures are told of the last hour. */
const FIGURES_KEPT_MS = 2 * HOUR_MS;

export function createSweep({ lane, notify }: SweepDeps): DeliveryStore['sweep'] {
  /** Endpoints up to this number have been looked after; null: all have. */
  let afterEndpoint: number | null = 0;

  return async (question) => {
    if (afterEndpoint === null) {
      const isFull = await sweepEnded(lane, question);
      if (!isFull) afterEndpoint = 0;
      return { more: isFull, disabled: [], expired: 0 };
    }
    const numbers = await findEndpoints(lane, afterEndpoint, question.rowsMax);
    const { isFull, disabled, expired } = await sweepEndpoints(lane, numbers, question);
    if (!isFull) afterEndpoint = numbers.length < question.rowsMax ? null : (numbers.at(-1) ?? null);
    if (disabled.length > 0) notify();
    return { more: true, disabled, expired };
  };
}

async function findEndpoints(lane: Lane, after: number, countMax: number): Promise<readonly number[]> {
  const rows = await lane.ask<{ number: number }>(FIND_ENDPOINTS, [after, countMax]);
  return rows.map(({ number }) => number);
}

async function sweepEndpoints(lane: Lane, numbers: readonly number[], question: SweepQuestion): Promise<StepEnd> {
  const { nowMs, endedBeforeMs, eventsBeforeMs, rowsMax } = question;
  const found = await lane.ask<FoundPiece>(FIND_HOUSEWORK, [
    numbers,
    giveUpBeforeMs(nowMs),
    nowMs,
    eventsBeforeMs,
    rowsMax,
  ]);
  const { done, ...ended } = await doHousework(lane, found, nowMs);
  // What others have in hand may stay so for a while.
  if (found.length === rowsMax && done > 0) return { isFull: true, ...ended };
  const bounds = {
    attempts: endedBeforeMs,
    figures: Math.floor((nowMs - FIGURES_KEPT_MS) / BUCKET_MS),
    replays: endedBeforeMs,
  };
  let left = rowsMax;
  for (const kind of ['attempts', 'figures', 'replays'] as const) {
    if (left > 0) left -= (await lane.ask(CLEAR[kind], [numbers, bounds[kind], left])).length;
  }
  return { isFull: left === 0, ...ended };
}

type Done = Omit<Swept, 'more'> & { readonly done: number };

async function doHousework(lane: Lane, found: readonly FoundPiece[], nowMs: number): Promise<Done> {
  if (found.length === 0) return { done: 0, disabled: [], expired: 0 };
  const names = {
    endpoints: [...new Set(found.map(({ endpointNumber }) => endpointNumber))],
    deliveries: found.flatMap(({ deliveryNumber }) => (deliveryNumber === null ? [] : [deliveryNumber])),
    taken: [],
    replays: [],
    batches: 0,
    hour: null,
  };
  return await inTransaction(lane, async (transaction) => {
    const { tables, endpoints } = await readTables(transaction, names, 'idle');
    const held = found.filter(({ endpointNumber }) => endpoints.has(endpointNumber));
    const set = createWorkSet(tables);
    const expired = applyHousework(set, held.map(toHousework), nowMs);
    const changes = set.changes();
    await writeChanges(transaction, changes, endpoints);
    const disabled = new Set(changes.disabled.map(({ number }) => number));
    const told = held.filter(({ kind, endpointNumber }) => kind === 'give_up' && disabled.has(endpointNumber));
    return { done: held.length, disabled: told.map(({ endpointId }) => endpointId), expired };
  });
}

function toHousework({ kind, endpointNumber, deliveryNumber }: FoundPiece): Housework {
  if (kind === 'give_up') return { kind, endpointNumber };
  if (deliveryNumber === null) throw new Error('a delivery is to be ended that has no number');
  return { kind, deliveryNumber };
}

/** Answers whether there may be more of it. */
async function sweepEnded(lane: Lane, { nowMs, endedBeforeMs, rowsMax }: SweepQuestion): Promise<boolean> {
  const tests = await endLostTests(lane, nowMs, rowsMax);
  const left = rowsMax - tests;
  const ended = left > 0 ? (await lane.ask(DROP_ENDED, [endedBeforeMs, left])).length : 0;
  await lane.ask(DROP_HOURS, [Math.floor(nowMs / HOUR_MS) - 1]);
  return tests + ended === rowsMax;
}
