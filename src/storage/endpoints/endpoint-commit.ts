/** Commits the part of a management change that concerns webhooks. */

import type { DeliveryState, NewReplay } from '../../domain/delivery/delivery.ts';
import type { EndpointRow } from '../../domain/delivery/delivery-rows.ts';
import { stepDelivery } from '../../domain/delivery/delivery-step.ts';
import type { Redelivery } from '../../domain/delivery/webhook-store.ts';
import type { EndpointChange, EndpointRecord, Subscription } from '../../domain/endpoints/endpoint.ts';
import { changeSubscriptions, dropPassed, maskOf } from '../../domain/endpoints/subscriptions.ts';
import { type EventMask, NO_EVENTS } from '../../domain/events/event-type.ts';
import type { ManagementChange } from '../../domain/management/management.ts';
import { newHead } from '../delivery/work-rows.ts';
import type { Row, Transaction } from '../queries.ts';

/** Each change of subscriptions is kept until all events before it are delivered. */
const SUBSCRIPTIONS_MAX = 1_000;
export const TOO_OFTEN = new Error('an endpoint has changed more often than can be remembered');
export const NOT_AS_READ = new Error('an endpoint or a delivery is not as it was read');
const REDELIVERABLE: ReadonlySet<DeliveryState['status']> = new Set(['retrying', 'dead', 'delivered']);
const NEW_STATE = {
  inFlight: 0,
  failingSinceMs: null,
  lastSuccessAtMs: null,
  lastFailureAtMs: null,
  consecutiveFailures: 0,
};

type Commit = {
  readonly tx: Transaction;
  readonly organizationId: string;
  readonly organizationNumber: number;
};

/** Endpoints that this transaction has locked, by number. */
type Locked = ReadonlyMap<number, EndpointRow>;

/** `locked` is null for a new endpoint. */
type Changed = { readonly change: EndpointChange; readonly locked: EndpointRow | null };

/**
 * Throws when a row has changed since it was read. Comes last in its transaction, because from here on appends to the
 * log of the organization wait.
 */
export async function storeWebhooks(tx: Transaction, change: ManagementChange): Promise<void> {
  const { organizationId, endpoints = [], replays = [], redeliveries = [] } = change;
  if (endpoints.length + replays.length + redeliveries.length === 0) return;
  const { countChange } = tx.queries.endpointsChanges;
  const { findOrganizationNumber, insertReplay, markChanged } = tx.queries.endpointsChanges;
  const [organization] = await tx.runQuery(findOrganizationNumber, { id: organizationId });
  if (organization === undefined) throw NOT_AS_READ;
  const commit = { tx, organizationId, organizationNumber: organization.number };
  const touched = [...new Set([...replays, ...redeliveries].map(({ endpointNumber }) => endpointNumber))];
  const locked = await lockEndpoints(commit, touched, endpoints);
  for (const number of touched) {
    const endpoint = locked.get(number);
    if (endpoint?.organizationNumber !== organization.number || endpoint.isArchived) throw NOT_AS_READ;
  }
  const changed = endpoints.map((each) => pair(each, locked));
  for (const redelivery of redeliveries) await redeliver(commit, redelivery, locked.get(redelivery.endpointNumber));
  await tx.change(countChange, {});
  const [{ change: changeNumber } = { change: 0 }] = await tx.runQuery(tx.queries.endpoints.findChange, {});
  for (const replay of replays) await tx.change(insertReplay, packReplay(replay));
  for (const number of touched) await tx.change(markChanged, { number, changeNumber });
  if (changed.length > 0) await storeEndpoints(commit, changed, changeNumber);
}

async function lockEndpoints(commit: Commit, touched: readonly number[], changes: readonly EndpointChange[]) {
  const { tx } = commit;
  const numbers = new Set(touched);
  for (const { record } of changes) for (const number of await findNumbers(commit, record.id)) numbers.add(number);
  const locked = new Map<number, EndpointRow>();
  // All transactions lock endpoints in this order. The row of the state is the mutex of an endpoint.
  for (const number of [...numbers].toSorted((one, other) => one - other)) {
    const states = await tx.runQuery(tx.queries.endpointsWork.lockStates, { numbers: [number] });
    const [endpoint] = await tx.runQuery(tx.queries.endpointsWork.listEndpointRows, { numbers: [number] });
    if (states.length > 0 && endpoint !== undefined) locked.set(number, endpoint);
  }
  return locked;
}

