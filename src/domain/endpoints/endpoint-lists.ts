/** Endpoints, attempts and dead deliveries, page by page. */

import type { Attempt, Delivery } from '../delivery/delivery.ts';
import { type DeliveryView, viewDelivery } from '../delivery/delivery-view.ts';
import type { DescendingPage } from '../delivery/webhook-store.ts';
import {
  type CursorPage,
  type CursorPageRequest,
  invalidCursor,
  type PagePosition,
  readCursorPage,
} from '../management/listing.ts';
import type { ManagementCall, Target } from '../management/management-call.ts';
import type { Endpoint } from './endpoint.ts';
import { type EndpointDeps, requireEndpoint } from './endpoint-deps.ts';
import { type EndpointView, viewEndpoint } from './endpoint-view.ts';

/** `nextCursor`: null on the last page, undefined when the request named no page and this is the whole list. */
export type EndpointPage = {
  readonly endpoints: readonly EndpointView[];
  readonly nextCursor: string | null | undefined;
};

const CURSOR_CHARACTERS_MAX = 1_024;

/** Oldest first. */
export async function listEndpoints(
  deps: EndpointDeps,
  call: ManagementCall,
  request: CursorPageRequest,
): Promise<EndpointPage> {
  const { webhooks, cursors, queues } = deps;
  const organizationId = call.caller.organization.id;
  const isPaged = request.cursor !== '' || request.limit !== null;
  const listing = { cursors, binding: ['endpoints', organizationId], positionOf: (endpoint: Endpoint) => endpoint };
  refuseLongCursor(request);
  const { items, nextCursor } = isPaged
    ? await readCursorPage(listing, request, (range) => webhooks.endpoints(organizationId, range))
    : { items: await webhooks.endpoints(organizationId, { after: null, limit: null }), nextCursor: undefined };
  return { endpoints: items.map((endpoint) => viewEndpoint(endpoint, queues.service)), nextCursor };
}

export type ListRequest = Target & CursorPageRequest;

/** Newest first. */
export async function listAttempts(deps: EndpointDeps, request: ListRequest): Promise<CursorPage<Attempt>> {
  const { webhooks } = deps;
  return readPage(deps, request, {
    route: 'attempts',
    positionOf: ({ firedAtMs, id }: Attempt) => ({ createdAtMs: firedAtMs, id }),
    read: ({ number }, page) => webhooks.attempts(number, page),
    view: (attempt) => attempt,
  });
}

/** Latest end first. */
export async function listDeadLetters(deps: EndpointDeps, request: ListRequest): Promise<CursorPage<DeliveryView>> {
  const { webhooks } = deps;
  return readPage(deps, request, {
    route: 'dead-letters',
    positionOf: ({ endedAtMs, dispatchId }: Delivery) => ({ createdAtMs: endedAtMs ?? 0, id: dispatchId }),
    read: ({ number }, page) => webhooks.deadLetters(number, page),
    view: (delivery, endpoint) => viewDelivery(delivery, endpoint, request.call.nowMs),
  });
}

type Listing<T, V> = {
  readonly route: string;
  readonly positionOf: (item: T) => PagePosition;
  readonly read: (endpoint: Endpoint, page: DescendingPage) => Promise<readonly T[]>;
  readonly view: (item: T, endpoint: Endpoint) => V;
};

async function readPage<T, V>(
  { webhooks, cursors }: EndpointDeps,
  { call, id, ...request }: ListRequest,
  { route, positionOf, read, view }: Listing<T, V>,
): Promise<CursorPage<V>> {
  const organizationId = call.caller.organization.id;
  const endpoint = await requireEndpoint(webhooks, organizationId, id);
  const listing = { cursors, binding: [route, organizationId, id], positionOf };
  refuseLongCursor(request);
  const page = await readCursorPage(listing, request, ({ after, limit }) =>
    read(endpoint, { after: after === null ? null : { atMs: after.createdAtMs, id: after.id }, limit }),
  );
  return { ...page, items: page.items.map((item) => view(item, endpoint)) };
}

function refuseLongCursor({ cursor }: CursorPageRequest): void {
  if (cursor.length > CURSOR_CHARACTERS_MAX) throw invalidCursor();
}
