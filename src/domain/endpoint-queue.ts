/** Queues as destinations: what a new one holds, what a change makes of a stored one, and whether the result may be. */

import type { RandomBytes } from './clock.ts';
import { endpointInvalid, type SqsDraft } from './endpoint-draft.ts';
import { judgeQueueUrl, type QueueService, roleArnProblem } from './queue-url.ts';

/** A queue with its secret in the clear. */
export type QueueContent = {
  readonly queueUrl: string;
  readonly roleArn: string | null;
  readonly externalId: string | null;
  readonly accessKeyId: string | null;
  readonly secretAccessKey: string | null;
};

export type QueueRules = {
  readonly service: QueueService;
  /** Whether queues may be reached with what this server itself has. */
  readonly isAmbientAllowed: boolean;
};

export type CredentialMode = 'assume_role' | 'static' | 'ambient';

const EXTERNAL_ID_BYTES = 16;

export function credentialModeOf({
  roleArn,
  accessKeyId,
}: Pick<QueueContent, 'roleArn' | 'accessKeyId'>): CredentialMode {
  if (roleArn !== null) return 'assume_role';
  return accessKeyId === null ? 'ambient' : 'static';
}

/** A queue that is new. */
export function newQueue(draft: SqsDraft, random: RandomBytes): QueueContent {
  const content = {
    queueUrl: draft.queueUrl?.trim() ?? '',
    roleArn: draft.roleArn ?? null,
    externalId: draft.externalId ?? null,
    accessKeyId: draft.accessKeyId ?? null,
    secretAccessKey: draft.secretAccessKey ?? null,
  };
  return withExternalId(content, random);
}

/** A stored queue with what was sent of a change. Throws webhook_endpoint_invalid where that asks for two things at once. */
export function mergeQueue(stored: QueueContent, draft: SqsDraft, random: RandomBytes): QueueContent {
  const kept = withoutReplaced(stored, draft);
  const clearsRole = draft.roleArn === null;
  const clearsPair = draft.accessKeyId === null || draft.secretAccessKey === null;
  const content = {
    queueUrl: draft.queueUrl?.trim() ?? kept.queueUrl,
    roleArn: clearsRole ? null : (draft.roleArn ?? kept.roleArn),
    externalId: draft.externalId === undefined && !clearsRole ? kept.externalId : (draft.externalId ?? null),
    accessKeyId: draft.accessKeyId ?? (clearsPair ? null : kept.accessKeyId),
    secretAccessKey: draft.secretAccessKey ?? (clearsPair ? null : kept.secretAccessKey),
  };
  return withExternalId(content, random);
}

/** Throws webhook_endpoint_invalid for the first thing that is wrong. */
export function requireQueue(content: QueueContent, { service, isAmbientAllowed }: QueueRules): void {
  const { queueUrl, roleArn, externalId, accessKeyId, secretAccessKey } = content;
  const verdict = judgeQueueUrl(queueUrl, service);
  if (verdict.kind === 'problem') throw endpointInvalid(verdict.problem);
  const roleProblem = roleArn === null ? null : roleArnProblem(roleArn);
  if (roleProblem !== null) throw endpointInvalid(roleProblem);
  if (externalId !== null && roleArn === null)
    throw endpointInvalid('sqs.external_id can only be set with sqs.role_arn.');
  if ((accessKeyId === null) !== (secretAccessKey === null)) {
    throw endpointInvalid('sqs.access_key_id and sqs.secret_access_key must be set together.');
  }
  if (credentialModeOf(content) === 'ambient' && !isAmbientAllowed) {
    throw endpointInvalid(
      'The queue needs credentials: set sqs.access_key_id and sqs.secret_access_key. Those of this server are not allowed.',
    );
  }
}

/** Each kind of credentials that is named replaces the other one. */
function withoutReplaced(stored: QueueContent, { roleArn, accessKeyId }: SqsDraft): QueueContent {
  const namesRole = typeof roleArn === 'string';
  const namesPair = typeof accessKeyId === 'string';
  if (namesRole && namesPair) {
    throw endpointInvalid('A change of sqs names only one of role_arn|access_key_id: each replaces the other.');
  }
  if (namesRole) return { ...stored, accessKeyId: null, secretAccessKey: null };
  if (!namesPair) return stored;
  // A secret belongs to its id.
  const secretAccessKey = accessKeyId === stored.accessKeyId ? stored.secretAccessKey : null;
  return { ...stored, roleArn: null, externalId: null, secretAccessKey };
}

/** A role is never taken on without an id that its owner can ask for. */
function withExternalId(content: QueueContent, random: RandomBytes): QueueContent {
  if (content.roleArn === null || content.externalId !== null) return content;
  return { ...content, externalId: `lw-${random(EXTERNAL_ID_BYTES).toString('hex')}` };
}
