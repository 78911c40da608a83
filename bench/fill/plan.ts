/** The events of a fill, by pure functions, so that readers of the log know its contents. */

/** Events number 1 to `events`, spread evenly over the range. */
export type FillPlan = { readonly events: number; readonly fromMs: number; readonly toMs: number };

const MONTHS = 13;
/** Odd, so that every value has its turn. */
export const VALUE_FACTOR = 40_503;
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

/** What spend is grouped by takes turns in so many values. */
export const VALUES = { key: 32, user: 16_384, model: 8 } as const;

export type ValueSlot = keyof typeof VALUES;

export function isValueSlot(slot: string): slot is ValueSlot {
  return slot in VALUES;
}

/** Spreads the values over the log, the same in every fill. */
export function slotValue(slot: ValueSlot, seq: number): string {
  return `${slot}_${(seq * VALUE_FACTOR) % VALUES[slot]}`;
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
