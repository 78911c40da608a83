/**
 * The periods of a budget: windows that begin at an instant which never changes, its anchor, and may be cut short by a reset.
 * All times are UTC.
 */

export const BUDGET_WINDOWS = ['minute', 'hour', 'day', 'week', 'month', 'total', 'manual'] as const;
/** `total` has one period, and `manual` one for each reset. */
export type BudgetWindow = (typeof BUDGET_WINDOWS)[number];

/** What periods depend on. */
export type Cycle = {
  readonly window: BudgetWindow;
  readonly cycleAnchorAtMs: number;
  /** The last reset; null when there was none. */
  readonly resetAtMs: number | null;
};

export type Period = {
  readonly startedAtMs: number;
  /** The first instant that does not belong to it; null: it ends with a reset, or never. */
  readonly endsAtMs: number | null;
};

const MINUTE_MS = 60_000;
const LENGTHS_MS = {
  minute: MINUTE_MS,
  hour: 60 * MINUTE_MS,
  day: 24 * 60 * MINUTE_MS,
  week: 7 * 24 * 60 * MINUTE_MS,
} as const;
const MONTHS_PER_YEAR = 12;

/**
 * The period of an instant. Null: before the first period of a budget without windows. Of all resets only the last is
 * known: an instant before it belongs to its whole window, which is never the current period.
 */
export function periodAt({ window, cycleAnchorAtMs, resetAtMs }: Cycle, atMs: number): Period | null {
  const isAfterReset = resetAtMs !== null && atMs >= resetAtMs;
  if (window === 'total' || window === 'manual') {
    if (isAfterReset) return { startedAtMs: resetAtMs, endsAtMs: null };
    return atMs < cycleAnchorAtMs ? null : { startedAtMs: cycleAnchorAtMs, endsAtMs: resetAtMs };
  }
  const { startedAtMs, endsAtMs } =
    window === 'month' ? monthAt(cycleAnchorAtMs, atMs) : spanAt(window, cycleAnchorAtMs, atMs);
  if (isAfterReset) return { startedAtMs: Math.max(startedAtMs, resetAtMs), endsAtMs };
  return { startedAtMs, endsAtMs: resetAtMs === null ? endsAtMs : Math.min(endsAtMs, resetAtMs) };
}

type Bounded = { readonly startedAtMs: number; readonly endsAtMs: number };

function spanAt(window: keyof typeof LENGTHS_MS, anchorAtMs: number, atMs: number): Bounded {
  const lengthMs = LENGTHS_MS[window];
  const startedAtMs = anchorAtMs + Math.floor((atMs - anchorAtMs) / lengthMs) * lengthMs;
  return { startedAtMs, endsAtMs: startedAtMs + lengthMs };
}

function monthAt(anchorAtMs: number, atMs: number): Bounded {
  const [anchor, at] = [new Date(anchorAtMs), new Date(atMs)];
  const years = at.getUTCFullYear() - anchor.getUTCFullYear();
  // The month of the instant, or the one before it: in its own month the period may begin later.
  const guess = years * MONTHS_PER_YEAR + at.getUTCMonth() - anchor.getUTCMonth();
  const months = monthsAfter(anchor, guess) <= atMs ? guess : guess - 1;
  return { startedAtMs: monthsAfter(anchor, months), endsAtMs: monthsAfter(anchor, months + 1) };
}

/** Counted from the anchor, so that a month which is too short does not move the days of those after it. */
function monthsAfter(anchor: Date, months: number): number {
  const [year, month] = [anchor.getUTCFullYear(), anchor.getUTCMonth() + months];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const timeOfDayMs = anchor.getTime() - Date.UTC(year, anchor.getUTCMonth(), anchor.getUTCDate());
  return Date.UTC(year, month, Math.min(anchor.getUTCDate(), lastDay)) + timeOfDayMs;
}
