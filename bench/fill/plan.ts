/** Which events a fill makes. Every function is pure, so that whoever reads the log knows what must be in it. */

/** Events number 1 to `events`, spread evenly over the range. */
export type FillPlan = { readonly events: number; readonly fromMs: number; readonly toMs: number };

const MONTHS = 13;
// The last event stays behind the clock, so that what the server appends next comes after it.
const BEHIND_MS = 1_000;
/** Every so many events one shares the instant of the event before. */
export const TIE_EVERY = 64;

/** Thirteen months that end now: all that the log serves. */
export function planFill(events: number, nowMs: number): FillPlan {
  const from = new Date(nowMs - BEHIND_MS);
  from.setUTCMonth(from.getUTCMonth() - MONTHS);
  return { events, fromMs: from.getTime(), toMs: nowMs - BEHIND_MS };
}

/** Milliseconds between two events. */
export function stepMs({ events, fromMs, toMs }: FillPlan): number {
  return (toMs - fromMs) / events;
}

/** Now and then two events share an instant, as they do when one commit appends both. */
export function createdAtMs(plan: FillPlan, seq: number): number {
  const place = seq % TIE_EVERY === 0 ? seq - 1 : seq;
  return plan.fromMs + Math.floor(place * stepMs(plan));
}

/** How many events are at most this old. */
export function countSince(plan: FillPlan, sinceMs: number): number {
  let first = Math.max(1, Math.floor((sinceMs - plan.fromMs) / stepMs(plan)) - 1);
  while (first <= plan.events && createdAtMs(plan, first) < sinceMs) first += 1;
  return plan.events - first + 1;
}
