/** Updates and archives endpoints, and rolls their secrets. */

import { type Actor, auditRecord } from '../management/audit.ts';
import type { AuditRecord } from '../management/management.ts';
import type { ReceiptOf } from '../management/management-call.ts';
import { refuseProblems } from '../reasons.ts';
import type { Endpoint, EndpointRecord } from './endpoint.ts';
import {
  commitIdempotentlyOnEndpoint,
  commitOnEndpoint,
  type EndpointDeps,
  type EndpointTarget,
  requireEndpoint,
  TARGET_TYPE,
} from './endpoint-deps.ts';
import { changeProblems, type EndpointDraft } from './endpoint-draft.ts';
import { mergeEndpoint, recordOf } from './endpoint-update.ts';
import { requireUrl } from './endpoint-values.ts';
import { type EndpointView, type SecretEndpoint, viewEndpoint } from './endpoint-view.ts';
import { mintWebhookSecret } from './webhook-signature.ts';

type EndpointUpdate = EndpointTarget & { readonly draft: EndpointDraft };

/** Changes the fields that were sent, in one write, and returns the endpoint as it is then. */
export async function updateEndpoint(deps: EndpointDeps, { call, id, draft }: EndpointUpdate): Promise<EndpointView> {
  const { random, queues, secrets } = deps;
  const { nowMs } = call;
  refuseProblems(changeProblems(draft));
  await checkNewUrl(deps, { call, id, draft });
  return commitOnEndpoint(deps, { call, id }, (_, stored) => {
    const { record, fields, clearsStreak } = mergeEndpoint(stored, draft, { nowMs, random, secrets, queues });
    if (fields.length === 0) return { result: viewEndpoint(stored, queues.service), change: null };
    const streak = clearsStreak ? { failingSinceMs: null, consecutiveFailures: 0 } : {};
    const result = viewEndpoint({ ...stored, ...record, ...streak }, queues.service);
    const endpoints = [{ record, expectedVersion: stored.version, clearsStreak }];
    return { result, change: { endpoints, audit: [auditEntry(deps, call, { action: 'update', id, fields })] } };
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
export function archiveEndpoint(deps: EndpointDeps, { call, id }: EndpointTarget): Promise<void> {
  return commitOnEndpoint(deps, { call, id }, (_, stored) => {
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
    return { result: undefined, change: { endpoints, audit: [auditEntry(deps, call, { action: 'archive', id })] } };
  });
}

export type SecretRoll = EndpointTarget & {
  /** How long the previous secret signs too; 0: not at all. */
  readonly overlapSeconds: number;
  readonly receipt: ReceiptOf<SecretEndpoint>;
};

/** Gives the endpoint a new secret. Only the previous one can stay valid beside it, no older one. */
export function rollSecret(
  deps: EndpointDeps,
  { call, id, overlapSeconds, receipt }: SecretRoll,
): Promise<SecretEndpoint> {
  const { queues, random } = deps;
  return commitIdempotentlyOnEndpoint(
    deps,
    { call, id },
    {
      receipt,
      attempt(stored) {
        const secret = mintWebhookSecret(random);
        const record = withSecret(deps, stored, { secret, nowMs: call.nowMs, overlapSeconds });
        const result = { endpoint: viewEndpoint({ ...stored, ...record }, queues.service), secret };
        const endpoints = [{ record, expectedVersion: stored.version, clearsStreak: false }];
        const audit = [auditEntry(deps, call, { action: 'rollSecret', id })];
        return { result, change: { endpoints, audit } };
      },
    },
  );
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

type AuditedAction = { readonly action: string; readonly id: string; readonly fields?: readonly string[] };

function auditEntry(
  { random }: EndpointDeps,
  { actor, nowMs }: { readonly actor: Actor; readonly nowMs: number },
  { action, id, fields = [] }: AuditedAction,
): AuditRecord {
  const audited = { action: `${TARGET_TYPE}.${action}`, targetType: TARGET_TYPE, targetId: id, fields };
  return auditRecord(actor, audited, { nowMs, random });
}
