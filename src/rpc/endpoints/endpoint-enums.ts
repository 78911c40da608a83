/** Maps the enum values of webhook endpoints in the contract to those of the domain. */

import {
  AttemptOutcome,
  DeadReason,
  DeliveryState,
  DestinationKind,
  DisabledReason,
  EndpointStatus,
  ReplayStatus,
} from '../../../gen/spandrel/v1/endpoints_pb.js';
import type { Attempt, DeadReason as DeadReasonName } from '../../domain/delivery/delivery.ts';
import type { DeliveryView, ReplayView } from '../../domain/delivery/delivery-view.ts';
import type { DisabledReason as DisabledReasonName, EndpointRecord } from '../../domain/endpoints/endpoint.ts';

export const destinationKindNumbers: Readonly<Record<EndpointRecord['destinationKind'], DestinationKind>> = {
  http: DestinationKind.HTTP,
  sqs: DestinationKind.SQS,
};

export const endpointStatusNumbers: Readonly<Record<EndpointRecord['status'], EndpointStatus>> = {
  active: EndpointStatus.ACTIVE,
  disabled: EndpointStatus.DISABLED,
};

export const disabledReasonNumbers: Readonly<Record<DisabledReasonName, DisabledReason>> = {
  manual: DisabledReason.MANUAL,
  auto_failures_72h: DisabledReason.AUTO_FAILURES_72H,
  receiver_gone: DisabledReason.RECEIVER_GONE,
};

export const outcomeNumbers: Readonly<Record<Attempt['outcome'], AttemptOutcome>> = {
  pending: AttemptOutcome.PENDING,
  success: AttemptOutcome.SUCCESS,
  retryable: AttemptOutcome.RETRYABLE,
  terminal: AttemptOutcome.TERMINAL,
};

export const deliveryStateNumbers: Readonly<Record<DeliveryView['state'], DeliveryState>> = {
  queued: DeliveryState.QUEUED,
  sending: DeliveryState.SENDING,
  retrying: DeliveryState.RETRYING,
  held: DeliveryState.HELD,
  delivered: DeliveryState.DELIVERED,
  dead: DeliveryState.DEAD,
  cancelled: DeliveryState.CANCELLED,
};

export const deadReasonNumbers: Readonly<Record<DeadReasonName, DeadReason>> = {
  exhausted: DeadReason.EXHAUSTED,
  receiver_gone: DeadReason.RECEIVER_GONE,
  too_large: DeadReason.TOO_LARGE,
  expired: DeadReason.EXPIRED,
};

export const replayStatusNumbers: Readonly<Record<ReplayView['status'], ReplayStatus>> = {
  running: ReplayStatus.RUNNING,
  paused: ReplayStatus.PAUSED,
  completed: ReplayStatus.COMPLETED,
  cancelled: ReplayStatus.CANCELLED,
};
