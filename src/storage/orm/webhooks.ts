/** Webhook endpoints and replays, as management sees them; those who deliver have their own, shorter way to the rows. */

import { defineEntity, type EntityManager, type FilterQuery, type InferEntity, p } from '@mikro-orm/core';
import type { Replay } from '../../domain/delivery.ts';
import type { Endpoint, EndpointRecord } from '../../domain/endpoint.ts';
import type { EndpointPage } from '../../domain/webhook-store.ts';
import { unpackEndpoint } from '../rows/endpoint-rows.ts';
import { replayStatuses } from '../rows/webhook-codes.ts';

export const WebhookEndpoint = defineEntity({
  name: 'WebhookEndpoint',
  tableName: 'webhook_endpoints',
  properties: {
    // Short and ascending: rows about the endpoint carry it instead of the id.
    number: p.integer().primary().autoincrement(),
    id: p.text().unique(),
    organizationId: p.text(),
    organizationNumber: p.integer(),
    destinationKind: p.text().$type<EndpointRecord['destinationKind']>(),
    url: p.text().nullable(),
    // JSON without the secret.
    sqs: p.text().nullable(),
    sqsSecret: p.blob().nullable(),
    // JSON.
    enabledEvents: p.text(),
    status: p.text().$type<EndpointRecord['status']>(),
    disabledReason: p.text().$type<EndpointRecord['disabledReason'] & string>().nullable(),
    disabledAt: p.bigint('number').nullable(),
    maxBatchSize: p.integer(),
    maxBatchDelayMs: p.integer(),
    maxInFlight: p.integer(),
    description: p.text().nullable(),
    secret: p.blob(),
    previousSecret: p.blob().nullable(),
    previousSecretUntil: p.bigint('number').nullable(),
    destinationVersion: p.integer(),
    run: p.integer(),
    version: p.integer(),
    changeNumber: p.bigint('number'),
    createdAt: p.bigint('number'),
    updatedAt: p.bigint('number'),
    archivedAt: p.bigint('number').nullable(),
  },
});

/** What deliveries change all the time. The row is the mutex of its endpoint. */
export const WebhookState = defineEntity({
  name: 'WebhookState',
  tableName: 'webhook_states',
  properties: {
    endpointNumber: p.integer().primary(),
    position: p.bigint('number'),
    inFlight: p.integer(),
    // JSON.
    subscriptions: p.text(),
    failingSince: p.bigint('number').nullable(),
    lastSuccessAt: p.bigint('number').nullable(),
    lastFailureAt: p.bigint('number').nullable(),
    consecutiveFailures: p.integer(),
  },
});

export const WebhookReplay = defineEntity({
  name: 'WebhookReplay',
  tableName: 'webhook_replays',
  properties: {
    number: p.integer().primary().autoincrement(),
    id: p.text(),
    endpointNumber: p.integer(),
    fromMs: p.bigint('number'),
    toMs: p.bigint('number'),
    type: p.text().nullable(),
    mask: p.integer(),
    position: p.bigint('number'),
    toSeq: p.bigint('number'),
    matched: p.bigint('number'),
    enqueued: p.bigint('number'),
    delivered: p.bigint('number'),
    dead: p.bigint('number'),
    status: p.integer(),
    createdAt: p.bigint('number'),
    completedAt: p.bigint('number').nullable(),
  },
});

/** Only the columns that sending once more reads or changes. */
export const WebhookDelivery = defineEntity({
  name: 'WebhookDelivery',
  tableName: 'webhook_deliveries',
  properties: {
    number: p.bigint('number').primary(),
    endpointNumber: p.integer(),
    test: p.boolean(),
    status: p.integer(),
    attempt: p.integer(),
    failures: p.integer(),
    lost: p.integer(),
    run: p.integer(),
    fence: p.integer(),
    ladderStartedAt: p.bigint('number').nullable(),
    dueAt: p.bigint('number').nullable(),
    endedAt: p.bigint('number').nullable(),
    deadReason: p.integer().nullable(),
  },
});

/** One row: the number of the newest change of endpoints. */
export const WebhookChangeCount = defineEntity({
  name: 'WebhookChangeCount',
  tableName: 'webhook_changes',
  properties: { id: p.integer().primary(), number: p.bigint('number') },
});

/** The ends of the logs; appends have their own way to them. */
export const LogHead = defineEntity({
  name: 'LogHead',
  tableName: 'log_heads',
  properties: {
    organizationNumber: p.integer().primary(),
    seq: p.bigint('number'),
    createdAt: p.bigint('number'),
    lastKeyIndex: p.integer(),
  },
});

export const WEBHOOK_ENTITIES = [
  WebhookEndpoint,
  WebhookState,
  WebhookReplay,
  WebhookDelivery,
  WebhookChangeCount,
  LogHead,
];

