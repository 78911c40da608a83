import { describe, expect, it } from 'vitest';
import { type Backfill, createBackfills, type RewriteSome } from '../../../src/domain/management/backfill.ts';
import { type OpenManagement, type Subject, withStore } from './subject.ts';

/** Counts rows 10 at a time up to a number. */
const countTo =
  (end: number): RewriteSome =>
  async (cursor) => {
    const next = Math.min(Number(cursor) + 10, end);
    return { cursor: next === end ? null : String(next), rows: next - Number(cursor) };
  };

export function backfillConformance(open: OpenManagement): void {
  describe('a backfill', () => {
    it(
      'runs in steps to its end, tells how far it is, and ends once',
      withStore(open, async (store, subject) => {
        await begin(subject, 'one', 'two', 'of-another-build');
        const lines: object[] = [];
        let nowMs = 1_000;
        const { step } = createBackfills({
          store: store.backfills,
          rewrites: { one: countTo(25), two: countTo(5) },
          clock: () => nowMs,
          log: { info: (fields, message) => lines.push({ ...fields, message }) },
        });
        for (; (await step()) === 'more'; nowMs += 40_000);
        expect(await store.backfills.list()).toEqual([
          { name: 'of-another-build', cursor: '', rowsDone: 0, finishedAtMs: null, fence: 0 },
          { name: 'one', cursor: '20', rowsDone: 25, finishedAtMs: 81_000, fence: 3 },
          { name: 'two', cursor: '', rowsDone: 5, finishedAtMs: 121_000, fence: 1 },
        ]);
        expect(lines).toEqual([
          { backfill: 'one', message: 'a backfill begins' },
          { backfill: 'one', rows: 25, message: 'a backfill has ended' },
          { backfill: 'two', message: 'a backfill begins' },
          { backfill: 'two', rows: 5, message: 'a backfill has ended' },
        ]);
      }),
    );

    it(
      'MUST be leased to one process at a time, and go to another when the lease has run out',
      withStore(open, async ({ backfills }, subject) => {
        await begin(subject, 'one');
        const lease = (nowMs: number) => backfills.lease(['one'], { nowMs, untilMs: nowMs + 100 });
        const [first, second] = [await lease(0), await lease(99)];
        expect(first).toMatchObject({ name: 'one', cursor: '', fence: 1 });
        expect(second).toBeNull();
        const later = await lease(100);
        expect(later).toMatchObject({ fence: 2 });
        expect(await backfills.advance({ ...(first as Backfill), cursor: 'late', rowsDone: 1 })).toBe(false);
        expect(await backfills.advance({ ...(later as Backfill), cursor: '10', rowsDone: 10 })).toBe(true);
        expect(await lease(101)).toMatchObject({ cursor: '10', rowsDone: 10, fence: 3 });
        expect(await backfills.lease(['other'], { nowMs: 500, untilMs: 600 })).toBeNull();
      }),
    );

    it(
      'goes on after a step that failed',
      withStore(open, async (store, subject) => {
        await begin(subject, 'one');
        let fails = true;
        let nowMs = 0;
        const { step } = createBackfills({
          store: store.backfills,
          rewrites: {
            one: async (cursor) => {
              if (fails) throw new Error('the disk is full');
              return await countTo(15)(cursor);
            },
          },
          clock: () => nowMs,
          log: { info: () => undefined },
        });
        await expect(step()).rejects.toThrow('the disk is full');
        fails = false;
        expect(await step()).toBe('done');
        for (nowMs = 60_000; (await step()) === 'more'; );
        expect(await store.backfills.list()).toMatchObject([{ rowsDone: 15, finishedAtMs: 60_000 }]);
      }),
    );
  });
}

async function begin({ execute }: Pick<Subject, 'execute'>, ...names: readonly string[]): Promise<void> {
  for (const name of names) await execute(`INSERT INTO backfills VALUES ('${name}', '', 0, NULL, 0, 0)`);
}
