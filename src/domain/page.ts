/** Instants that bound what may be read. */

const RETENTION_MONTHS = 13;

/** The first instant of the calendar month thirteen months ago: older events are out of the log. */
export function retentionStartMs(nowMs: number): number {
  const now = new Date(nowMs);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - RETENTION_MONTHS, 1);
}
