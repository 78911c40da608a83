/** What the API shows of an endpoint. */

import type { EndpointRecord, EndpointStreak, SqsRecord } from './endpoint.ts';
import { type CredentialMode, credentialModeOf } from './endpoint-queue.ts';
import { checkQueueUrl, type QueueService } from './queue-url.ts';

export type QueueView = Pick<SqsRecord, 'queueUrl' | 'roleArn' | 'externalId' | 'accessKeyId'> & {
  readonly region: string;
  readonly accountId: string;
  readonly queueName: string;
  readonly credentialMode: CredentialMode;
};

/** Without secrets. */
export type EndpointView = EndpointStreak &
  Pick<
    EndpointRecord,
    | 'id'
    | 'destinationKind'
    | 'url'
    | 'enabledEvents'
    | 'status'
    | 'disabledReason'
    | 'disabledAtMs'
    | 'maxBatchSize'
    | 'maxBatchDelayMs'
    | 'maxInFlight'
    | 'createdAtMs'
    | 'updatedAtMs'
  > & { readonly sqs: QueueView | null };

/** An endpoint with its signing secret. Only creation and roll return it. */
export type SecretEndpoint = { readonly endpoint: EndpointView; readonly secret: string };

export function viewEndpoint(endpoint: EndpointRecord & EndpointStreak, service: QueueService): EndpointView {
  return {
    id: endpoint.id,
    destinationKind: endpoint.destinationKind,
    url: endpoint.url,
    sqs: endpoint.sqs === null ? null : viewQueue(endpoint.sqs, service),
    enabledEvents: endpoint.enabledEvents,
    status: endpoint.status,
    disabledReason: endpoint.disabledReason,
    disabledAtMs: endpoint.disabledAtMs,
    failingSinceMs: endpoint.failingSinceMs,
    lastSuccessAtMs: endpoint.lastSuccessAtMs,
    lastFailureAtMs: endpoint.lastFailureAtMs,
    consecutiveFailures: endpoint.consecutiveFailures,
    maxBatchSize: endpoint.maxBatchSize,
    maxBatchDelayMs: endpoint.maxBatchDelayMs,
    maxInFlight: endpoint.maxInFlight,
    createdAtMs: endpoint.createdAtMs,
    updatedAtMs: endpoint.updatedAtMs,
  };
}

function viewQueue(sqs: SqsRecord, service: QueueService): QueueView {
  const { queueUrl, roleArn, externalId, accessKeyId } = sqs;
  return {
    queueUrl,
    ...readAddress(queueUrl, service),
    credentialMode: credentialModeOf(sqs),
    roleArn,
    externalId,
    accessKeyId,
  };
}

/** Shows a stored address even if the operator has since configured another service. */
function readAddress(queueUrl: string, service: QueueService): Pick<QueueView, 'region' | 'accountId' | 'queueName'> {
  const verdict = checkQueueUrl(queueUrl, service);
  if (verdict.kind === 'queue') {
    const { region, accountId, queueName } = verdict.queue;
    return { region, accountId, queueName };
  }
  const [accountId = '', queueName = ''] = queueUrl.split('/').slice(-2);
  return { region: service.region, accountId, queueName };
}
