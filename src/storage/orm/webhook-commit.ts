/** The part of a management change that is about webhooks. */

import { type EntityManager, LockMode, type RawQueryFragment, raw } from '@mikro-orm/core';
import type { NewReplay } from '../../domain/delivery.ts';
import type { EndpointChange, EndpointRecord, Subscription } from '../../domain/endpoint.ts';
import { type EventMask, maskOfSelectors, NO_EVENTS } from '../../domain/event-type.ts';
import type { ManagementChange } from '../../domain/management.ts';
import { changeSubscriptions, dropPassed } from '../delivery/tables.ts';
import { packEndpoint } from '../rows/endpoint-rows.ts';
import { WebhookChangeCount, WebhookEndpoint, WebhookReplay, WebhookState } from '../tables/endpoints.ts';
import { LogHead } from '../tables/events.ts';
import { Organization } from '../tables/organization.ts';
import { redeliver } from './redeliveries.ts';
import type { HeldEndpoint, StateRow } from './webhooks.ts';

/** Each change of what an endpoint gets is remembered until all before it is delivered. */
const SUBSCRIPTIONS_MAX = 1_000;
export const TOO_OFTEN = new Error('an endpoint has changed more often than can be remembered');
const HELD = { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true } as const;

type Held = ReadonlyMap<number, HeldEndpoint>;

/**
 * False when something is not as it was read; then the transaction must be undone. Comes last in its transaction:
 * whoever appends to the log of the organization waits from here on.
 */
export async function storeWebhooks(tx: EntityManager, change: ManagementChange): Promise<boolean> {
  const { organizationId, endpoints = [], replays = [], redeliveries = [] } = change;
  if (endpoints.length + replays.length + redeliveries.length === 0) return true;
  const held = await holdEndpoints(tx, change);
  const touched = [...replays, ...redeliveries].map(({ endpointNumber }) => endpointNumber);
  if (touched.some((number) => !isOwnOf(held.get(number), organizationId))) return false;
  const changed = pair(endpoints, held);
  if (changed === null) return false;
  for (const redelivery of redeliveries) {
    const endpoint = held.get(redelivery.endpointNumber);
    if (endpoint === undefined || !(await redeliver(tx, redelivery, endpoint))) return false;
  }
  const changeNumber = await nextChange(tx);
  for (const replay of replays) await insertReplay(tx, replay);
  for (const endpointNumber of new Set(touched)) {
    await tx.nativeUpdate(WebhookEndpoint, { number: endpointNumber }, { changeNumber });
  }
  if (changed.length > 0) await storeEndpoints(tx, { organizationId, changed, changeNumber });
  return true;
}

/** The row of the state is the mutex of an endpoint: its own row is read once that is held. */
async function holdEndpoints(tx: EntityManager, change: ManagementChange): Promise<Held> {
  const { organizationId, endpoints = [], replays = [], redeliveries = [] } = change;
  const ids = endpoints.map(({ record }) => record.id);
  const known = await tx.find(WebhookEndpoint, { organizationId, id: { $in: ids } });
  const numbers = [
    ...known.map(({ number }) => number),
    ...[...replays, ...redeliveries].map(({ endpointNumber }) => endpointNumber),
  ];
  const where = { endpointNumber: { $in: numbers } };
  const states = await tx.find(WebhookState, where, { ...HELD, orderBy: { endpointNumber: 'asc' } });
  const rows = await tx.find(WebhookEndpoint, { number: { $in: numbers } }, { refresh: true });
  const stateOf = new Map(states.map((state) => [state.endpointNumber, state]));
  return new Map(
    rows.flatMap((row) => {
      const state = stateOf.get(row.number);
      return state === undefined ? [] : [[row.number, { row, state }] as const];
    }),
  );
}

function isOwnOf(held: HeldEndpoint | undefined, organizationId: string): boolean {
  return held?.row.organizationId === organizationId && held.row.archivedAtMs === null;
}

type Changed = { readonly change: EndpointChange; readonly held: HeldEndpoint | null };

/** Each change with the rows it changes; null when one of them is of another version by now. */
function pair(changes: readonly EndpointChange[], held: Held): readonly Changed[] | null {
  const byId = new Map([...held.values()].map((each) => [each.row.id, each]));
  const pairs = changes.map((change) => ({ change, held: byId.get(change.record.id) ?? null }));
  return pairs.every(({ change, held }) => (held?.row.version ?? 0) === change.expectedVersion) ? pairs : null;
}

async function nextChange(tx: EntityManager): Promise<number> {
  await tx.nativeUpdate(WebhookChangeCount, { id: 1 }, { number: raw<RawQueryFragment>('number + 1') });
  const { number } = await tx.findOneOrFail(WebhookChangeCount, { id: 1 });
  return number;
}

