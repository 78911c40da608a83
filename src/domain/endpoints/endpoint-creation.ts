/** Creates endpoints. */

import type { RandomBytes } from '../clock.ts';
import { Fault } from '../fault.ts';
import { randomBase62, toBase62 } from '../ids.ts';
import { refreshCall } from '../management/fresh-caller.ts';
import type { IdempotentCall, ManagementCall } from '../management/management-call.ts';
import { commitIdempotently } from '../management/optimistic-commit.ts';
import { refuseProblems } from '../reasons.ts';
import type { EndpointRecord, SqsRecord } from './endpoint.ts';
import { type EndpointDeps, endpointAction, MANAGE } from './endpoint-deps.ts';
import { CONTROLS, type ControlName, creationProblems, type EndpointDraft } from './endpoint-draft.ts';
import { newQueue, type QueueContent, requireQueue } from './endpoint-queue.ts';
import type { EndpointSecrets } from './endpoint-secrets.ts';
import { requireUrl, requireValues } from './endpoint-values.ts';
import { type SecretEndpoint, viewEndpoint } from './endpoint-view.ts';
import { mintWebhookSecret } from './webhook-signature.ts';

/** The streak of a new endpoint. */
const NEW_STREAK = { failingSinceMs: null, lastSuccessAtMs: null, lastFailureAtMs: null, consecutiveFailures: 0 };

export function createEndpoint(
  deps: EndpointDeps,
  call: IdempotentCall<SecretEndpoint>,
  draft: EndpointDraft,
): Promise<SecretEndpoint> {
  const { store, webhooks, queues, endpointsMax } = deps;
  refuseProblems(creationProblems(draft));
  let drawing: Promise<NewEndpoint> | null = null;
  return commitIdempotently(deps, call, {
    checkCaller: () => refreshCall(store, call, MANAGE),
    async attempt() {
      // Preparing resolves the host, so later attempts of the commit reuse the prepared endpoint.
      drawing ??= drawEndpoint(deps, call, draft);
      const { record, secret } = await drawing;
      const count = await webhooks.countEndpoints(call.caller.organization.id);
      if (count >= endpointsMax) throw limitReached(endpointsMax);
      const result = { endpoint: viewEndpoint({ ...record, ...NEW_STREAK }, queues.service), secret };
      const endpoints = [{ record, expectedVersion: 0, clearsStreak: false }];
      return { result, change: { endpoints }, audited: { ...endpointAction('create', record), status: 201 } };
    },
  });
}

type NewEndpoint = { readonly record: EndpointRecord; readonly secret: string };

/** Throws webhook_endpoint_invalid for a url and for values that may not be. */
async function drawEndpoint(deps: EndpointDeps, call: ManagementCall, draft: EndpointDraft): Promise<NewEndpoint> {
  if (typeof draft.url === 'string') await requireUrl(deps, draft.url);
  const secret = mintWebhookSecret(deps.random);
  return { secret, record: newRecord(deps, { call, draft, secret }) };
}

type StatusFields = Pick<EndpointRecord, 'status' | 'disabledReason' | 'disabledAtMs'>;

const ENABLED: StatusFields = { status: 'active', disabledReason: null, disabledAtMs: null };

/** An endpoint that its owner disables. */
function disabledBy(nowMs: number): StatusFields {
  return { status: 'disabled', disabledReason: 'manual', disabledAtMs: nowMs };
}

type NewRecord = { readonly call: ManagementCall; readonly draft: EndpointDraft; readonly secret: string };

/** Throws webhook_endpoint_invalid for values that may not be. */
function newRecord(deps: EndpointDeps, { call, draft, secret }: NewRecord): EndpointRecord {
  const { random, secrets, queues } = deps;
  const { caller, nowMs } = call;
  const id = newEndpointId(nowMs, random);
  const queue = draft.sqs == null ? null : newQueue(draft.sqs, random);
  const values = { ...controlsOf(draft), enabledEvents: draft.enabledEvents ?? [] };
  if (queue !== null) requireQueue(queue, queues, draft.sqs?.stated);
  requireValues(values);
  return {
    organizationId: caller.organization.id,
    id,
    destinationKind: draft.destinationKind ?? 'http',
    url: draft.url ?? null,
    sqs: queue === null ? null : sealQueue(secrets, id, queue),
    ...values,
    ...(draft.status === 'disabled' ? disabledBy(nowMs) : ENABLED),
    description: draft.description ?? null,
    secret: secrets.seal(id, 'secret', secret),
    previousSecret: null,
    previousSecretUntilMs: null,
    destinationVersion: 1,
    run: 1,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    archivedAtMs: null,
  };
}

/** Seals the secret of a queue for storage. */
export function sealQueue(secrets: EndpointSecrets, endpointId: string, queue: QueueContent): SqsRecord {
  const { secretAccessKey, ...shown } = queue;
  const sealed = secretAccessKey === null ? null : secrets.seal(endpointId, 'sqs_secret', secretAccessKey);
  return { ...shown, secretAccessKey: sealed };
}

function controlsOf(draft: EndpointDraft): Readonly<Record<ControlName, number>> {
  const entries = CONTROLS.map(({ name, fallback }) => [name, draft[name] ?? fallback] as const);
  return Object.fromEntries(entries) as Record<ControlName, number>;
}

const ID_TIME_DIGITS = 9;
const ID_RANDOM_DIGITS = 20;

/** Ids sort by creation time. */
export function newEndpointId(nowMs: number, random: RandomBytes): string {
  return `webhookendpoint_${toBase62(nowMs, ID_TIME_DIGITS)}${randomBase62(ID_RANDOM_DIGITS, random)}`;
}

function limitReached(endpointsMax: number): Fault {
  return new Fault(
    'webhook_endpoint_limit',
    `The organization has ${endpointsMax} webhook endpoints, which is the limit.`,
  );
}
