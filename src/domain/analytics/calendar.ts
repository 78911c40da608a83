/** The UTC calendar that analytics count by. */

import type { Interval } from './query.ts';

export const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
/** The first Monday after 1970 began. */
const FIRST_MONDAY_MS = 4 * DAY_MS;

/** The end is not part of it. */
export type Span = { readonly startMs: number; readonly endMs: number };

/** The interval of the calendar that an instant is in; `total` has one for all. */
export function calendarSpan(interval: Exclude<Interval, 'total'>, instantMs: number): Span {
  switch (interval) {
    case 'minute':
      return evenSpan(instantMs, MINUTE_MS, 0);
    case 'hour':
      return evenSpan(instantMs, HOUR_MS, 0);
    case 'day':
      return evenSpan(instantMs, DAY_MS, 0);
    case 'week':
      return evenSpan(instantMs, WEEK_MS, FIRST_MONDAY_MS);
    case 'month': {
      const instant = new Date(instantMs);
      const [year, month] = [instant.getUTCFullYear(), instant.getUTCMonth()];
      return { startMs: Date.UTC(year, month, 1), endMs: Date.UTC(year, month + 1, 1) };
    }
  }
}

function evenSpan(instantMs: number, lengthMs: number, firstMs: number): Span {
  const startMs = Math.floor((instantMs - firstMs) / lengthMs) * lengthMs + firstMs;
  return { startMs, endMs: startMs + lengthMs };
}
