/** Retention terms: how long events and traces are kept, and the instants before which events and traces have expired. */

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

export type ErasureTerm = {
  /** The term in days of projects without a setting; null: for ever. */
  readonly traceDefaultDays: number | null;
  /** The present for what may be erased by its age: a clock that is ahead erases nothing. */
  readonly retentionNowMs: () => number;
};

/** Traces of the project that were first received before this instant give way to what comes in; null: none does. */
export function erasedBeforeMs(
  { traceDefaultDays, retentionNowMs }: ErasureTerm,
  { traceRetentionDays }: { readonly traceRetentionDays: number | null },
): number | null {
  return termStartMs(traceTermDays(traceRetentionDays, traceDefaultDays), retentionNowMs());
}

export const TERM_MIN_DAYS = 1;
export const TERM_MAX_DAYS = 3650;

/** The stored setting that keeps traces for ever. Null: the project uses the default. */
export const FOR_EVER = 0;

/** The term of a project's traces in days; null: they are kept for ever. */
export function traceTermDays(storedDays: number | null, defaultDays: number | null): number | null {
  if (storedDays === null) return defaultDays;
  return storedDays === FOR_EVER ? null : storedDays;
}
