/** Webhook endpoints and replays, as management sees them; those who deliver have their own, shorter way to the rows. */

import type { EntityManager, FilterQuery, InferEntity } from '@mikro-orm/core';
import type { Replay } from '../../domain/delivery.ts';
import type { Endpoint } from '../../domain/endpoint.ts';
import type { EndpointPage } from '../../domain/webhook-store.ts';
import { unpackEndpoint } from '../rows/endpoint-rows.ts';
import { replayStatuses } from '../rows/webhook-codes.ts';
import { WebhookEndpoint } from '../tables/webhook-endpoints.ts';
import { WebhookReplay } from '../tables/webhook-replays.ts';
import { WebhookState } from '../tables/webhook-states.ts';

export type EndpointRow = InferEntity<typeof WebhookEndpoint>;
export type StateRow = InferEntity<typeof WebhookState>;
/** The rows of an endpoint, held until the transaction ends. */
export type HeldEndpoint = { readonly row: EndpointRow; readonly state: StateRow };

const OLDEST_FIRST = { createdAtMs: 'asc', id: 'asc' } as const;
// Few enough for one statement.
const STATES_PER_QUESTION = 1000;

/** See WebhookStore.endpoints. */
export async function listEndpoints(
  em: EntityManager,
  organizationId: string,
  { after, limit }: EndpointPage,
): Promise<readonly Endpoint[]> {
  const conditions: FilterQuery<EndpointRow>[] = [{ organizationId, archivedAtMs: null }];
  if (after !== null) {
    // The first condition alone says where in the index to begin.
    conditions.push({ createdAtMs: { $gte: after.createdAtMs } });
    conditions.push({ $or: [{ createdAtMs: { $gt: after.createdAtMs } }, { id: { $gt: after.id } }] });
  }
  const page = { orderBy: OLDEST_FIRST, ...(limit === null ? {} : { limit }) };
  return await withStates(em, await em.find(WebhookEndpoint, { $and: conditions }, page));
}

/** See WebhookStore.endpoint. */
export async function readEndpoint(em: EntityManager, organizationId: string, id: string): Promise<Endpoint | null> {
  const row = await em.findOne(WebhookEndpoint, { organizationId, id, archivedAtMs: null });
  const [endpoint] = await withStates(em, row === null ? [] : [row]);
  return endpoint ?? null;
}

/** See WebhookStore.countEndpoints. */
export async function countEndpoints(em: EntityManager, organizationId: string): Promise<number> {
  return await em.count(WebhookEndpoint, { organizationId, archivedAtMs: null });
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

export function toEndpoint({ changeNumber: _, ...row }: EndpointRow, state: StateRow): Endpoint {
  const { failingSinceMs, lastSuccessAtMs, lastFailureAtMs, consecutiveFailures } = state;
  return { ...unpackEndpoint(row), failingSinceMs, lastSuccessAtMs, lastFailureAtMs, consecutiveFailures };
}

function toReplay({
  number: _,
  mask: __,
  position: ___,
  toSeq: ____,
  ...row
}: InferEntity<typeof WebhookReplay>): Replay {
  return { ...row, status: replayStatuses.word(row.status) };
}
