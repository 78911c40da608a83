/** How long traces are kept: what the setting of a project means. */

export const TERM_MIN_DAYS = 1;
export const TERM_MAX_DAYS = 3650;

/** What a project has stored that chose to keep its traces for ever. Null stands for one that never chose. */
export const FOR_EVER = 0;

/** The term of a project's traces in days; null: they are kept for ever. */
export function traceTermDays(storedDays: number | null, defaultDays: number | null): number | null {
  if (storedDays === null) return defaultDays;
  return storedDays === FOR_EVER ? null : storedDays;
}
