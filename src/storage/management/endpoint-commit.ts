/** Commits the part of a management change that concerns webhooks. */

import { type InferEntity, LockMode } from '@mikro-orm/core';
import type { DeliveryState, NewReplay } from '../../domain/delivery/delivery.ts';
import { stepDelivery } from '../../domain/delivery/delivery-step.ts';
import type { Redelivery } from '../../domain/delivery/webhook-store.ts';
import type { EndpointChange, EndpointRecord, Subscription } from '../../domain/endpoints/endpoint.ts';
import { changeSubscriptions, dropPassed, maskOf } from '../../domain/endpoints/subscriptions.ts';
import { type EventMask, NO_EVENTS } from '../../domain/events/event-type.ts';
import type { ManagementChange } from '../../domain/management/management.ts';
import { WebhookDelivery, WebhookEndpoint, WebhookReplay, WebhookState } from '../entities/endpoints.ts';
import { Organization } from '../entities/organization.ts';
import type { EntityManager } from '../mapper.ts';
import { RUNNING } from './endpoints.ts';
import { lockHead } from './log-events.ts';
import { kyselyOf, plain } from './units.ts';

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
  readonly em: EntityManager;
  readonly organizationId: string;
  readonly organizationNumber: number;
};

/** An endpoint that this transaction has locked. */
type Locked = {
  readonly endpoint: InferEntity<typeof WebhookEndpoint>;
  readonly state: InferEntity<typeof WebhookState>;
};

/** `locked` is null for a new endpoint. */
type Changed = { readonly change: EndpointChange; readonly locked: Locked | null };

/**
 * Throws when a row has changed since it was read. Comes last in its transaction, because from here on appends to the
 * log of the organization wait.
 */
export async function storeWebhooks(em: EntityManager, change: ManagementChange): Promise<void> {
  const { organizationId, endpoints = [], replays = [], redeliveries = [] } = change;
  if (endpoints.length + replays.length + redeliveries.length === 0) return;
  const organization = await em.findOne(Organization, { id: organizationId }, { fields: ['number'] });
  if (organization === null) throw NOT_AS_READ;
  const commit = { em, organizationId, organizationNumber: organization.number };
  const touched = [...new Set([...replays, ...redeliveries].map(({ endpointNumber }) => endpointNumber))];
  const locked = await lockEndpoints(commit, touched, endpoints);
  for (const number of touched) {
    const { endpoint } = locked.get(number) ?? {};
    if (endpoint?.organizationNumber !== organization.number || endpoint.archivedAtMs !== null) throw NOT_AS_READ;
  }
  const changed = endpoints.map((each) => pair(each, locked));
  for (const redelivery of redeliveries) await redeliver(commit, redelivery, locked.get(redelivery.endpointNumber));
  await em.flush();
  const changeNumber = await countChange(em);
  for (const replay of replays) em.create(WebhookReplay, packReplay(replay));
  for (const { endpoint } of locked.values()) endpoint.changeNumber = changeNumber;
  await storeEndpoints(commit, changed, changeNumber);
}

async function lockEndpoints(
  { em, organizationId }: Commit,
  touched: readonly number[],
  changes: readonly EndpointChange[],
): Promise<ReadonlyMap<number, Locked>> {
  const ids = changes.map(({ record }) => record.id);
  const named = { organizationId, id: { $in: ids } };
  const known =
    ids.length === 0 ? [] : await em.find(WebhookEndpoint, named, { fields: ['number'], disableIdentityMap: true });
  const numbers = [...new Set([...touched, ...known.map(({ number }) => number)])];
  if (numbers.length === 0) return new Map();
  // All transactions lock endpoints in this order. The row of the state is the mutex of an endpoint.
  const lock = { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { endpointNumber: 'asc' } } as const;
  const states = await em.find(WebhookState, { endpointNumber: { $in: numbers } }, lock);
  const endpoints = await em.find(WebhookEndpoint, { number: { $in: numbers } });
  const byNumber = new Map(endpoints.map((endpoint) => [endpoint.number, endpoint]));
  return new Map(
    states.flatMap((state) => {
      const endpoint = byNumber.get(state.endpointNumber);
      return endpoint === undefined ? [] : [[state.endpointNumber, { endpoint, state }]];
    }),
  );
}

