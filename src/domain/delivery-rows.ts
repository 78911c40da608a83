/**
 * The rows that one transaction of work about deliveries reads and writes. The work never waits: it finds in memory what
 * was read ahead, keeps there what it changes, and leaves the changes to be written at once.
 */

import type { AttemptOutcome, DeliveryState, ReplayStatus } from './delivery.ts';
import type { EndpointState } from './delivery-step.ts';
import type { CreatedSpan } from './webhook-store.ts';

export type WorkEndpoint = EndpointState & {
  readonly number: number;
  readonly id: string;
  readonly organizationNumber: number;
  readonly version: number;
  readonly maxInFlight: number;
  readonly position: number;
  readonly inFlight: number;
  readonly subscriptionsJson: string;
};

/** What of a delivery changes. */
export type WorkDelivery = DeliveryState & {
  readonly number: number;
  readonly endpointNumber: number;
  readonly dispatchId: string;
  readonly test: boolean;
  readonly eventCount: number;
  readonly replayNumber: number | null;
  /** What its events count as in the progress of the replay; null: as nothing yet, or it is not of a replay. */
  readonly counted: 'delivered' | 'dead' | null;
  readonly firstAttemptAtMs: number | null;
  /** The next five are of the newest attempt; id and instant find its row. */
  readonly attemptId: string | null;
  readonly lastAttemptAtMs: number | null;
  readonly responseStatus: number | null;
  readonly error: string | null;
  readonly terminalHint: boolean;
};

export type WorkContent = {
  readonly seqs: readonly number[];
  readonly created: CreatedSpan;
  /** Whether all of its envelopes are still in the log. */
  readonly isKept: boolean;
};

export type WorkReplay = {
  readonly number: number;
  readonly endpointNumber: number;
  readonly status: ReplayStatus;
  readonly position: number;
  readonly toSeq: number;
  readonly enqueued: number;
  readonly delivered: number;
  readonly dead: number;
  readonly completedAtMs: number | null;
};

export type NewDelivery = WorkDelivery & {
  readonly seqsJson: string;
  readonly eventIdsJson: string;
  readonly eventsFromMs: number;
  readonly eventsToMs: number;
  /** Since when the oldest of its events has waited. */
  readonly queuedAtMs: number;
  readonly createdAtMs: number;
};

export type EndedAttempt = AttemptEnd & {
  readonly endpointNumber: number;
  readonly firedAtMs: number;
  readonly id: string;
};

export type AttemptRow = EndedAttempt & {
  readonly deliveryNumber: number;
  readonly attempt: number;
  readonly test: boolean;
};

export type AttemptEnd = {
  readonly outcome: AttemptOutcome;
  readonly responseStatus: number | null;
  readonly latencyMs: number | null;
  readonly error: string | null;
  readonly responseBody: string | null;
  readonly terminalHint: boolean;
};

/** To be added to what is there. */
export type FinishedCount = {
  readonly endpointNumber: number;
  /** Tens of seconds since the epoch. */
  readonly bucket: number;
  readonly finished: number;
  readonly succeeded: number;
};

/** To be added to what is there. */
export type HourCount = {
  readonly organizationNumber: number;
  /** Counted from the epoch. */
  readonly hour: number;
  readonly attempts: number;
};

/** Length of a bucket of `FinishedCount`. */
export const BUCKET_MS = 10_000;
export const HOUR_MS = 3_600_000;
