/** The UTC intervals of analytics. */

import type { Interval, IntervalLength } from './query.ts';

export const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
/** The first Monday of 1970. */
const FIRST_MONDAY_MS = 4 * DAY_MS;
const LAST_INSTANT_MS = Number.MAX_SAFE_INTEGER;

/** The end is exclusive. */
export type Span = { readonly startMs: number; readonly endMs: number };

/** What is asked of the calendar; both ends of the range are inclusive. */
type IntervalQuery = { readonly interval: IntervalLength; readonly fromMs: number; readonly toMs: number };

/** Intervals of one length, each of which begins a multiple of it after an instant. */
type EvenIntervals = { readonly lengthMs: number; readonly firstMs: number };

export const EVEN_INTERVALS: Readonly<Record<Exclude<Interval, 'month' | 'total'>, EvenIntervals>> = {
  minute: { lengthMs: MINUTE_MS, firstMs: 0 },
  hour: { lengthMs: HOUR_MS, firstMs: 0 },
  day: { lengthMs: DAY_MS, firstMs: 0 },
  week: { lengthMs: WEEK_MS, firstMs: FIRST_MONDAY_MS },
};

export function evenIntervals(interval: Exclude<IntervalLength, 'month' | 'total'>): EvenIntervals {
  return typeof interval === 'number' ? { lengthMs: interval * MINUTE_MS, firstMs: 0 } : EVEN_INTERVALS[interval];
}

/** Whether each interval is made up of whole hours. */
export function isOfWholeHours(interval: IntervalLength): boolean {
  return interval !== 'minute' && (typeof interval !== 'number' || (interval * MINUTE_MS) % HOUR_MS === 0);
}

/** The interval that holds an instant of the range; `total` is one interval for the whole range. */
export function intervalAt({ interval, fromMs, toMs }: IntervalQuery, instantMs: number): Span {
  if (interval === 'total') return { startMs: fromMs, endMs: Math.min(toMs, LAST_INSTANT_MS - 1) + 1 };
  if (interval === 'month') {
    const instant = new Date(instantMs);
    const [year, month] = [instant.getUTCFullYear(), instant.getUTCMonth()];
    return { startMs: Date.UTC(year, month, 1), endMs: Date.UTC(year, month + 1, 1) };
  }
  const { lengthMs, firstMs } = evenIntervals(interval);
  const startMs = Math.floor((instantMs - firstMs) / lengthMs) * lengthMs + firstMs;
  return { startMs, endMs: startMs + lengthMs };
}

/** The day of an instant, counted from 1970. */
export function dayOf(instantMs: number): number {
  return Math.floor(instantMs / DAY_MS);
}

type Cells<Cell> = { readonly newCell: (span: Span) => Cell; readonly closeCell: (cell: Cell) => void };

/** The interval that ascending instants have reached. Its cells keep every value until the next interval begins. */
export function createOpenInterval<Cell>(query: IntervalQuery, { newCell, closeCell }: Cells<Cell>) {
  let span: Span | null = null;
  let cells: Cell[] = [];

  /** Opens the interval of the instant, and closes the cells of the one before. */
  function reach(instantMs: number): Span {
    if (span !== null && instantMs >= span.startMs && instantMs < span.endMs) return span;
    close();
    span = intervalAt(query, instantMs);
    return span;
  }

  function close(): void {
    for (const cell of cells) closeCell(cell);
    cells = [];
    span = null;
    open.values = 0;
  }

  const open = {
    /** How many values the open cells keep: the caller counts them, and closing resets the count. */
    values: 0,
    /** The cell of the instant among those of a group, by start; a new one where there is none. */
    cellAt(known: Map<number, Cell>, instantMs: number): Cell {
      const reached = reach(instantMs);
      const found = known.get(reached.startMs);
      if (found !== undefined) return found;
      const cell = newCell(reached);
      known.set(reached.startMs, cell);
      cells.push(cell);
      return cell;
    },
    /** Keeps only some of the open cells. */
    retain(isKept: (cell: Cell) => boolean): void {
      cells = cells.filter(isKept);
    },
    cells: (): readonly Cell[] => cells,
    close,
  };
  return open;
}
