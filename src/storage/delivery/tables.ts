/**
 * The rows that one transaction of work about deliveries reads and writes. The work is the same for every driver and
 * never waits: it reads through `WorkTables`, keeps what it changes in memory, and leaves the changes for the driver to
 * write at once. Each row is asked for at most once, before anything about it is changed.
 */

import type { AttemptOutcome, DeliveryState } from '../../domain/delivery.ts';
import type { EndpointState } from '../../domain/delivery-step.ts';
import type { Subscription } from '../../domain/endpoint.ts';
import type { CreatedSpan } from '../../domain/webhook-store.ts';

export type WorkTables = {
  /** The endpoint with its state, the row of which the transaction MUST hold until it ends. Archived ones too. */
  endpoint(number: number): WorkEndpoint | undefined;
  delivery(number: number): WorkDelivery | undefined;
  replay(number: number): WorkReplay | undefined;
  /** What a delivery carries, and whether all of its envelopes are still in the log. Asked only for `take`. */
  content(delivery: WorkDelivery, organizationNumber: number): WorkContent;
  /** Attempts of an organization in an hour (counted from the epoch). Asked only where there is a limit. */
  attemptsInHour(organizationNumber: number, hour: number): number;
  /** A number that no delivery has had. Asked once for every batch that is cut. */
  nextDeliveryNumber(): number;
};

export type WorkEndpoint = {
  readonly number: number;
  readonly organizationNumber: number;
  readonly version: number;
  readonly maxInFlight: number;
  readonly position: number;
  readonly inFlight: number;
  readonly subscriptions: readonly Subscription[];
  readonly state: EndpointState;
};

/** What of a delivery changes. */
export type WorkDelivery = {
  readonly number: number;
  readonly endpointNumber: number;
  readonly dispatchId: string;
  readonly test: boolean;
  readonly eventCount: number;
  readonly replayNumber: number | null;
  /** What its events count as in the progress of the replay; null: as nothing yet, or it is not of a replay. */
  readonly counted: 'delivered' | 'dead' | null;
  readonly state: DeliveryState;
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
  readonly isKept: boolean;
};

export type WorkReplay = {
  readonly number: number;
  readonly endpointNumber: number;
  readonly status: 'running' | 'completed' | 'cancelled';
  readonly position: number;
  readonly toSeq: number;
  readonly enqueued: number;
  readonly delivered: number;
  readonly dead: number;
  readonly completedAtMs: number | null;
};

/** Everything that a transaction has to write. Each row is named once, as it is in the end. */
export type WorkChanges = {
  /** Position, sends in progress, subscriptions that still matter, and the streak: columns of the state row. */
  readonly states: readonly WorkEndpoint[];
  /**
   * Disabled by what happened: status, reason, instant (also of the update) and version, on the row of the endpoint,
   * under a new change number. Their subscriptions MUST be closed with `changeSubscriptions` at the head of the log, which
   * the transaction holds from then on. All of them are in `states` too.
   */
  readonly disabled: readonly WorkEndpoint[];
  readonly newDeliveries: readonly NewDeliveryRow[];
  readonly deliveries: readonly WorkDelivery[];
  readonly newAttempts: readonly AttemptRow[];
  readonly endedAttempts: readonly EndedAttempt[];
  readonly replays: readonly WorkReplay[];
  /** To be added to what is there. */
  readonly figures: readonly FinishedCount[];
  /** To be added to what is there. */
  readonly hours: readonly HourCount[];
};

export type NewDeliveryRow = WorkDelivery & {
  readonly seqs: readonly number[];
  readonly eventIds: readonly string[];
  readonly created: CreatedSpan;
  /** Since when the oldest of its events has waited. */
  readonly queuedAtMs: number;
  readonly createdAtMs: number;
};

export type AttemptKey = { readonly endpointNumber: number; readonly firedAtMs: number; readonly id: string };

export type AttemptRow = AttemptKey &
  AttemptEnd & { readonly deliveryNumber: number; readonly attempt: number; readonly test: boolean };

export type EndedAttempt = AttemptKey & AttemptEnd;

export type AttemptEnd = {
  readonly outcome: AttemptOutcome;
  readonly responseStatus: number | null;
  readonly latencyMs: number | null;
  readonly error: string | null;
  readonly responseBody: string | null;
  readonly terminalHint: boolean;
};

export type FinishedCount = {
  readonly endpointNumber: number;
  /** Tens of seconds since the epoch. */
  readonly bucket: number;
  readonly finished: number;
  readonly succeeded: number;
};

export type HourCount = { readonly organizationNumber: number; readonly hour: number; readonly attempts: number };

/** Length of a bucket of `FinishedCount`. */
export const BUCKET_MS = 10_000;
export const HOUR_MS = 3_600_000;

/** The subscriptions that still matter when everything up to a position has been looked at. */
export function dropPassed(subscriptions: readonly Subscription[], position: number): readonly Subscription[] {
  // The last one that begins at or before the next position is in force there.
  const inForce = subscriptions.findLastIndex(({ fromSeq }) => fromSeq <= position + 1);
  return inForce > 0 ? subscriptions.slice(inForce) : subscriptions;
}

/** The subscriptions of an endpoint that gets other types from behind the head of the log on. */
export function changeSubscriptions(
  subscriptions: readonly Subscription[],
  headSeq: number,
  mask: number,
): readonly Subscription[] {
  const fromSeq = headSeq + 1;
  const before = subscriptions.filter((subscription) => subscription.fromSeq < fromSeq);
  return before.at(-1)?.mask === mask ? before : [...before, { fromSeq, mask }];
}