export type EndpointRow = InferEntity<typeof WebhookEndpoint>;
export type StateRow = InferEntity<typeof WebhookState>;
/** The rows of an endpoint, held until the transaction ends. */
export type HeldEndpoint = { readonly row: EndpointRow; readonly state: StateRow };

const OLDEST_FIRST = { createdAt: 'asc', id: 'asc' } as const;
// Few enough for one statement.
const STATES_PER_QUESTION = 1000;

/** See WebhookStore.endpoints. */
export async function listEndpoints(
  em: EntityManager,
  organizationId: string,
  { after, limit }: EndpointPage,
): Promise<readonly Endpoint[]> {
  const conditions: FilterQuery<EndpointRow>[] = [{ organizationId, archivedAt: null }];
  if (after !== null) {
    // The first condition alone says where in the index to begin.
    conditions.push({ createdAt: { $gte: after.createdAtMs } });
    conditions.push({ $or: [{ createdAt: { $gt: after.createdAtMs } }, { id: { $gt: after.id } }] });
  }
  const page = { orderBy: OLDEST_FIRST, ...(limit === null ? {} : { limit }) };
  return await withStates(em, await em.find(WebhookEndpoint, { $and: conditions }, page));
}

/** See WebhookStore.endpoint. */
export async function readEndpoint(em: EntityManager, organizationId: string, id: string): Promise<Endpoint | null> {
  const row = await em.findOne(WebhookEndpoint, { organizationId, id, archivedAt: null });
  const [endpoint] = await withStates(em, row === null ? [] : [row]);
  return endpoint ?? null;
}

/** See WebhookStore.countEndpoints. */
export async function countEndpoints(em: EntityManager, organizationId: string): Promise<number> {
  return await em.count(WebhookEndpoint, { organizationId, archivedAt: null });
}

/** See WebhookStore.replay. */
export async function readReplay(em: EntityManager, endpointNumber: number, id: string): Promise<Replay | null> {
  const row = await em.findOne(WebhookReplay, { endpointNumber, id });
  return row === null ? null : toReplay(row);
}

/** See WebhookStore.countUnfinishedReplays. */
export async function countUnfinishedReplays(em: EntityManager, endpointNumber: number): Promise<number> {
  return await em.count(WebhookReplay, { endpointNumber, status: replayStatuses.code('running') });
}

async function withStates(em: EntityManager, rows: readonly EndpointRow[]): Promise<readonly Endpoint[]> {
  const states = new Map<number, StateRow>();
  const numbers = rows.map((row) => row.number);
  for (let from = 0; from < numbers.length; from += STATES_PER_QUESTION) {
    const endpointNumber = { $in: numbers.slice(from, from + STATES_PER_QUESTION) };
    for (const state of await em.find(WebhookState, { endpointNumber })) states.set(state.endpointNumber, state);
  }
  return rows.map((row) => {
    const state = states.get(row.number);
    if (state === undefined) throw new Error('an endpoint has no state');
    return toEndpoint(row, state);
  });
}

export function toEndpoint(row: EndpointRow, state: StateRow): Endpoint {
  const record = unpackEndpoint({
    organizationId: row.organizationId,
    id: row.id,
    destinationKind: row.destinationKind,
    url: row.url ?? null,
    sqs: row.sqs ?? null,
    sqsSecret: row.sqsSecret ?? null,
    enabledEvents: row.enabledEvents,
    status: row.status,
    disabledReason: row.disabledReason ?? null,
    disabledAtMs: row.disabledAt ?? null,
    maxBatchSize: row.maxBatchSize,
    maxBatchDelayMs: row.maxBatchDelayMs,
    maxInFlight: row.maxInFlight,
    description: row.description ?? null,
    secret: row.secret,
    previousSecret: row.previousSecret ?? null,
    previousSecretUntilMs: row.previousSecretUntil ?? null,
    destinationVersion: row.destinationVersion,
    run: row.run,
    createdAtMs: row.createdAt,
    updatedAtMs: row.updatedAt,
    archivedAtMs: row.archivedAt ?? null,
  });
  return {
    ...record,
    number: row.number,
    organizationNumber: row.organizationNumber,
    version: row.version,
    failingSinceMs: state.failingSince ?? null,
    lastSuccessAtMs: state.lastSuccessAt ?? null,
    lastFailureAtMs: state.lastFailureAt ?? null,
    consecutiveFailures: state.consecutiveFailures,
  };
}

function toReplay(row: InferEntity<typeof WebhookReplay>): Replay {
  return {
    id: row.id,
    endpointNumber: row.endpointNumber,
    status: replayStatuses.word(row.status),
    fromMs: row.fromMs,
    toMs: row.toMs,
    type: row.type ?? null,
    matched: row.matched,
    enqueued: row.enqueued,
    delivered: row.delivered,
    dead: row.dead,
    createdAtMs: row.createdAt,
    completedAtMs: row.completedAt ?? null,
  };
}
