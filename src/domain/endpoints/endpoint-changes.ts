/** Updates and archives endpoints, and rolls their secrets. */

import type { RandomBytes } from '../clock.ts';
import type { IdempotentCall, Target } from '../management/management-call.ts';
import { refuseProblems } from '../reasons.ts';
import type { Endpoint, EndpointRecord, SqsRecord } from './endpoint.ts';
import { sealQueue } from './endpoint-creation.ts';
import {
  commitIdempotentlyOnEndpoint,
  commitOnEndpoint,
  type EndpointDeps,
  endpointAction,
  requireEndpoint,
} from './endpoint-deps.ts';
import { CONTROLS, type ControlName, changeProblems, type EndpointDraft, endpointInvalid } from './endpoint-draft.ts';
import { mergeQueue, type QueueContent, type QueueRules, requireAgreement, requireQueue } from './endpoint-queue.ts';
import type { EndpointSecrets } from './endpoint-secrets.ts';
import { requireUrl, requireValues } from './endpoint-values.ts';
import { type EndpointView, type SecretEndpoint, viewEndpoint, viewQueue } from './endpoint-view.ts';
import { mintWebhookSecret } from './webhook-signature.ts';

type EndpointUpdate = Target & { readonly draft: EndpointDraft };

/** Changes the fields that were sent, in one write, and returns the endpoint as it is then. */
export async function updateEndpoint(deps: EndpointDeps, { call, id, draft }: EndpointUpdate): Promise<EndpointView> {
  const { random, queues, secrets } = deps;
  const { nowMs } = call;
  refuseProblems(changeProblems(draft));
  await checkNewUrl(deps, { call, id, draft });
  return commitOnEndpoint(deps, { call, id }, (stored) => {
    const { record, fields, clearsStreak } = mergeEndpoint(stored, draft, { nowMs, random, secrets, queues });
    if (fields.length === 0) return { result: viewEndpoint(stored, queues.service), change: null };
    const streak = clearsStreak ? { failingSinceMs: null, consecutiveFailures: 0 } : {};
    const result = viewEndpoint({ ...stored, ...record, ...streak }, queues.service);
    const endpoints = [{ record, expectedVersion: stored.version, clearsStreak }];
    return { result, change: { endpoints }, audited: { ...endpointAction('update', stored), fields } };
  });
}

/** Resolves the host before the commit, whose attempts may run many times. */
async function checkNewUrl(deps: EndpointDeps, { call, id, draft }: EndpointUpdate): Promise<void> {
  if (typeof draft.url !== 'string') return;
  const stored = await requireEndpoint(deps.webhooks, call.caller.organization.id, id);
  // The commit reports all other problems of the request.
  if (stored.destinationKind === 'http' && stored.url !== draft.url) await requireUrl(deps, draft.url);
}

/** Archives the endpoint permanently, and erases its secrets. */
export function archiveEndpoint(deps: EndpointDeps, { call, id }: Target): Promise<void> {
  return commitOnEndpoint(deps, { call, id }, (stored) => {
    const { sqs } = stored;
    const record: EndpointRecord = {
      ...recordOf(stored),
      sqs: sqs === null ? null : { ...sqs, secretAccessKey: null },
      secret: Buffer.alloc(0),
      previousSecret: null,
      previousSecretUntilMs: null,
      updatedAtMs: call.nowMs,
      archivedAtMs: call.nowMs,
    };
    const endpoints = [{ record, expectedVersion: stored.version, clearsStreak: false }];
    return { result: undefined, change: { endpoints }, audited: endpointAction('archive', stored) };
  });
}

export type SecretRoll = Target<IdempotentCall<SecretEndpoint>> & {
  /** How long the previous secret signs too; 0: not at all. */
  readonly overlapSeconds: number;
};

