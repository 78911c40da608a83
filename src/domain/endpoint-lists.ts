/** Endpoints, attempts and dead deliveries, page by page. */

import type { Attempt, Delivery } from './delivery.ts';
import { type DeliveryView, viewDelivery } from './delivery-view.ts';
import type { Endpoint } from './endpoint.ts';
import { type EndpointDeps, type EndpointTarget, requireEndpoint } from './endpoint-deps.ts';
import { type EndpointView, viewEndpoint } from './endpoint-view.ts';
import {
  type CursorPage,
  type CursorWish,
  cutPage,
  invalidCursor,
  type ListPlace,
  limitOf,
  openCursor,
} from './listing.ts';
import type { ManagementCall } from './management-call.ts';
import type { DescendingPage } from './webhook-store.ts';

/** `nextCursor`: null when nothing remains, undefined when no page was asked for and all are here. */
export type EndpointPage = {
  readonly endpoints: readonly EndpointView[];
  readonly nextCursor: string | null | undefined;
};

const CURSOR_CHARACTERS_MAX = 1_024;

/** Oldest first. */
export async function listEndpoints(deps: EndpointDeps, call: ManagementCall, wish: CursorWish): Promise<EndpointPage> {
  const { webhooks, cursors, queues } = deps;
  const organizationId = call.caller.organization.id;
  const isPaged = wish.cursor !== '' || wish.limit !== null;
  const book = { cursors, binding: ['endpoints', organizationId], placeOf: (endpoint: Endpoint) => endpoint };
  const after = openPlace(book, wish);
  const limit = limitOf(wish);
  // One more than asked tells whether anything remains.
  const found = await webhooks.endpoints(organizationId, { after, limit: isPaged ? limit + 1 : null });
  const { items, nextCursor } = isPaged ? cutPage(found, limit, book) : { items: found, nextCursor: undefined };
  return { endpoints: items.map((endpoint) => viewEndpoint(endpoint, queues.service)), nextCursor };
}

export type ListWish = EndpointTarget & CursorWish;

/** Newest first. */
export async function listAttempts(deps: EndpointDeps, wish: ListWish): Promise<CursorPage<Attempt>> {
  const { webhooks } = deps;
  return listOf(deps, wish, {
    route: 'attempts',
    placeOf: ({ firedAtMs, id }: Attempt) => ({ createdAtMs: firedAtMs, id }),
    read: ({ number }, page) => webhooks.attempts(number, page),
    view: (attempt) => attempt,
  });
}

/** The last to end first. */
export async function listDeadLetters(deps: EndpointDeps, wish: ListWish): Promise<CursorPage<DeliveryView>> {
  const { webhooks } = deps;
  return listOf(deps, wish, {
    route: 'dead-letters',
    placeOf: ({ endedAtMs, dispatchId }: Delivery) => ({ createdAtMs: endedAtMs ?? 0, id: dispatchId }),
    read: ({ number }, page) => webhooks.deadLetters(number, page),
    view: (delivery, endpoint) => viewDelivery(delivery, endpoint, wish.call.nowMs),
  });
}

type Listing<T, V> = {
  readonly route: string;
  readonly placeOf: (item: T) => ListPlace;
  readonly read: (endpoint: Endpoint, page: DescendingPage) => Promise<readonly T[]>;
  readonly view: (item: T, endpoint: Endpoint) => V;
};

async function listOf<T, V>(
  { webhooks, cursors }: EndpointDeps,
  { call, id, ...wish }: ListWish,
  { route, placeOf, read, view }: Listing<T, V>,
): Promise<CursorPage<V>> {
  const organizationId = call.caller.organization.id;
  const endpoint = await requireEndpoint(webhooks, organizationId, id);
  const book = { cursors, binding: [route, organizationId, id], placeOf };
  const after = openPlace(book, wish);
  const limit = limitOf(wish);
  const found = await read(endpoint, {
    after: after === null ? null : { atMs: after.createdAtMs, id: after.id },
    limit: limit + 1,
  });
  const { items, nextCursor } = cutPage(found, limit, book);
  return { items: items.map((item) => view(item, endpoint)), nextCursor };
}

function openPlace(book: Parameters<typeof openCursor>[0], { cursor }: CursorWish): ListPlace | null {
  if (cursor.length > CURSOR_CHARACTERS_MAX) throw invalidCursor();
  return openCursor(book, cursor);
}
