/** What of the log an endpoint gets: its types, each from a position on. */

import type { EndpointRecord, Subscription } from './endpoint.ts';
import { type EventMask, maskOfSelectors, NO_EVENTS } from './event-type.ts';

/** Where an endpoint stands in its log. */
export type Place = {
  readonly organizationNumber: number;
  readonly position: number;
  /** Null where nothing was ever appended. */
  readonly headSeq: number | null;
  readonly subscriptionsJson: string;
};

/** A part of the log from which an endpoint gets some types, both ends included. */
export type LogPart = {
  readonly organizationNumber: number;
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly mask: EventMask;
};

const FOR_EVER = Number.MAX_SAFE_INTEGER;

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

/** What an endpoint gets from now on. */
export function maskOf({ status, archivedAtMs, enabledEvents }: EndpointRecord): EventMask {
  return status === 'active' && archivedAtMs === null ? maskOfSelectors(enabledEvents) : NO_EVENTS;
}

/** What an endpoint still gets of its log. */
export function partsOf({ organizationNumber, position, headSeq, subscriptionsJson }: Place): readonly LogPart[] {
  const known = dropPassed(JSON.parse(subscriptionsJson) as Subscription[], position);
  return known
    .map(({ fromSeq, mask }, index) => ({
      organizationNumber,
      fromSeq: Math.max(fromSeq, position + 1),
      toSeq: Math.min(headSeq ?? 0, (known[index + 1]?.fromSeq ?? FOR_EVER) - 1),
      mask,
    }))
    .filter(({ fromSeq, toSeq, mask }) => mask !== 0 && fromSeq <= toSeq);
}

/** Many endpoints wait for the same types up to the same place: the longest of such parts holds the others. */
export function joinParts(parts: readonly LogPart[]): readonly LogPart[] {
  const joined = new Map<string, LogPart>();
  for (const part of parts) {
    const key = `${part.organizationNumber}/${part.toSeq}/${part.mask}`;
    const known = joined.get(key);
    if (known === undefined || part.fromSeq < known.fromSeq) joined.set(key, part);
  }
  return [...joined.values()];
}
