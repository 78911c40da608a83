/** Reads the header Retry-After, with the careless spellings that servers send. */

const SECONDS = /^[0-9]+(?:\.[0-9]+)?$/;
const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';
const TIME = '[0-9]{2}:[0-9]{2}:[0-9]{2}';
const ZONE = '(?:GMT|UTC|[+-]0000)';
/** The current date format, and one that older servers still send (RFC 9110, 5.6.7). */
const DATE = new RegExp(
  `^(?:${DAY}, [0-9]{1,2} ${MONTH} [0-9]{4} ${TIME} ${ZONE}|[A-Z][a-z]{5,8}, [0-9]{2}-${MONTH}-[0-9]{2} ${TIME} ${ZONE})$`,
);
/** The other old format. */
const DATE_OF_C = new RegExp(`^${DAY} ${MONTH} [ 0-9][0-9] ${TIME} [0-9]{4}$`);
/** The items of a list. The comma after the name of a day belongs to a date. */
const ITEM = new RegExp(`(?:${DAY}[a-z]{0,6},)?[^,]*`, 'g');

/** The longest wait in milliseconds from `nowMs` on that the value asks for; null when it names no later time. */
export function readRetryAfterMs(value: string, nowMs: number): number | null {
  const waits = (value.match(ITEM) ?? []).map((item) => waitOf(item.trim(), nowMs)).filter((waitMs) => waitMs > 0);
  return waits.length === 0 ? null : Math.max(...waits);
}

/** NaN for an invalid item, which compares as no wait. */
function waitOf(item: string, nowMs: number): number {
  if (SECONDS.test(item)) return Math.ceil(Number(item)) * 1_000;
  if (DATE.test(item)) return Date.parse(item.replace(/\S+$/, 'GMT')) - nowMs;
  return DATE_OF_C.test(item) ? Date.parse(`${item} GMT`) - nowMs : Number.NaN;
}
