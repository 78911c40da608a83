/** What the API shows of an endpoint. */

import { pick } from '../pick.ts';
import type { EndpointRecord, EndpointStreak, SqsRecord } from './endpoint.ts';
import type { StatedQueue } from './endpoint-draft.ts';
import { credentialModeOf } from './endpoint-queue.ts';
import { checkQueueUrl, type QueueService } from './queue-url.ts';

export type QueueView = Omit<SqsRecord, 'secretAccessKey'> & StatedQueue;

const SHOWN = [
  'id',
  'destinationKind',
  'url',
  'enabledEvents',
  'status',
  'disabledReason',
  'disabledAtMs',
  'failingSinceMs',
  'lastSuccessAtMs',
  'lastFailureAtMs',
  'consecutiveFailures',
  'maxBatchSize',
  'maxBatchDelayMs',
  'maxInFlight',
  'createdAtMs',
  'updatedAtMs',
] as const;

/** Without secrets. */
export type EndpointView = Pick<EndpointRecord & EndpointStreak, (typeof SHOWN)[number]> & {
  readonly sqs: QueueView | null;
};

/** An endpoint with its signing secret. Only creation and roll return it. */
export type SecretEndpoint = { readonly endpoint: EndpointView; readonly secret: string };

export function viewEndpoint(endpoint: EndpointRecord & EndpointStreak, service: QueueService): EndpointView {
  return { ...pick(endpoint, SHOWN), sqs: endpoint.sqs === null ? null : viewQueue(endpoint.sqs, service) };
}

export function viewQueue(sqs: SqsRecord, service: QueueService): QueueView {
  const { secretAccessKey: _, ...shown } = sqs;
  return { ...shown, ...readAddress(sqs.queueUrl, service), credentialMode: credentialModeOf(sqs) };
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