/** Gives the endpoint a new secret. Only the previous one can stay valid beside it, no older one. */
export function rollSecret(deps: EndpointDeps, roll: SecretRoll): Promise<SecretEndpoint> {
  const { call, overlapSeconds } = roll;
  return commitIdempotentlyOnEndpoint(deps, roll, (stored) => {
    const secret = mintWebhookSecret(deps.random);
    const record = withSecret(deps, stored, { secret, nowMs: call.nowMs, overlapSeconds });
    const result = { endpoint: viewEndpoint({ ...stored, ...record }, deps.queues.service), secret };
    const endpoints = [{ record, expectedVersion: stored.version, clearsStreak: false }];
    return { result, change: { endpoints }, audited: endpointAction('rollSecret', stored) };
  });
}

type Rolling = { readonly secret: string; readonly nowMs: number; readonly overlapSeconds: number };

function withSecret(
  { secrets }: EndpointDeps,
  stored: Endpoint,
  { secret, nowMs, overlapSeconds }: Rolling,
): EndpointRecord {
  const { id } = stored;
  const overlaps = overlapSeconds > 0;
  // A sealed secret opens only in its own field, so moving it seals it again.
  const moved = () => secrets.seal(id, 'previous_secret', secrets.open(id, 'secret', stored.secret));
  return {
    ...recordOf(stored),
    secret: secrets.seal(id, 'secret', secret),
    previousSecret: overlaps ? moved() : null,
    previousSecretUntilMs: overlaps ? nowMs + overlapSeconds * 1000 : null,
    updatedAtMs: nowMs,
  };
}

type EndpointMerge = {
  /** The endpoint to store. */
  readonly record: EndpointRecord;
  /** The changed fields, by their names in the API; when empty, nothing is to be stored. */
  readonly fields: readonly string[];
  /** Whether a new streak starts: the destination changed, or the endpoint was enabled. */
  readonly clearsStreak: boolean;
};

type MergeFacts = {
  readonly nowMs: number;
  readonly random: RandomBytes;
  readonly secrets: EndpointSecrets;
  readonly queues: QueueRules;
};

type Content = Pick<
  EndpointRecord,
  'url' | 'enabledEvents' | 'status' | 'maxBatchSize' | 'maxBatchDelayMs' | 'maxInFlight' | 'description'
> & { readonly queue: QueueContent | null };

/** Throws webhook_endpoint_invalid. The caller MUST have checked a new url. */
function mergeEndpoint(stored: Endpoint, draft: EndpointDraft, facts: MergeFacts): EndpointMerge {
  requireSameKind(stored, draft);
  const before = contentOf(stored, facts.secrets);
  const after = mergeContent(before, draft, facts);
  const fields = changedFields(before, after);
  const stated = draft.sqs?.stated ?? {};
  if (after.queue !== null && fields.includes('sqs')) requireQueue(after.queue, facts.queues, stated);
  // A stored queue stays as it is even where the operator would not allow a new one like it.
  else if (stored.sqs !== null) requireAgreement(stated, viewQueue(stored.sqs, facts.queues.service));
  requireValues(after);
  const moves = after.url !== before.url || after.queue?.queueUrl !== before.queue?.queueUrl;
  const isEnabled = after.status === 'active' && before.status !== 'active';
  const { queue, ...scalars } = after;
  const record: EndpointRecord = {
    ...recordOf(stored),
    ...scalars,
    sqs: fields.includes('sqs') && queue !== null ? resealQueue(stored, queue, facts.secrets) : stored.sqs,
    ...statusChange(stored, after, facts.nowMs),
    destinationVersion: stored.destinationVersion + (moves ? 1 : 0),
    run: stored.run + (isEnabled ? 1 : 0),
    updatedAtMs: facts.nowMs,
  };
  return { record, fields, clearsStreak: moves || isEnabled };
}

/** The fields of a stored endpoint that its owner controls. */
function recordOf(endpoint: Endpoint): EndpointRecord {
  const { number, organizationNumber, version, failingSinceMs, lastSuccessAtMs, lastFailureAtMs, ...rest } = endpoint;
  const { consecutiveFailures, ...record } = rest;
  return record;
}

