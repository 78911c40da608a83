/** How long traces are kept, by the setting of a project. */

export const TERM_MIN_DAYS = 1;
export const TERM_MAX_DAYS = 3650;

/** The stored setting that keeps traces for ever. Null: the project uses the default. */
export const FOR_EVER = 0;

/** The term of a project's traces in days; null: they are kept for ever. */
export function traceTermDays(storedDays: number | null, defaultDays: number | null): number | null {
  if (storedDays === null) return defaultDays;
  return storedDays === FOR_EVER ? null : storedDays;
}
