/** Converts endpoints and deliveries into messages. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  AttemptOutcome,
  type AttemptSchema,
  DeadReason,
  type DeliverySchema,
  DeliveryState,
  DestinationKind,
  DisabledReason,
  type EndpointHealthSchema,
  type EndpointSchema,
  EndpointStatus,
  type EndpointTestSchema,
  type ReplaySchema,
  ReplayStatus,
  type SqsDestinationSchema,
} from '../../../gen/spandrel/v1/endpoints_pb.js';
import type { Attempt } from '../../domain/delivery/delivery.ts';
import type { DeliveryView, ReplayView } from '../../domain/delivery/delivery-view.ts';
import type { EndpointHealth } from '../../domain/endpoints/endpoint-health.ts';
import type { TestOutcome } from '../../domain/endpoints/endpoint-tests.ts';
import type { EndpointView, QueueView, SecretEndpoint } from '../../domain/endpoints/endpoint-view.ts';
import { numbersOf } from '../enums.ts';
import { timestampOfMs, toTimestamp } from '../epoch-ms.ts';
import { fieldsOf } from '../field-values.ts';

const KINDS = numbersOf(DestinationKind);
const STATUSES = numbersOf(EndpointStatus);
const DISABLED_REASONS = numbersOf(DisabledReason);
const OUTCOMES = numbersOf(AttemptOutcome);
const DELIVERY_STATES = numbersOf(DeliveryState);
const DEAD_REASONS = numbersOf(DeadReason);
const REPLAY_STATUSES = numbersOf(ReplayStatus);

export function toEndpoint(endpoint: EndpointView): MessageInitShape<typeof EndpointSchema> {
  return {
    ...fieldsOf(endpoint),
    ...toStatus(endpoint),
    destinationKind: KINDS[endpoint.destinationKind],
    destination:
      endpoint.sqs === null
        ? { case: 'url', value: endpoint.url ?? '' }
        : { case: 'sqs', value: toQueue(endpoint.sqs) },
  };
}

/** The only message with a secret. */
export function toSecretEndpoint({ endpoint, secret }: SecretEndpoint): MessageInitShape<typeof EndpointSchema> {
  return { ...toEndpoint(endpoint), secret };
}

export function toAttempt(attempt: Attempt): MessageInitShape<typeof AttemptSchema> {
  return {
    ...fieldsOf(attempt),
    attempt: BigInt(attempt.attempt),
    eventCount: BigInt(attempt.eventIds.length),
    outcome: OUTCOMES[attempt.outcome],
    latencyMs: toInteger(attempt.latencyMs),
  };
}

export function toDelivery(delivery: DeliveryView): MessageInitShape<typeof DeliverySchema> {
  const { deadReason } = delivery;
  return {
    ...fieldsOf(delivery),
    state: DELIVERY_STATES[delivery.state],
    deadReason: deadReason === null ? undefined : DEAD_REASONS[deadReason],
    eventCount: BigInt(delivery.eventIds.length),
    attemptCount: BigInt(delivery.attemptCount),
  };
}

export function toReplay(replay: ReplayView): MessageInitShape<typeof ReplaySchema> {
  const { id, fromMs, toMs, type, matched, enqueued, delivered, dead } = replay;
  return {
    ...fieldsOf(replay),
    replayId: id,
    status: REPLAY_STATUSES[replay.status],
    createdFrom: timestampOfMs(fromMs),
    createdTo: timestampOfMs(toMs),
    eventType: type ?? undefined,
    matched: BigInt(matched),
    enqueued: BigInt(enqueued),
    delivered: BigInt(delivered),
    dead: BigInt(dead),
  };
}

export function toHealth(health: EndpointHealth): MessageInitShape<typeof EndpointHealthSchema> {
  return {
    ...toStatus(health),
    oldestUndeliveredAgeMs: toInteger(health.oldestUndeliveredAgeMs),
    dlqDepth: BigInt(health.dlqDepth),
    sendsPerMinute: health.sendsPerMinute,
    successRate: health.successRate ?? undefined,
    p95LatencyMs: toInteger(health.p95LatencyMs),
    extras: {
      queuedEvents: BigInt(health.queuedEvents),
      retrying: BigInt(health.retrying),
      held: BigInt(health.held),
      inFlight: BigInt(health.inFlight),
      consecutiveFailures: BigInt(health.consecutiveFailures),
      previousSecretExpiresAt: toTimestamp(health.previousSecretExpiresAtMs),
      description: health.description ?? undefined,
    },
  };
}

export function toTest({ responseStatus, ...outcome }: TestOutcome): MessageInitShape<typeof EndpointTestSchema> {
  return { ...outcome, responseStatus: responseStatus ?? undefined };
}

type StatusFields = Pick<
  EndpointView,
  'status' | 'disabledReason' | 'failingSinceMs' | 'lastSuccessAtMs' | 'lastFailureAtMs'
>;

/** What endpoints and their health have in common. */
function toStatus(status: StatusFields) {
  const { disabledReason } = status;
  return {
    ...fieldsOf(status),
    status: STATUSES[status.status],
    disabledReason: disabledReason === null ? undefined : DISABLED_REASONS[disabledReason],
  };
}

function toQueue(queue: QueueView): MessageInitShape<typeof SqsDestinationSchema> {
  const { queueUrl, region, accountId, queueName } = queue;
  return { queueUrl, region, accountId, queueName, credentials: toCredentials(queue) };
}

type Credentials = NonNullable<MessageInitShape<typeof SqsDestinationSchema>['credentials']>;

function toCredentials({ credentialMode, roleArn, externalId, accessKeyId }: QueueView): Credentials {
  const pair = accessKeyId === null ? undefined : { accessKeyId };
  switch (credentialMode) {
    case 'assume_role':
      return {
        case: 'assumeRole',
        value: { roleArn: roleArn ?? undefined, externalId: externalId ?? undefined, base: pair },
      };
    case 'static':
      return { case: 'accessKeys', value: pair ?? {} };
    case 'ambient':
      return { case: 'ambient', value: {} };
  }
}

function toInteger(value: number | null): bigint | undefined {
  return value === null ? undefined : BigInt(value);
}
