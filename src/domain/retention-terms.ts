/** Retention terms: the instants before which events and traces have expired. */

const RETENTION_MONTHS = 13;
const DAY_MS = 86_400_000;

/** The first instant of the calendar month thirteen months ago; older events have expired. */
export function retentionStartMs(nowMs: number): number {
  const now = new Date(nowMs);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - RETENTION_MONTHS, 1);
}

/** The instant before which records have expired under a term of `termDays`; null when nothing expires. */
export function termStartMs(termDays: number | null, nowMs: number): number | null {
  return termDays === null ? null : nowMs - termDays * DAY_MS;
}
