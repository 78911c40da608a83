/** What of the log an endpoint gets: its types, each from a position on. */

import type { Subscription } from './endpoint.ts';

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