function pair(change: EndpointChange, known: ReadonlyMap<number, Locked>): Changed {
  const locked = [...known.values()].find(({ endpoint }) => endpoint.id === change.record.id) ?? null;
  if ((locked?.endpoint.version ?? 0) !== change.expectedVersion) throw NOT_AS_READ;
  return { change, locked };
}

async function redeliver({ em }: Commit, redelivery: Redelivery, locked?: Locked): Promise<void> {
  const { endpointNumber, number, fence, atMs } = redelivery;
  const before = await em.findOne(WebhookDelivery, { number });
  const isAsRead = before?.endpointNumber === endpointNumber && before.fence === fence && !before.test;
  if (!isAsRead || locked === undefined || !REDELIVERABLE.has(before.status)) throw NOT_AS_READ;
  const lifecycle = { ...plain(locked.endpoint), ...plain(locked.state), isArchived: false };
  const chance = { nowMs: atMs, random: () => 0 };
  Object.assign(before, stepDelivery(plain(before), lifecycle, { kind: 'redeliver' }, chance).delivery);
}

/** Draws the next change number and locks the counter, so that changes commit in this order. */
async function countChange(em: EntityManager): Promise<number> {
  const { number } = await kyselyOf(em)
    .updateTable('WebhookChangeCount')
    .where('id', '=', 1)
    .set(({ eb }) => ({ number: eb('number', '+', 1) }))
    .returning('number')
    .executeTakeFirstOrThrow();
  return number;
}

function packReplay({ fromSeq, ...rest }: NewReplay) {
  const isEmpty = rest.matched === 0;
  return {
    ...rest,
    position: isEmpty ? rest.toSeq : fromSeq - 1,
    enqueued: 0,
    delivered: 0,
    dead: 0,
    status: isEmpty ? ('completed' as const) : ('running' as const),
    completedAtMs: isEmpty ? rest.createdAtMs : null,
  };
}

async function storeEndpoints(commit: Commit, changed: readonly Changed[], changeNumber: number): Promise<void> {
  const { em, organizationNumber } = commit;
  const stored = changed.map(({ change, locked }) => {
    const row = { ...packEndpoint(change.record), version: change.expectedVersion + 1, changeNumber };
    return locked === null
      ? { change, endpoint: em.create(WebhookEndpoint, { ...row, organizationNumber }), state: null }
      : { change, endpoint: Object.assign(locked.endpoint, row), state: locked.state };
  });
  // Numbers new endpoints, and leaves little to write while appends wait.
  await em.flush();
  let headSeq: number | null = null;
  for (const { change, endpoint, state } of stored) {
    const { archivedAtMs } = change.record;
    const mask = maskOf(change.record);
    const before = state === null ? [] : dropPassed(JSON.parse(state.subscriptionsJson), state.position);
    // While the head of the log is locked, nothing is appended, so the new mask applies from the next position on.
    if (before.at(-1)?.mask !== mask) headSeq ??= (await lockHead(em, organizationNumber)).seq;
    const now = headSeq === null ? before : limited(changeSubscriptions(before, headSeq, mask), mask);
    const subscriptionsJson = JSON.stringify(now);
    if (state === null) {
      const position = headSeq ?? 0;
      em.create(WebhookState, { ...NEW_STATE, endpointNumber: endpoint.number, position, subscriptionsJson });
      continue;
    }
    Object.assign(
      state,
      { subscriptionsJson },
      change.clearsStreak ? { failingSinceMs: null, consecutiveFailures: 0 } : {},
    );
    if (archivedAtMs !== null) await cancelReplays(em, endpoint.number, archivedAtMs);
  }
}

async function cancelReplays(em: EntityManager, endpointNumber: number, completedAtMs: number): Promise<void> {
  await kyselyOf(em)
    .updateTable('WebhookReplay')
    .where('endpointNumber', '=', endpointNumber)
    .where('status', '=', RUNNING)
    .set({ status: 'cancelled', completedAtMs })
    .execute();
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