function requireSameKind(stored: Endpoint, { destinationKind, url, sqs }: EndpointDraft): void {
  const isQueue = stored.destinationKind === 'sqs';
  if (destinationKind !== undefined && destinationKind !== stored.destinationKind) {
    throw endpointInvalid('destination_kind cannot be changed.');
  }
  if (isQueue && typeof url === 'string') throw endpointInvalid('url cannot be set: the destination is a queue.');
  if (!isQueue && sqs != null) throw endpointInvalid('sqs cannot be set: the destination is a url.');
  if (!isQueue && url === null) throw endpointInvalid('url cannot be removed: it is the destination.');
  if (isQueue && sqs === null) throw endpointInvalid('sqs cannot be removed: it is the destination.');
}

function contentOf(stored: Endpoint, secrets: EndpointSecrets): Content {
  const { url, enabledEvents, status, maxBatchSize, maxBatchDelayMs, maxInFlight, description, sqs } = stored;
  const scalars = { url, enabledEvents, status, maxBatchSize, maxBatchDelayMs, maxInFlight, description };
  return { ...scalars, queue: sqs === null ? null : openQueue(stored.id, sqs, secrets) };
}

function openQueue(endpointId: string, sqs: SqsRecord, secrets: EndpointSecrets): QueueContent {
  const { secretAccessKey } = sqs;
  const opened = secretAccessKey === null ? null : secrets.open(endpointId, 'sqs_secret', secretAccessKey);
  return { ...sqs, secretAccessKey: opened };
}

function mergeContent(before: Content, draft: EndpointDraft, { random }: MergeFacts): Content {
  const controls = CONTROLS.map(({ name }) => [name, draft[name] ?? before[name]] as const);
  return {
    ...before,
    ...(Object.fromEntries(controls) as Record<ControlName, number>),
    url: draft.url ?? before.url,
    enabledEvents: draft.enabledEvents ?? before.enabledEvents,
    status: draft.status ?? before.status,
    description: draft.description === undefined ? before.description : draft.description,
    queue: before.queue === null || draft.sqs == null ? before.queue : mergeQueue(before.queue, draft.sqs, random),
  };
}

function changedFields(before: Content, after: Content): readonly string[] {
  const differs = {
    url: after.url !== before.url,
    sqs: JSON.stringify(queueList(after)) !== JSON.stringify(queueList(before)),
    enabled_events: JSON.stringify(after.enabledEvents) !== JSON.stringify(before.enabledEvents),
    status: after.status !== before.status,
    ...Object.fromEntries(CONTROLS.map(({ name, field }) => [field, after[name] !== before[name]])),
    description: after.description !== before.description,
  };
  return Object.entries(differs).flatMap(([field, changes]) => (changes ? [field] : []));
}

function queueList({ queue }: Content): readonly (string | null)[] {
  if (queue === null) return [];
  return [queue.queueUrl, queue.roleArn, queue.externalId, queue.accessKeyId, queue.secretAccessKey];
}

/** An unchanged secret keeps its sealed bytes. */
function resealQueue({ id, sqs }: Endpoint, queue: QueueContent, secrets: EndpointSecrets): SqsRecord {
  const sealed = sealQueue(secrets, id, queue);
  const stored = sqs?.secretAccessKey ?? null;
  const isSame = stored !== null && secrets.open(id, 'sqs_secret', stored) === queue.secretAccessKey;
  return isSame ? { ...sealed, secretAccessKey: stored } : sealed;
}

type StatusFields = Pick<EndpointRecord, 'disabledReason' | 'disabledAtMs'>;

function statusChange(stored: Endpoint, { status }: Content, nowMs: number): StatusFields {
  if (status === 'active') return { disabledReason: null, disabledAtMs: null };
  if (stored.status === 'active') return { disabledReason: 'manual', disabledAtMs: nowMs };
  return { disabledReason: stored.disabledReason, disabledAtMs: stored.disabledAtMs };
}
