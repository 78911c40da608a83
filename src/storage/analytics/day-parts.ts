/** Divides ranges into whole days, whose traces the index has counted, and the rest. */

import { DAY_MS, dayOf } from '../../domain/analytics/calendar.ts';
import type { DayRange, TimeRange } from './indexed-sums.ts';

/** The first day is behind the last one where there is none. */
export function wholeDaysOf({ fromMs, toMs }: TimeRange): DayRange {
  return { firstDay: dayOf(fromMs + DAY_MS - 1), lastDay: dayOf(toMs + 1) - 1 };
}

/** The parts of a range that are not counted by day: its ends, and cut days. */
export function partsBesideDays({ fromMs, toMs }: TimeRange, cutDays: readonly number[]): readonly TimeRange[] {
  const { firstDay, lastDay } = wholeDaysOf({ fromMs, toMs });
  if (firstDay > lastDay) return [{ fromMs, toMs }];
  const cut = cutDays.filter((day) => day >= firstDay && day <= lastDay);
  return [
    { fromMs, toMs: firstDay * DAY_MS - 1 },
    ...cut.map((day) => ({ fromMs: day * DAY_MS, toMs: (day + 1) * DAY_MS - 1 })),
    { fromMs: (lastDay + 1) * DAY_MS, toMs },
  ].filter((part) => part.fromMs <= part.toMs);
}
