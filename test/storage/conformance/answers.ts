import { createHash } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { type CacheKey, type NewAnswer, weightOf } from '../../../src/domain/gateway/answer-cache.ts';
import type { Store } from '../../../src/domain/store.ts';
import { finish, NO_LOG_CUTS } from './retention-walk.ts';
import { type OpenSubject, withStore } from './subject.ts';

const KEPT = { ttlMs: 60_000, projectMaxBytes: 64 * 1024 * 1024 };
const DAY_MS = 86_400_000;

function keyOf(request: number | string, projectNumber = 1): CacheKey {
  return { projectNumber, hash: createHash('sha256').update(String(request)).digest() };
}

function answerOf(bytes: number, changes: Partial<NewAnswer> = {}): NewAnswer {
  const body = Buffer.alloc(bytes, 'Grüße \0 ');
  return { contentType: 'application/json', body, model: 'gpt-5', providerId: 'provider_1', ...changes };
}

export function answerConformance(open: OpenSubject): void {
  describe('finding an answer', () => {
    it(
      'MUST return the stored bytes, only to the project that stored them',
      withStore(open, async ({ answers, clock }) => {
        const beforeMs = (await clock.nowMs()) ?? Date.now();
        for (const bytes of [0, 1, 1024 * 1024]) {
          await answers.storeAnswer(keyOf(bytes), answerOf(bytes), KEPT);
          const found = await answers.findAnswer(keyOf(bytes));
          expect(found?.body.equals(answerOf(bytes).body)).toBe(true);
          expect({ ...found, body: null }).toEqual({
            ...answerOf(bytes),
            body: null,
            storedAtMs: expect.any(Number),
          });
          expect(found?.storedAtMs).toBeGreaterThanOrEqual(beforeMs);
          expect(await answers.findAnswer(keyOf(bytes, 2))).toBeNull();
        }
        expect(await answers.findAnswer(keyOf('never stored'))).toBeNull();
      }),
    );

    it(
      'MUST return none that has expired by the clock of the database',
      withStore(open, async ({ answers, clock }, { execute }) => {
        await answers.storeAnswer(keyOf(1), answerOf(10), { ...KEPT, ttlMs: 0 });
        expect(await answers.findAnswer(keyOf(1))).toBeNull();
        await answers.storeAnswer(keyOf(2), answerOf(10), KEPT);
        expect(await answers.findAnswer(keyOf(2))).not.toBeNull();
        const nowMs = (await clock.nowMs()) ?? Date.now();
        await execute(`UPDATE cached_answers SET expires_at = ${nowMs - 1}`);
        expect(await answers.findAnswer(keyOf(2))).toBeNull();
      }),
    );

    it(
      'MUST ignore the clock of the process where the database has one',
      withStore(open, async ({ answers, clock }) => {
        if ((await clock.nowMs()) === null) return expect(await answers.findAnswer(keyOf(1))).toBeNull();
        const ahead = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + DAY_MS);
        try {
          await answers.storeAnswer(keyOf(1), answerOf(10), KEPT);
          expect(await answers.findAnswer(keyOf(1))).not.toBeNull();
        } finally {
          ahead.mockRestore();
        }
        expect((await answers.findAnswer(keyOf(1)))?.storedAtMs).toBeLessThan(Date.now() + DAY_MS / 2);
      }),
    );
  });

  describe('storing an answer', () => {
    it(
      'MUST replace the one with its key, and nothing else',
      withStore(open, async (store, { read }) => {
        const { answers } = store;
        await answers.storeAnswer(keyOf(1), answerOf(10), KEPT);
        await answers.storeAnswer(keyOf(2), answerOf(20), KEPT);
        await answers.storeAnswer(keyOf(1, 2), answerOf(30), KEPT);
        const other = answerOf(5, { model: 'claude', providerId: 'provider_2', contentType: 'text/plain' });
        await answers.storeAnswer(keyOf(1), other, { ...KEPT, ttlMs: 120_000 });
        expect(await answers.findAnswer(keyOf(1))).toMatchObject({ ...other, body: expect.any(Buffer) });
        expect((await answers.findAnswer(keyOf(2)))?.body).toHaveLength(20);
        expect((await answers.findAnswer(keyOf(1, 2)))?.body).toHaveLength(30);
        expect(await weights(read)).toEqual({ 1: weightOf(other) + weightOf(answerOf(20)), 2: weightOf(answerOf(30)) });
      }),
    );

    it(
      'MUST keep the answers of a project within its bytes: the oldest give way, those of other projects stay',
      withStore(open, async ({ answers }, { execute, read }) => {
        const projectMaxBytes = 3 * weightOf(answerOf(1000));
        const kept = { ...KEPT, projectMaxBytes };
        await answers.storeAnswer(keyOf(1, 2), answerOf(1000), kept);
        for (const request of [1, 2, 3]) {
          await answers.storeAnswer(keyOf(request), answerOf(1000), kept);
          // Older than the next, also where both are stored in one millisecond.
          await execute('UPDATE cached_answers SET stored_at = stored_at - 1000');
        }
        await answers.storeAnswer(keyOf(4), answerOf(1000), kept);
        expect(await storedOf(answers, [1, 2, 3, 4])).toEqual([2, 3, 4]);
        // A replaced answer counts once, and does not give way to itself.
        await answers.storeAnswer(keyOf(2), answerOf(1001), kept);
        expect(await storedOf(answers, [2, 3, 4])).toEqual([2, 4]);
        await answers.storeAnswer(keyOf(5), answerOf(projectMaxBytes), kept);
        expect(await storedOf(answers, [2, 4, 5])).toEqual([2, 4]);
        await answers.storeAnswer(keyOf(5), answerOf(2000), kept);
        expect(await storedOf(answers, [2, 4, 5])).toEqual([2, 5]);
        await answers.storeAnswer(keyOf(6), answerOf(10), { ...kept, projectMaxBytes: 600 });
        expect(await storedOf(answers, [2, 4, 5, 6])).toEqual([6]);
        expect(await answers.findAnswer(keyOf(1, 2))).not.toBeNull();
        expect(await weights(read)).toEqual({ 1: weightOf(answerOf(10)), 2: weightOf(answerOf(1000)) });
      }),
    );

    it(
      'MUST keep within the bytes also while many are stored at once, and count exactly',
      withStore(open, async ({ answers }, { read }) => {
        const kept = { ...KEPT, projectMaxBytes: 7 * weightOf(answerOf(100)) };
        const stores = Array.from({ length: 40 }, (_, index) =>
          answers.storeAnswer(keyOf(index % 25, 1 + (index % 2)), answerOf(100), kept),
        );
        await Promise.all(stores);
        expect(await weights(read)).toEqual({ 1: kept.projectMaxBytes, 2: kept.projectMaxBytes });
      }),
    );
  });

  describe('retention of answers', () => {
    it(
      'removes those that expired before the cut, in steps, and frees their bytes',
      withStore(open, async (store, { read }) => {
        const { answers, clock } = store;
        for (let request = 0; request < 30; request += 1) {
          const projectNumber = 1 + (request % 3);
          await answers.storeAnswer(keyOf(request, projectNumber), answerOf(100), { ...KEPT, ttlMs: 1000 });
        }
        await answers.storeAnswer(keyOf('later'), answerOf(50), { ...KEPT, ttlMs: DAY_MS });
        const nowMs = (await clock.nowMs()) ?? Date.now();
        await removeExpired(store, nowMs - 60_000);
        expect(await weights(read)).toEqual({
          1: 10 * weightOf(answerOf(100)) + weightOf(answerOf(50)),
          2: 10 * weightOf(answerOf(100)),
          3: 10 * weightOf(answerOf(100)),
        });
        await removeExpired(store, nowMs + 60_000);
        expect(await answers.findAnswer(keyOf('later'))).not.toBeNull();
        expect(await weights(read)).toEqual({ 1: weightOf(answerOf(50)) });
      }),
    );
  });
}

async function removeExpired({ logRetention }: Store, answersBeforeMs: number): Promise<void> {
  await finish(logRetention.begin({ ...NO_LOG_CUTS, answersBeforeMs }), 5);
}

async function storedOf(answers: Store['answers'], requests: readonly number[]): Promise<readonly number[]> {
  const found = await Promise.all(requests.map((request) => answers.findAnswer(keyOf(request))));
  return requests.filter((_, index) => found[index] !== null);
}

type Read = (sql: string) => Promise<readonly { readonly [column: string]: unknown }[]>;

/** What the answers of each project weigh, which the stored sums must say too. */
async function weights(read: Read): Promise<{ readonly [project: string]: number }> {
  const answers = await read(
    'SELECT project_number, sum(weight) AS weight FROM cached_answers GROUP BY project_number ORDER BY project_number',
  );
  const toEntries = (rows: typeof answers) => rows.map((row) => [String(row.project_number), Number(row.weight)]);
  const sums = await read('SELECT project_number, weight FROM cached_bytes WHERE weight <> 0 ORDER BY project_number');
  expect(toEntries(sums)).toEqual(toEntries(answers));
  return Object.fromEntries(toEntries(answers));
}
