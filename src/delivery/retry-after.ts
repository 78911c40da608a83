/** What a receiver says about when it wants to be asked again. */

const MAX_MS = 3_600_000;
const SECONDS = /^[0-9]+$/;
const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';
const TIME = '[0-9]{2}:[0-9]{2}:[0-9]{2}';
/** The form of today, and the two that older servers still send (RFC 9110, 5.6.7). */
const DATE = new RegExp(
  `^(?:${DAY}, [0-9]{2} ${MONTH} [0-9]{4} ${TIME} GMT|[A-Z][a-z]{5,8}, [0-9]{2}-${MONTH}-[0-9]{2} ${TIME} GMT)$`,
);
const DATE_OF_C = new RegExp(`^${DAY} ${MONTH} [ 0-9][0-9] ${TIME} [0-9]{4}$`);

/** Milliseconds from `now` on, at most an hour; null when the value names no later time. */
export function parseRetryAfter(value: string, now: number): number | null {
  const waitMs = SECONDS.test(value) ? Number(value) * 1_000 : parseDate(value) - now;
  return waitMs > 0 ? Math.min(Math.ceil(waitMs), MAX_MS) : null;
}

/** Not a number for what is no date: compares as not later than anything. */
function parseDate(value: string): number {
  if (DATE.test(value)) return Date.parse(value);
  return DATE_OF_C.test(value) ? Date.parse(`${value} GMT`) : Number.NaN;
}
