/** Queues as destinations: new ones, updated ones, and the checks of both. */

import type { RandomBytes } from '../clock.ts';
import type { CredentialMode, SqsRecord } from './endpoint.ts';
import { endpointInvalid, type SqsDraft, type StatedQueue } from './endpoint-draft.ts';
import { checkQueueUrl, type QueueService, roleArnProblem } from './queue-url.ts';

/** A queue with its secret in plain text. */
export type QueueContent = Omit<SqsRecord, 'secretAccessKey'> & { readonly secretAccessKey: string | null };

export type QueueRules = {
  readonly service: QueueService;
  /** Whether endpoints may use the AWS credentials of this server. */
  readonly isAmbientAllowed: boolean;
};

const EXTERNAL_ID_BYTES = 16;
const PRINTABLE_ASCII = /^[ -~]*$/;

export function credentialModeOf({
  roleArn,
  accessKeyId,
}: Pick<QueueContent, 'roleArn' | 'accessKeyId'>): CredentialMode {
  if (roleArn !== null) return 'assume_role';
  return accessKeyId === null ? 'ambient' : 'static';
}

/** A new queue. */
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

/** A stored queue with the changes of an update. Throws webhook_endpoint_invalid where they contradict each other. */
export function mergeQueue(stored: QueueContent, sent: SqsDraft, random: RandomBytes): QueueContent {
  const draft = withoutOtherPair(stored, sent);
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

/** Throws webhook_endpoint_invalid for the first problem. `stated` must agree with the rest of the queue. */
export function requireQueue(
  content: QueueContent,
  { service, isAmbientAllowed }: QueueRules,
  stated: Partial<StatedQueue> = {},
): void {
  const { queueUrl, roleArn, externalId, accessKeyId, secretAccessKey } = content;
  const verdict = checkQueueUrl(queueUrl, service);
  if (verdict.kind === 'problem') throw endpointInvalid(verdict.problem);
  requireAgreement(stated, { ...verdict.queue, credentialMode: credentialModeOf(content) });
  const roleProblem = roleArn === null ? null : roleArnProblem(roleArn);
  if (roleProblem !== null) throw endpointInvalid(roleProblem);
  if (externalId !== null && roleArn === null)
    throw endpointInvalid('sqs.external_id can only be set with sqs.role_arn.');
  if ((accessKeyId === null) !== (secretAccessKey === null)) {
    throw endpointInvalid('sqs.access_key_id and sqs.secret_access_key must be set together.');
  }
  // It stands in a header of signed requests.
  if (accessKeyId !== null && !PRINTABLE_ASCII.test(accessKeyId)) {
    throw endpointInvalid('sqs.access_key_id must be printable ASCII characters.');
  }
  if (credentialModeOf(content) === 'ambient' && !isAmbientAllowed) {
    throw endpointInvalid(
      'The queue needs credentials: set sqs.access_key_id and sqs.secret_access_key. Those of this server are not allowed.',
    );
  }
}

const STATED = [
  ['region', 'sqs.region', 'the queue URL means'],
  ['accountId', 'sqs.account_id', 'the queue URL means'],
  ['queueName', 'sqs.queue_name', 'the queue URL means'],
  ['credentialMode', 'sqs.credential_mode', 'the credentials mean'],
] as const;

/**
 * Throws webhook_endpoint_invalid where a request states something else than follows from the rest: ignoring that would make
 * another endpoint than the one that was meant.
 */
export function requireAgreement(stated: Partial<StatedQueue>, implied: StatedQueue): void {
  for (const [name, field, meaning] of STATED) {
    if (stated[name] === undefined || stated[name] === implied[name]) continue;
    throw endpointInvalid(`${field} contradicts the rest of sqs: ${meaning} ${implied[name]}.`);
  }
}

/** Removing the key pair of a mode that the queue does not have changes nothing, and a secret for one is refused. */
function withoutOtherPair(stored: QueueContent, draft: SqsDraft): SqsDraft {
  const { pairOf, accessKeyId, secretAccessKey, ...rest } = draft;
  if (pairOf === undefined || typeof accessKeyId === 'string' || pairOf === credentialModeOf(stored)) return draft;
  if (typeof secretAccessKey === 'string') {
    throw endpointInvalid('sqs.access_key_id and sqs.secret_access_key must be set together.');
  }
  return rest;
}

/** A role in the update replaces a key pair, and the reverse. */
function withoutReplaced(stored: QueueContent, { roleArn, accessKeyId }: SqsDraft): QueueContent {
  const namesRole = typeof roleArn === 'string';
  const namesPair = typeof accessKeyId === 'string';
  if (namesRole && namesPair) {
    throw endpointInvalid('A change of sqs names only one of role_arn|access_key_id: each replaces the other.');
  }
  if (namesRole) return { ...stored, accessKeyId: null, secretAccessKey: null };
  if (!namesPair) return stored;
  // A secret access key is valid only with its id.
  const secretAccessKey = accessKeyId === stored.accessKeyId ? stored.secretAccessKey : null;
  return { ...stored, roleArn: null, externalId: null, secretAccessKey };
}

/** A role is never assumed without an external id, which its owner can require. */
function withExternalId(content: QueueContent, random: RandomBytes): QueueContent {
  if (content.roleArn === null || content.externalId !== null) return content;
  return { ...content, externalId: `lw-${random(EXTERNAL_ID_BYTES).toString('hex')}` };
}
