import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BUDGET_WINDOWS, type BudgetWindow, type Cycle, periodAt } from '../../../src/domain/budgets/period.ts';

const FIRST_MS = Date.UTC(2000, 0);
const LAST_MS = Date.UTC(2100, 0) - 1;
const instants = fc.integer({ min: FIRST_MS, max: LAST_MS });
const WINDOWED = ['minute', 'hour', 'day', 'week', 'month'] as const;
const LENGTHS: Readonly<Record<string, number>> = {
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
};

function cycle(window: BudgetWindow, cycleAnchorAtMs: number, resetAtMs: number | null = null): Cycle {
  return { window, cycleAnchorAtMs, resetAtMs };
}

function expectPeriod(of: Cycle, atMs: number) {
  const period = periodAt(of, atMs);
  if (period === null) throw new Error('there is no period');
  return period;
}

const iso = (atMs: number | null) => (atMs === null ? null : new Date(atMs).toISOString().slice(0, 16));
const at = (text: string) => Date.parse(`${text}Z`);

describe('the period of a budget', () => {
  it('holds its instant, and the next one begins where it ends', () => {
    fc.assert(
      fc.property(fc.constantFrom(...WINDOWED), instants, instants, (window, anchor, atMs) => {
        const { startedAtMs, endsAtMs } = expectPeriod(cycle(window, anchor), atMs);
        expect(startedAtMs).toBeLessThanOrEqual(atMs);
        expect(endsAtMs).toBeGreaterThan(atMs);
        expect(expectPeriod(cycle(window, anchor), endsAtMs ?? 0).startedAtMs).toBe(endsAtMs);
        expect(expectPeriod(cycle(window, anchor), startedAtMs)).toEqual({ startedAtMs, endsAtMs });
        expect(expectPeriod(cycle(window, anchor), startedAtMs - 1).endsAtMs).toBe(startedAtMs);
      }),
    );
  });

  it('begins at the anchor, and has the length of its window', () => {
    fc.assert(
      fc.property(fc.constantFrom(...WINDOWED), instants, instants, (window, anchor, atMs) => {
        expect(expectPeriod(cycle(window, anchor), anchor).startedAtMs).toBe(anchor);
        if (window === 'month') return;
        const { startedAtMs, endsAtMs } = expectPeriod(cycle(window, anchor), atMs);
        expect((endsAtMs ?? 0) - startedAtMs).toBe(LENGTHS[window]);
      }),
    );
  });

  it('of a month keeps the day and the time of its anchor, and has the last day of a month that is too short', () => {
    fc.assert(
      fc.property(instants, instants, (anchor, atMs) => {
        const start = new Date(expectPeriod(cycle('month', anchor), atMs).startedAtMs);
        const wanted = new Date(anchor);
        const last = new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 0)).getUTCDate();
        expect(start.getUTCDate()).toBe(Math.min(wanted.getUTCDate(), last));
        expect(start.toISOString().slice(10)).toBe(wanted.toISOString().slice(10));
      }),
    );
    const ends = cycle('month', at('2024-01-31T12:00'));
    const starts = ['2024-02-29T11:59', '2024-02-29T12:00', '2024-03-31T12:00', '2025-02-28T12:00', '2023-12-31T11:00'];
    expect(starts.map((text) => iso(expectPeriod(ends, at(text)).startedAtMs))).toEqual([
      '2024-01-31T12:00',
      '2024-02-29T12:00',
      '2024-03-31T12:00',
      '2025-02-28T12:00',
      '2023-11-30T12:00',
    ]);
  });

  it('without a window begins at the anchor and never ends, and nothing before it has one', () => {
    for (const window of ['total', 'manual'] as const) {
      const single = cycle(window, 1000);
      expect(periodAt(single, 999)).toBeNull();
      for (const atMs of [1000, LAST_MS]) expect(periodAt(single, atMs)).toEqual({ startedAtMs: 1000, endsAtMs: null });
    }
  });

  it('is cut by a reset: what comes from then on is in another one, and its window still ends when it would have', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...BUDGET_WINDOWS),
        instants,
        instants,
        instants,
        (window, anchor, resetAtMs, atMs) => {
          fc.pre(anchor <= atMs && anchor < resetAtMs);
          const before = expectPeriod(cycle(window, anchor), atMs);
          const after = expectPeriod(cycle(window, anchor, resetAtMs), atMs);
          if (atMs < resetAtMs) {
            expect(after.startedAtMs).toBe(before.startedAtMs);
            expect(after.endsAtMs).toBe(Math.min(before.endsAtMs ?? resetAtMs, resetAtMs));
          } else {
            expect(after).toEqual({ startedAtMs: Math.max(before.startedAtMs, resetAtMs), endsAtMs: before.endsAtMs });
          }
        },
      ),
    );
  });
});
