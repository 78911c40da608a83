/** The dependencies of the rules of endpoints, and the commits that concern one endpoint. */

import type { Clock } from '../clock.ts';
import type { CursorCodec } from '../cursor.ts';
import type { WebhookLog, WebhookStore } from '../delivery/webhook-store.ts';
import { Fault } from '../fault.ts';
import { isPossibleId } from '../ids.ts';
import type { AuditedAction } from '../management/audit.ts';
import { refreshCall } from '../management/fresh-caller.ts';
import type { IdempotentCall, Target } from '../management/management-call.ts';
import {
  type AuditedProposal,
  type CommitDeps,
  commitAudited,
  commitIdempotently,
} from '../management/optimistic-commit.ts';
import type { AttemptResult } from './destination.ts';
import type { Endpoint } from './endpoint.ts';
import type { QueueRules } from './endpoint-queue.ts';
import type { EndpointSecrets } from './endpoint-secrets.ts';
import type { ResolveHost, UrlPolicy } from './url-policy.ts';

export type EndpointDeps = CommitDeps & {
  readonly webhooks: WebhookStore;
  readonly webhookLog: WebhookLog;
  readonly clock: Clock;
  readonly cursors: CursorCodec;
  readonly secrets: EndpointSecrets;
  readonly urlPolicy: UrlPolicy;
  readonly resolve: ResolveHost;
  readonly queues: QueueRules;
  /** The limit per organization, without archived ones. */
  readonly endpointsMax: number;
  readonly sendTest: SendTest;
  /** Called when the end of a test could not be stored. */
  readonly onTestUnrecorded: (error: unknown) => void;
};

/** A batch of one made-up event. */
export type TestMessage = { readonly dispatchId: string; readonly envelope: string; readonly nowMs: number };

/** Makes the attempt of a test, signed and sent like any other. Never throws for a failure of the receiver. */
export type SendTest = (endpoint: Endpoint, test: TestMessage) => Promise<AttemptResult>;

export const MANAGE = 'webhookEndpoints:manage';

/** What the audit log says about a change of an endpoint. */
export function endpointAction(verb: string, { id }: Pick<Endpoint, 'id'>): AuditedAction {
  return { action: `webhookEndpoint.${verb}`, targetId: id };
}

/** Throws webhook_endpoint_not_found for unknown, hidden and archived endpoints alike. */
export async function requireEndpoint(webhooks: WebhookStore, organizationId: string, id: string): Promise<Endpoint> {
  return requireFound(await findEndpoint(webhooks, organizationId, id));
}

type EndpointAttempt<R> = (endpoint: Endpoint) => AuditedProposal<R> | Promise<AuditedProposal<R>>;

/** Commits optimistically about one endpoint, with the current permissions of the caller. */
export function commitOnEndpoint<R>(deps: EndpointDeps, { call, id }: Target, attempt: EndpointAttempt<R>): Promise<R> {
  return commitAudited(deps, call, async () => {
    const [, endpoint] = await Promise.all([
      refreshCall(deps.store, call, MANAGE),
      findEndpoint(deps.webhooks, call.caller.organization.id, id),
    ]);
    return attempt(requireFound(endpoint));
  });
}

/**
 * The same, for operations with idempotency keys. A repeated call gets its receipt even if the endpoint is gone by now.
 */
export function commitIdempotentlyOnEndpoint<R>(
  deps: EndpointDeps,
  { call, id }: Target<IdempotentCall<R>>,
  attempt: EndpointAttempt<R>,
): Promise<R> {
  return commitIdempotently(deps, call, {
    checkCaller: () => refreshCall(deps.store, call, MANAGE),
    attempt: async () => attempt(await requireEndpoint(deps.webhooks, call.caller.organization.id, id)),
  });
}

/** Throws webhook_endpoint_disabled. */
export function requireActive({ status }: Endpoint): void {
  if (status !== 'active') {
    throw new Fault('webhook_endpoint_disabled', 'The webhook endpoint is disabled; enable it first.');
  }
}

function findEndpoint(webhooks: WebhookStore, organizationId: string, id: string): Promise<Endpoint | null> {
  return isPossibleId(id) ? webhooks.endpoint(organizationId, id) : Promise.resolve(null);
}

function requireFound(endpoint: Endpoint | null): Endpoint {
  if (endpoint === null) throw new Fault('webhook_endpoint_not_found', 'Webhook endpoint not found.');
  return endpoint;
}
