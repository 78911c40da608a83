/** What the enums of webhooks are in rows. */

import type { AttemptOutcome, DeadReason, DeliveryStatus, ReplayStatus } from '../../domain/delivery.ts';
import { type Codes, createCodes } from './codes.ts';

export const deliveryStatuses: Codes<DeliveryStatus> = createCodes({
  delivered: 0,
  queued: 1,
  sending: 2,
  retrying: 3,
  dead: 4,
  cancelled: 5,
});

export const attemptOutcomes: Codes<AttemptOutcome> = createCodes({
  success: 0,
  pending: 1,
  retryable: 2,
  terminal: 3,
});

export const deadReasons: Codes<DeadReason> = createCodes({
  exhausted: 0,
  receiver_gone: 1,
  too_large: 2,
  expired: 3,
});

/** What the events of a delivery count as in the progress of its replay. */
export const replayCounts: Codes<'delivered' | 'dead'> = createCodes({ delivered: 0, dead: 1 });

export const replayStatuses: Codes<ReplayStatus> = createCodes({ running: 0, completed: 1, cancelled: 2 });
