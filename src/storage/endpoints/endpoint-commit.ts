/** The part of a management change that is about webhooks. */

import type { DeliveryState, NewReplay } from '../../domain/delivery.ts';
import type { WorkEndpoint } from '../../domain/delivery-rows.ts';
import { stepDelivery } from '../../domain/delivery-step.ts';
import type { EndpointChange, Subscription } from '../../domain/endpoint.ts';
import { type EventMask, NO_EVENTS } from '../../domain/event-type.ts';
import type { ManagementChange } from '../../domain/management.ts';
import { changeSubscriptions, dropPassed, maskOf } from '../../domain/subscriptions.ts';
import type { Redelivery } from '../../domain/webhook-store.ts';
import type { Changing, Row } from '../questions.ts';
import { packEndpoint } from '../rows/endpoint-rows.ts';

/** Each change of what an endpoint gets is remembered until all before it is delivered. */
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
  readonly tx: Changing;
  readonly organizationId: string;
  readonly organizationNumber: number;
};

/** Endpoints that nobody else changes until the transaction ends, by their numbers. */
type Held = ReadonlyMap<number, WorkEndpoint>;

/** `held` is null for an endpoint that is new. */
type Changed = { readonly change: EndpointChange; readonly held: WorkEndpoint | null };

/**
 * Throws when something is not as it was read. Comes last in its transaction: whoever appends to the log of the
 * organization waits from here on.
 */
export async function storeWebhooks(tx: Changing, change: ManagementChange): Promise<void> {
  const { organizationId, endpoints = [], replays = [], redeliveries = [] } = change;
  if (endpoints.length + replays.length + redeliveries.length === 0) return;
  const { countChange } = tx.questions.endpointsChanges;
  const { findOrganizationNumber, insertReplay, markChanged } = tx.questions.endpointsChanges;
  const [organization] = await tx.ask(findOrganizationNumber, { id: organizationId });
  if (organization === undefined) throw NOT_AS_READ;
  const commit = { tx, organizationId, organizationNumber: organization.number };
  const touched = [...new Set([...replays, ...redeliveries].map(({ endpointNumber }) => endpointNumber))];
  const held = await holdEndpoints(commit, touched, endpoints);
  for (const number of touched) {
    const endpoint = held.get(number);
    if (endpoint?.organizationNumber !== organization.number || endpoint.isArchived) throw NOT_AS_READ;
  }
  const changed = endpoints.map((each) => pair(each, held));
  for (const redelivery of redeliveries) await redeliver(commit, redelivery, held.get(redelivery.endpointNumber));
  await tx.change(countChange, {});
  const [{ change: changeNumber } = { change: 0 }] = await tx.ask(tx.questions.endpoints.findChange, {});
  for (const replay of replays) await tx.change(insertReplay, packReplay(replay));
  for (const number of touched) await tx.change(markChanged, { number, changeNumber });
  if (changed.length > 0) await storeEndpoints(commit, changed, changeNumber);
}

async function holdEndpoints(commit: Commit, touched: readonly number[], changes: readonly EndpointChange[]) {
  const { tx } = commit;
  const numbers = new Set(touched);
  for (const { record } of changes) for (const number of await findNumbers(commit, record.id)) numbers.add(number);
  const held = new Map<number, WorkEndpoint>();
  // Everybody takes them in this order. The row of the state is the mutex of an endpoint.
  for (const number of [...numbers].toSorted((one, other) => one - other)) {
    const states = await tx.ask(tx.questions.endpointsWork.holdStates, { numbers: [number] });
    const [endpoint] = await tx.ask(tx.questions.endpointsWork.listWorkEndpoints, { numbers: [number] });
    if (states.length > 0 && endpoint !== undefined) held.set(number, endpoint);
  }
  return held;
}

async function findNumbers({ tx, organizationId }: Commit, id: string): Promise<readonly number[]> {
  return (await tx.ask(tx.questions.endpointsChanges.findNumber, { organizationId, id })).map(({ number }) => number);
}

function pair(change: EndpointChange, known: Held): Changed {
  const held = [...known.values()].find(({ id }) => id === change.record.id) ?? null;
  if ((held?.version ?? 0) !== change.expectedVersion) throw NOT_AS_READ;
  return { change, held };
}

async function redeliver({ tx }: Commit, asked: Redelivery, held?: WorkEndpoint): Promise<void> {
  const { endpointNumber, number, fence, atMs } = asked;
  const [before] = await tx.ask(tx.questions.endpointsWork.listWorkDeliveries, { numbers: [number] });
  const isAsRead = before?.endpointNumber === endpointNumber && before.fence === fence && !before.test;
  if (!isAsRead || held === undefined || !REDELIVERABLE.has(before.status)) throw NOT_AS_READ;
  const { delivery } = stepDelivery(before, held, { kind: 'redeliver' }, { nowMs: atMs, random: () => 0 });
  tx.changeRows(tx.questions.endpointsChanges.updateDeliveries, [{ ...before, ...delivery }]);
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
  const { cancelReplays, insertEndpoint, insertState, updateEndpoint } = tx.questions.endpointsChanges;
  for (const { change, held } of changed) {
    const row = { ...packEndpoint(change.record), version: change.expectedVersion + 1, changeNumber };
    if (held === null) await tx.change(insertEndpoint, { ...row, organizationNumber });
    else await tx.change(updateEndpoint, { ...row, number: held.number });
  }
  let headSeq: number | null = null;
  for (const { change, held } of changed) {
    const { archivedAtMs, id } = change.record;
    const mask = maskOf(change.record);
    const before = held === null ? [] : dropPassed(JSON.parse(held.subscriptionsJson), held.position);
    // As long as nothing is appended, where the log ends says from where on the new mask holds.
    if (before.at(-1)?.mask !== mask) headSeq ??= await holdHead(commit);
    const now = headSeq === null ? before : limited(changeSubscriptions(before, headSeq, mask), mask);
    const subscriptionsJson = JSON.stringify(now);
    if (held === null) {
      const state = { ...NEW_STATE, position: headSeq ?? 0, subscriptionsJson };
      for (const endpointNumber of await findNumbers(commit, id))
        await tx.change(insertState, { ...state, endpointNumber });
      continue;
    }
    const streak = change.clearsStreak ? { failingSinceMs: null, consecutiveFailures: 0 } : {};
    tx.changeRows(tx.questions.endpointsChanges.updateStates, [{ ...held, subscriptionsJson, ...streak }]);
    if (archivedAtMs === null) continue;
    await tx.change(cancelReplays, { endpointNumber: held.number, completedAtMs: archivedAtMs });
  }
}

/** To be silent is never refused: once silent, there is nothing left to silence. */
function limited(subscriptions: readonly Subscription[], mask: EventMask): readonly Subscription[] {
  if (mask !== NO_EVENTS && subscriptions.length > SUBSCRIPTIONS_MAX) throw TOO_OFTEN;
  return subscriptions;
}

/** Where the log of the organization ends. Nobody appends to it before the transaction ends. */
async function holdHead({ tx, organizationNumber }: Commit): Promise<number> {
  const { holdHeads, insertHeads } = tx.questions.endpointsChanges;
  tx.changeRows(insertHeads, [{ organizationNumber }]);
  const [{ seq } = { seq: 0 }] = await tx.ask(holdHeads, { numbers: [organizationNumber] });
  return seq;
}
