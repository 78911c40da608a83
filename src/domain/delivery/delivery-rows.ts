/**
 * The rows that one transaction of delivery work reads and writes. The rules run on rows loaded ahead and never wait;
 * the store writes all changes at the end.
 */

import type { AttemptOutcome, DeliveryState, ReplayStatus } from './delivery.ts';
import type { EndpointLifecycle } from './delivery-step.ts';
import type { CreatedSpan } from './webhook-store.ts';

export type EndpointRow = EndpointLifecycle & {
  readonly number: number;
  readonly id: string;
  readonly organizationNumber: number;
  readonly version: number;
  readonly maxInFlight: number;
  readonly position: number;
  readonly inFlight: number;
  readonly subscriptionsJson: string;
};

/** The columns of a delivery that change after it is created, and its keys. */
export type DeliveryRow = DeliveryState & {
  readonly number: number;
  readonly endpointNumber: number;
  readonly dispatchId: string;
  readonly test: boolean;
  readonly eventCount: number;
  readonly replayNumber: number | null;
  /** How the replay counts the events of this delivery; null: not counted yet, or not part of a replay. */
  readonly counted: 'delivered' | 'dead' | null;
  readonly firstAttemptAtMs: number | null;
  /** The next five describe the newest attempt; its id and instant are the key of its row. */
  readonly attemptId: string | null;
  readonly lastAttemptAtMs: number | null;
  readonly responseStatus: number | null;
  readonly error: string | null;
  readonly terminalHint: boolean;
};

export type DeliveryContent = {
  readonly seqs: readonly number[];
  readonly created: CreatedSpan;
  /** Whether the log still holds all envelopes of the delivery. */
  readonly isKept: boolean;
};

export type ReplayRow = {
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

export type NewDeliveryRow = DeliveryRow & {
  readonly seqs: readonly number[];
  readonly eventIds: readonly string[];
  readonly eventsFromMs: number;
  readonly eventsToMs: number;
  /** When the oldest event started to wait: its creation, or the start of the delivery in a replay. */
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

/** An increment to the stored counts. */
export type FinishedCount = {
  readonly endpointNumber: number;
  /** Unit: ten seconds since the epoch. */
  readonly bucket: number;
  readonly finished: number;
  readonly succeeded: number;
};

/** An increment to the stored counts. */
export type HourCount = {
  readonly organizationNumber: number;
  /** Hours since the epoch. */
  readonly hour: number;
  readonly attempts: number;
};

/** Length of a bucket of `FinishedCount`. */
export const BUCKET_MS = 10_000;
export const HOUR_MS = 3_600_000;
