/** What the rules of endpoints work with, and how they find the endpoint that they are about. */

import type { Clock, RandomBytes } from './clock.ts';
import type { CursorCodec } from './cursor.ts';
import { type Decision, decide } from './decide.ts';
import { decideOnce } from './decide-once.ts';
import type { AttemptResult } from './destination.ts';
import type { Endpoint } from './endpoint.ts';
import type { QueueRules } from './endpoint-queue.ts';
import type { EndpointSecrets } from './endpoint-secrets.ts';
import { Fault } from './fault.ts';
import { type FreshCall, refreshCall } from './fresh-caller.ts';
import type { ManagementStore } from './management.ts';
import { isNameable, type ManagementCall, type ReceiptOf } from './management-call.ts';
import type { ResolveHost, UrlPolicy } from './url-policy.ts';
import type { WebhookStore } from './webhook-store.ts';

export type EndpointDeps = {
  readonly store: ManagementStore;
  readonly webhooks: WebhookStore;
  readonly random: RandomBytes;
  readonly clock: Clock;
  readonly cursors: CursorCodec;
  readonly secrets: EndpointSecrets;
  readonly urlPolicy: UrlPolicy;
  readonly resolve: ResolveHost;
  readonly queues: QueueRules;
  /** Endpoints of one organization, archived ones not counted. */
  readonly endpointsMax: number;
  readonly fire: FireTest;
  /** The end of a test that could not be recorded. */
  readonly onTestLost: (error: unknown) => void;
};

/** A batch of one event, which is none. */
export type TestMessage = { readonly dispatchId: string; readonly envelope: string; readonly nowMs: number };

/** Makes the one attempt of a test, signed and sent as any other. Never throws for what the receiver does. */
export type FireTest = (endpoint: Endpoint, test: TestMessage) => Promise<AttemptResult>;

export const MANAGE = 'webhookEndpoints:manage';
/** What the audit log calls them. */
export const TARGET_TYPE = 'webhookEndpoint';

/** Throws webhook_endpoint_not_found for unknown, hidden and archived ones alike. */
export async function requireEndpoint(webhooks: WebhookStore, organizationId: string, id: string): Promise<Endpoint> {
  return mustBeThere(await findEndpoint(webhooks, organizationId, id));
}

export type EndpointTarget = { readonly call: ManagementCall; readonly id: string };

/** Decides about one endpoint, with the rights the caller has now. */
export function decideOnEndpoint<R>(
  { store, webhooks }: Pick<EndpointDeps, 'store' | 'webhooks'>,
  { call, id }: EndpointTarget,
  take: (fresh: FreshCall, endpoint: Endpoint) => Decision<R> | Promise<Decision<R>>,
): Promise<R> {
  const organizationId = call.caller.organization.id;
  return decide(store, organizationId, {
    take: async () => {
      const [fresh, endpoint] = await Promise.all([
        refreshCall(store, call, MANAGE),
        findEndpoint(webhooks, organizationId, id),
      ]);
      return take(fresh, mustBeThere(endpoint));
    },
  });
}

export type OnceOnEndpoint<R> = {
  readonly receipt: ReceiptOf<R>;
  readonly take: (endpoint: Endpoint) => Decision<R> | Promise<Decision<R>>;
};

/** The same, for operations that honour idempotency keys. Whether the endpoint is there yet is no rule about the caller. */
export function decideOnceOnEndpoint<R>(
  { store, webhooks }: Pick<EndpointDeps, 'store' | 'webhooks'>,
  { call, id }: EndpointTarget,
  { receipt, take }: OnceOnEndpoint<R>,
): Promise<R> {
  return decideOnce(store, call, {
    receipt,
    judge: () => refreshCall(store, call, MANAGE),
    take: async () => take(await requireEndpoint(webhooks, call.caller.organization.id, id)),
  });
}

/** What only an endpoint that is active can be asked for. */
export function requireActive({ status }: Endpoint): void {
  if (status !== 'active') {
    throw new Fault('webhook_endpoint_disabled', 'The webhook endpoint is disabled; enable it first.');
  }
}

function findEndpoint(webhooks: WebhookStore, organizationId: string, id: string): Promise<Endpoint | null> {
  return isNameable(id) ? webhooks.endpoint(organizationId, id) : Promise.resolve(null);
}

function mustBeThere(endpoint: Endpoint | null): Endpoint {
  if (endpoint === null) throw new Fault('webhook_endpoint_not_found', 'Webhook endpoint not found.');
  return endpoint;
}
