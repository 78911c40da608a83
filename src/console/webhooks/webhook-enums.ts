/** The names of enum values, and the tone of their badges. */

import {
  AttemptOutcome,
  DeadReason,
  DisabledReason,
  type Endpoint,
  EndpointStatus,
  ReplayStatus,
} from '../../../gen/spandrel/v1/endpoints_pb.js';
import type { Tone } from '../design/button.tsx';

type NameAndTone = { readonly text: string; readonly tone: Tone };

const OUTCOMES: { readonly [outcome: number]: NameAndTone } = {
  [AttemptOutcome.PENDING]: { text: 'pending', tone: 'quiet' },
  [AttemptOutcome.SUCCESS]: { text: 'delivered', tone: 'good' },
  [AttemptOutcome.RETRYABLE]: { text: 'failed, will be retried', tone: 'warn' },
  [AttemptOutcome.TERMINAL]: { text: 'failed', tone: 'bad' },
};

const DISABLED: { readonly [reason: number]: string } = {
  [DisabledReason.MANUAL]: 'Somebody disabled it.',
  [DisabledReason.AUTO_FAILURES_72H]: 'Disabled because no attempt succeeded for 72 hours.',
  [DisabledReason.RECEIVER_GONE]: 'Disabled because the receiver answered 410 Gone.',
};

const DEAD: { readonly [reason: number]: string } = {
  [DeadReason.EXHAUSTED]: 'all attempts failed',
  [DeadReason.RECEIVER_GONE]: 'the receiver is gone',
  [DeadReason.TOO_LARGE]: 'larger than the queue accepts',
  [DeadReason.EXPIRED]: 'retention removed its events',
};

const REPLAYS: { readonly [status: number]: NameAndTone } = {
  [ReplayStatus.RUNNING]: { text: 'running', tone: 'accent' },
  [ReplayStatus.PAUSED]: { text: 'waits for the endpoint', tone: 'warn' },
  [ReplayStatus.COMPLETED]: { text: 'completed', tone: 'good' },
  [ReplayStatus.CANCELLED]: { text: 'cancelled', tone: 'quiet' },
};

const UNKNOWN: NameAndTone = { text: 'unknown', tone: 'quiet' };

export const outcomeName = (outcome: AttemptOutcome): NameAndTone => OUTCOMES[outcome] ?? UNKNOWN;
export const replayStatusName = (status: ReplayStatus): NameAndTone => REPLAYS[status] ?? UNKNOWN;
export const disabledReasonName = (reason: DisabledReason | undefined): string => (reason && DISABLED[reason]) || '';
export const deadReasonName = (reason: DeadReason | undefined): string => (reason && DEAD[reason]) || '';

export function endpointStatusName(status: EndpointStatus, failingSince: unknown): NameAndTone {
  if (status === EndpointStatus.DISABLED) return { text: 'disabled', tone: 'bad' };
  return failingSince ? { text: 'failing', tone: 'warn' } : { text: 'active', tone: 'good' };
}

/** The address that batches go to. */
export function addressOf({ destination, id }: Endpoint): string {
  if (destination.case === 'url') return destination.value;
  return destination.value?.queueUrl ?? id;
}
