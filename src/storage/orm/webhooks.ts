/** Counts of webhook endpoints, and replays, as management sees them. */

import type { EntityManager, InferEntity } from '@mikro-orm/core';
import type { Replay } from '../../domain/delivery.ts';
import type { WebhookState } from '../tables/endpoints.ts';
import { WebhookEndpoint, WebhookReplay } from '../tables/endpoints.ts';

export type EndpointRow = InferEntity<typeof WebhookEndpoint>;
export type StateRow = InferEntity<typeof WebhookState>;
/** The rows of an endpoint, held until the transaction ends. */
export type HeldEndpoint = { readonly row: EndpointRow; readonly state: StateRow };

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
  return await em.count(WebhookReplay, { endpointNumber, status: 'running' });
}

function toReplay({
  number: _,
  mask: __,
  position: ___,
  toSeq: ____,
  ...row
}: InferEntity<typeof WebhookReplay>): Replay {
  return row;
}
