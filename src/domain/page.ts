/** Instants that bound what may be read. */

const RETENTION_MONTHS = 13;
const DAY_MS = 86_400_000;

/** The first instant of the calendar month thirteen months ago: older events are out of the log. */
export function retentionStartMs(nowMs: number): number {
  const now = new Date(nowMs);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - RETENTION_MONTHS, 1);
}

/** What came in before this instant is past a term of so many days; null: nothing ever is. */
export function termStartMs(termDays: number | null, nowMs: number): number | null {
  return termDays === null ? null : nowMs - termDays * DAY_MS;
}
