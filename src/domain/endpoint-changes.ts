/** Changing and ending an endpoint that exists, and giving it a new secret. */

import { type Actor, auditRecord } from './audit.ts';
import type { Endpoint, EndpointRecord } from './endpoint.ts';
import {
  decideOnceOnEndpoint,
  decideOnEndpoint,
  type EndpointDeps,
  type EndpointTarget,
  requireEndpoint,
  TARGET_TYPE,
} from './endpoint-deps.ts';
import { changeProblems, type EndpointDraft } from './endpoint-draft.ts';
import { mergeEndpoint, recordOf } from './endpoint-update.ts';
import { requireUrl } from './endpoint-values.ts';
import { type EndpointView, type SecretEndpoint, viewEndpoint } from './endpoint-view.ts';
import type { AuditRecord } from './management.ts';
import type { ReceiptOf } from './management-call.ts';
import { refuseProblems } from './reasons.ts';
import { mintWebhookSecret } from './webhook-signature.ts';

export type EndpointUpdate = EndpointTarget & { readonly draft: EndpointDraft };

/** Changes what was sent, in one write. The answer is the endpoint as it is now. */
export async function updateEndpoint(deps: EndpointDeps, { call, id, draft }: EndpointUpdate): Promise<EndpointView> {
  const { random, queues, secrets } = deps;
  const { nowMs } = call;
  refuseProblems(changeProblems(draft));
  await vetNewUrl(deps, { call, id, draft });
  return decideOnEndpoint(deps, { call, id }, (_, stored) => {
    const { record, fields, clearsStreak } = mergeEndpoint(stored, draft, { nowMs, random, secrets, queues });
    if (fields.length === 0) return { result: viewEndpoint(stored, queues.service), change: null };
    const streak = clearsStreak ? { failingSinceMs: null, consecutiveFailures: 0 } : {};
    const result = viewEndpoint({ ...stored, ...record, ...streak }, queues.service);
    const endpoints = [{ record, expectedVersion: stored.version, clearsStreak }];
    return { result, change: { endpoints, audit: [entry(deps, call, { action: 'update', id, fields })] } };
  });
}

/** Looks the host up outside of the decision, which may have to be made many times. */
async function vetNewUrl(deps: EndpointDeps, { call, id, draft }: EndpointUpdate): Promise<void> {
  if (typeof draft.url !== 'string') return;
  const stored = await requireEndpoint(deps.webhooks, call.caller.organization.id, id);
  // What is wrong with it for another reason is for the decision to say.
  if (stored.destinationKind === 'http' && stored.url !== draft.url) await requireUrl(deps, draft.url);
}

/** Ends it for good, and erases what it kept sealed. */
export function archiveEndpoint(deps: EndpointDeps, { call, id }: EndpointTarget): Promise<void> {
  return decideOnEndpoint(deps, { call, id }, (_, stored) => {
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
    return { result: undefined, change: { endpoints, audit: [entry(deps, call, { action: 'archive', id })] } };
  });
}

export type SecretRoll = EndpointTarget & {
  /** How long the secret before signs too; 0: it no longer does. */
  readonly overlapSeconds: number;
  readonly receipt: ReceiptOf<SecretEndpoint>;
};

/** Gives the endpoint a new secret. Only the newest of the secrets before it lives on. */
export function rollSecret(
  deps: EndpointDeps,
  { call, id, overlapSeconds, receipt }: SecretRoll,
): Promise<SecretEndpoint> {
  const { queues, random } = deps;
  return decideOnceOnEndpoint(
    deps,
    { call, id },
    {
      receipt,
      take(stored) {
        const secret = mintWebhookSecret(random);
        const record = withSecret(deps, stored, { secret, nowMs: call.nowMs, overlapSeconds });
        const result = { endpoint: viewEndpoint({ ...stored, ...record }, queues.service), secret };
        const endpoints = [{ record, expectedVersion: stored.version, clearsStreak: false }];
        const audit = [entry(deps, call, { action: 'rollSecret', id })];
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
  // Sealed for its place, so it has to be sealed anew for the other one.
  const moved = () => secrets.seal(id, 'previous_secret', secrets.open(id, 'secret', stored.secret));
  return {
    ...recordOf(stored),
    secret: secrets.seal(id, 'secret', secret),
    previousSecret: overlaps ? moved() : null,
    previousSecretUntilMs: overlaps ? nowMs + overlapSeconds * 1000 : null,
    updatedAtMs: nowMs,
  };
}

type Deed = { readonly action: string; readonly id: string; readonly fields?: readonly string[] };

function entry(
  { random }: EndpointDeps,
  { actor, nowMs }: { readonly actor: Actor; readonly nowMs: number },
  { action, id, fields = [] }: Deed,
): AuditRecord {
  const deed = { action: `${TARGET_TYPE}.${action}`, targetType: TARGET_TYPE, targetId: id, fields };
  return auditRecord(actor, deed, { nowMs, random });
}
