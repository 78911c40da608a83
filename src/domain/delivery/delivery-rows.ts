/**
 * The rows that one transaction of delivery work reads and writes. The rules run on rows loaded ahead and never wait;
 * the store writes all changes at the end.
 */

import type { Endpoint } from '../endpoints/endpoint.ts';
import type { Attempt, AttemptReport, Delivery, Replay } from './delivery.ts';
import type { EndpointLifecycle } from './delivery-step.ts';
import type { CreatedSpan } from './webhook-store.ts';

export type EndpointRow = EndpointLifecycle &
  Pick<Endpoint, 'number' | 'id' | 'organizationNumber' | 'version' | 'maxInFlight'> & {
    readonly position: number;
    readonly inFlight: number;
    readonly subscriptionsJson: string;
  };

/** The columns of a delivery that change after it is created, and its keys. */
export type DeliveryRow = Omit<Delivery, 'replayId' | 'eventIds' | 'eventsFromMs' | 'createdAtMs'> & {
  readonly eventCount: number;
  readonly replayNumber: number | null;
  /** How the replay counts the events of this delivery; null: not counted yet, or not part of a replay. */
  readonly counted: 'delivered' | 'dead' | null;
  /** The newest attempt. With `lastAttemptAtMs` it is the key of its row. */
  readonly attemptId: string | null;
};

export type DeliveryContent = {
  readonly seqs: readonly number[];
  readonly created: CreatedSpan;
  /** Whether the log still holds all envelopes of the delivery. */
  readonly isKept: boolean;
};

export type ReplayRow = Pick<
  Replay,
  'endpointNumber' | 'status' | 'enqueued' | 'delivered' | 'dead' | 'completedAtMs'
> & {
  readonly number: number;
  readonly position: number;
  readonly toSeq: number;
};

export type NewDeliveryRow = DeliveryRow &
  Pick<Delivery, 'eventIds' | 'eventsFromMs' | 'createdAtMs'> & {
    readonly seqs: readonly number[];
    readonly eventsToMs: number;
    /** When the oldest event started to wait: its creation, or the start of the delivery in a replay. */
    readonly queuedAtMs: number;
  };

export type AttemptEnd = AttemptReport & Pick<Attempt, 'outcome'>;

export type EndedAttempt = AttemptEnd & Pick<Attempt, 'firedAtMs' | 'id'> & { readonly endpointNumber: number };

export type AttemptRow = EndedAttempt & Pick<Attempt, 'attempt' | 'test'> & { readonly deliveryNumber: number };

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
