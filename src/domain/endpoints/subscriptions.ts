/** The event types that an endpoint gets, by position of the log. */

import { type EventMask, maskOfSelectors, NO_EVENTS } from '../events/event-type.ts';
import type { EndpointRecord, Subscription } from './endpoint.ts';

/** An endpoint's position in its log. */
export type LogPosition = {
  readonly organizationNumber: number;
  readonly position: number;
  /** Null if the log is empty. */
  readonly headSeq: number | null;
  readonly subscriptionsJson: string;
};

/** A range of the log, both ends included, and the types that an endpoint gets of it. */
export type LogSlice = {
  readonly organizationNumber: number;
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly mask: EventMask;
};

const LAST_SEQ = Number.MAX_SAFE_INTEGER;

/** The subscriptions that apply after a position. */
export function dropPassed(subscriptions: readonly Subscription[], position: number): readonly Subscription[] {
  // The last subscription that starts at or before the next position applies there.
  const inForce = subscriptions.findLastIndex(({ fromSeq }) => fromSeq <= position + 1);
  return inForce > 0 ? subscriptions.slice(inForce) : subscriptions;
}

/** The subscriptions of an endpoint whose mask changes after the head of the log. */
export function changeSubscriptions(
  subscriptions: readonly Subscription[],
  headSeq: number,
  mask: number,
): readonly Subscription[] {
  const fromSeq = headSeq + 1;
  const before = subscriptions.filter((subscription) => subscription.fromSeq < fromSeq);
  return before.at(-1)?.mask === mask ? before : [...before, { fromSeq, mask }];
}

/** The types that an endpoint gets from now on. */
export function maskOf({ status, archivedAtMs, enabledEvents }: EndpointRecord): EventMask {
  return status === 'active' && archivedAtMs === null ? maskOfSelectors(enabledEvents) : NO_EVENTS;
}

/** The slices of the log that the endpoint has not received. */
export function slicesOf({
  organizationNumber,
  position,
  headSeq,
  subscriptionsJson,
}: LogPosition): readonly LogSlice[] {
  const known = dropPassed(JSON.parse(subscriptionsJson) as Subscription[], position);
  return known
    .map(({ fromSeq, mask }, index) => ({
      organizationNumber,
      fromSeq: Math.max(fromSeq, position + 1),
      toSeq: Math.min(headSeq ?? 0, (known[index + 1]?.fromSeq ?? LAST_SEQ) - 1),
      mask,
    }))
    .filter(({ fromSeq, toSeq, mask }) => mask !== 0 && fromSeq <= toSeq);
}

/**
 * Many endpoints wait for the same types up to the same position; the longest slice of each kind contains the others.
 */
export function mergeSlices(parts: readonly LogSlice[]): readonly LogSlice[] {
  const joined = new Map<string, LogSlice>();
  for (const part of parts) {
    const key = `${part.organizationNumber}/${part.toSeq}/${part.mask}`;
    const known = joined.get(key);
    if (known === undefined || part.fromSeq < known.fromSeq) joined.set(key, part);
  }
  return [...joined.values()];
}