async function insertReplay(tx: EntityManager, replay: NewReplay): Promise<void> {
  const { fromSeq, ...rest } = replay;
  const isEmpty = rest.matched === 0;
  await tx.insert(WebhookReplay, {
    ...rest,
    position: isEmpty ? rest.toSeq : fromSeq - 1,
    enqueued: 0,
    delivered: 0,
    dead: 0,
    status: isEmpty ? 'completed' : 'running',
    completedAtMs: isEmpty ? rest.createdAtMs : null,
  });
}

type StoreEndpoints = {
  readonly organizationId: string;
  readonly changed: readonly Changed[];
  readonly changeNumber: number;
};

async function storeEndpoints(tx: EntityManager, { organizationId, changed, changeNumber }: StoreEndpoints) {
  const { number: organizationNumber } = await tx.findOneOrFail(Organization, { id: organizationId });
  const numbers = new Map<Changed, number>();
  for (const each of changed) {
    const { change, held } = each;
    const row = { ...packEndpoint(change.record), version: change.expectedVersion + 1, changeNumber };
    if (held === null) {
      numbers.set(each, Number(await tx.insert(WebhookEndpoint, { ...row, organizationNumber })));
    } else {
      numbers.set(each, held.row.number);
      await tx.nativeUpdate(WebhookEndpoint, { number: held.row.number }, row);
      await endReplays(tx, held.row.number, change.record.archivedAtMs);
    }
  }
  let headSeq: number | null = null;
  for (const [{ change, held }, endpointNumber] of numbers) {
    const mask = maskOf(change.record);
    const subscriptions = held === null ? [] : subscriptionsOf(held.state);
    // As long as nothing is appended, where the log ends says from where on the new mask holds.
    if (subscriptions.at(-1)?.mask !== mask) headSeq ??= await holdHead(tx, organizationNumber);
    const now = headSeq === null ? subscriptions : limited(changeSubscriptions(subscriptions, headSeq, mask), mask);
    if (held === null) await insertState(tx, { endpointNumber, position: headSeq ?? 0, subscriptions: now });
    else await updateState(tx, { endpointNumber, subscriptions: now, clearsStreak: change.clearsStreak });
  }
}

function maskOf({ status, archivedAtMs, enabledEvents }: EndpointRecord): EventMask {
  return status === 'active' && archivedAtMs === null ? maskOfSelectors(enabledEvents) : NO_EVENTS;
}

function subscriptionsOf({ subscriptionsJson, position }: StateRow): readonly Subscription[] {
  return dropPassed(JSON.parse(subscriptionsJson), position);
}

/** To be silent is never refused: once silent, there is nothing left to silence. */
function limited(subscriptions: readonly Subscription[], mask: EventMask): readonly Subscription[] {
  if (mask !== NO_EVENTS && subscriptions.length > SUBSCRIPTIONS_MAX) throw TOO_OFTEN;
  return subscriptions;
}

/** Where the log of the organization ends. Nobody appends to it before the transaction ends. */
async function holdHead(tx: EntityManager, organizationNumber: number): Promise<number> {
  const empty = { organizationNumber, seq: 0, createdAtMs: 0, lastKeyIndex: 0 };
  await tx.upsert(LogHead, empty, { onConflictFields: ['organizationNumber'], onConflictAction: 'ignore' });
  const { seq } = await tx.findOneOrFail(LogHead, { organizationNumber }, HELD);
  return seq;
}

async function endReplays(tx: EntityManager, endpointNumber: number, archivedAtMs: number | null): Promise<void> {
  if (archivedAtMs === null) return;
  await tx.nativeUpdate(
    WebhookReplay,
    { endpointNumber, status: 'running' },
    { status: 'cancelled', completedAtMs: archivedAtMs },
  );
}

async function insertState(
  tx: EntityManager,
  state: { endpointNumber: number; position: number; subscriptions: readonly Subscription[] },
): Promise<void> {
  const { endpointNumber, position, subscriptions } = state;
  await tx.insert(WebhookState, {
    endpointNumber,
    position,
    subscriptionsJson: JSON.stringify(subscriptions),
    inFlight: 0,
    failingSinceMs: null,
    lastSuccessAtMs: null,
    lastFailureAtMs: null,
    consecutiveFailures: 0,
  });
}

async function updateState(
  tx: EntityManager,
  state: { endpointNumber: number; subscriptions: readonly Subscription[]; clearsStreak: boolean },
): Promise<void> {
  const { endpointNumber, clearsStreak } = state;
  const cleared = clearsStreak ? { failingSinceMs: null, consecutiveFailures: 0 } : {};
  const subscriptionsJson = JSON.stringify(state.subscriptions);
  await tx.nativeUpdate(WebhookState, { endpointNumber }, { subscriptionsJson, ...cleared });
}