async function findNumbers({ tx, organizationId }: Commit, id: string): Promise<readonly number[]> {
  return (await tx.runQuery(tx.queries.endpointsChanges.findNumber, { organizationId, id })).map(
    ({ number }) => number,
  );
}

function pair(change: EndpointChange, known: Locked): Changed {
  const locked = [...known.values()].find(({ id }) => id === change.record.id) ?? null;
  if ((locked?.version ?? 0) !== change.expectedVersion) throw NOT_AS_READ;
  return { change, locked };
}

async function redeliver({ tx }: Commit, redelivery: Redelivery, locked?: EndpointRow): Promise<void> {
  const { endpointNumber, number, fence, atMs } = redelivery;
  const [before] = await tx.runQuery(tx.queries.endpointsWork.listDeliveryRows, { numbers: [number] });
  const isAsRead = before?.endpointNumber === endpointNumber && before.fence === fence && !before.test;
  if (!isAsRead || locked === undefined || !REDELIVERABLE.has(before.status)) throw NOT_AS_READ;
  const { delivery } = stepDelivery(before, locked, { kind: 'redeliver' }, { nowMs: atMs, random: () => 0 });
  tx.changeRows(tx.queries.endpointsChanges.updateDeliveries, [{ ...before, ...delivery }]);
}

function packReplay({ fromSeq, ...rest }: NewReplay): Row<'WebhookReplay'> {
  const isEmpty = rest.matched === 0;
  return {
    ...rest,
    position: isEmpty ? rest.toSeq : fromSeq - 1,
    enqueued: 0,
    delivered: 0,
    dead: 0,
    status: isEmpty ? 'completed' : 'running',
    completedAtMs: isEmpty ? rest.createdAtMs : null,
  };
}

async function storeEndpoints(commit: Commit, changed: readonly Changed[], changeNumber: number): Promise<void> {
  const { tx, organizationNumber } = commit;
  const { cancelReplays, insertEndpoint, insertState, updateEndpoint } = tx.queries.endpointsChanges;
  for (const { change, locked } of changed) {
    const row = { ...packEndpoint(change.record), version: change.expectedVersion + 1, changeNumber };
    if (locked === null) await tx.change(insertEndpoint, { ...row, organizationNumber });
    else await tx.change(updateEndpoint, { ...row, number: locked.number });
  }
  let headSeq: number | null = null;
  for (const { change, locked } of changed) {
    const { archivedAtMs, id } = change.record;
    const mask = maskOf(change.record);
    const before = locked === null ? [] : dropPassed(JSON.parse(locked.subscriptionsJson), locked.position);
    // While the head of the log is locked, nothing is appended, so the new mask applies from the next position on.
    if (before.at(-1)?.mask !== mask) headSeq ??= await lockHead(commit);
    const now = headSeq === null ? before : limited(changeSubscriptions(before, headSeq, mask), mask);
    const subscriptionsJson = JSON.stringify(now);
    if (locked === null) {
      const state = { ...NEW_STATE, position: headSeq ?? 0, subscriptionsJson };
      for (const endpointNumber of await findNumbers(commit, id))
        await tx.change(insertState, { ...state, endpointNumber });
      continue;
    }
    const streak = change.clearsStreak ? { failingSinceMs: null, consecutiveFailures: 0 } : {};
    tx.changeRows(tx.queries.endpointsChanges.updateStates, [{ ...locked, subscriptionsJson, ...streak }]);
    if (archivedAtMs === null) continue;
    await tx.change(cancelReplays, { endpointNumber: locked.number, completedAtMs: archivedAtMs });
  }
}

/** The secret of a queue has a column of its own. */
function packEndpoint({ sqs, ...rest }: EndpointRecord) {
  return { ...rest, sqs: sqs && { ...sqs, secretAccessKey: null }, sqsSecret: sqs?.secretAccessKey ?? null };
}

/** Changes to no events at all are never refused, because they end the list of changes. */
function limited(subscriptions: readonly Subscription[], mask: EventMask): readonly Subscription[] {
  if (mask !== NO_EVENTS && subscriptions.length > SUBSCRIPTIONS_MAX) throw TOO_OFTEN;
  return subscriptions;
}

/** Locks the head of the organization's log until the transaction ends. */
async function lockHead({ tx, organizationNumber }: Commit): Promise<number> {
  const { lockHeads, insertHeads } = tx.queries.endpointsChanges;
  tx.changeRows(insertHeads, [newHead(organizationNumber)]);
  const [{ seq } = { seq: 0 }] = await tx.runQuery(lockHeads, { numbers: [organizationNumber] });
  return seq;
}
