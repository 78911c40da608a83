/** The events of a fill, by pure functions, so that readers of the log know its contents. */

/** Events number 1 to `events`, spread evenly over the range. */
export type FillPlan = { readonly events: number; readonly fromMs: number; readonly toMs: number };

const MONTHS = 13;
// The last event lies before now, so that later appends of the server follow it.
const BEHIND_MS = 1_000;
/** Each 64th event shares the instant of the one before. */
export const TIE_EVERY = 64;

/** Thirteen months up to now, the retention of the log. */
export function planFill(events: number, nowMs: number): FillPlan {
  const from = new Date(nowMs - BEHIND_MS);
  from.setUTCMonth(from.getUTCMonth() - MONTHS);
  return { events, fromMs: from.getTime(), toMs: nowMs - BEHIND_MS };
}

/** Milliseconds between two events. */
export function stepMs({ events, fromMs, toMs }: FillPlan): number {
  return (toMs - fromMs) / events;
}

/** Some events share an instant, as events of one commit do. */
export function createdAtMs(plan: FillPlan, seq: number): number {
  const position = seq % TIE_EVERY === 0 ? seq - 1 : seq;
  return plan.fromMs + Math.floor(position * stepMs(plan));
}

/** The number of events since an instant. */
export function countSince(plan: FillPlan, sinceMs: number): number {
  let first = Math.max(1, Math.floor((sinceMs - plan.fromMs) / stepMs(plan)) - 1);
  while (first <= plan.events && createdAtMs(plan, first) < sinceMs) first += 1;
  return plan.events - first + 1;
}
