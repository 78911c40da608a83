import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Store } from '../../src/domain/store.ts';
import type { SearchFilter } from '../../src/domain/traces/search/trace-filter.ts';
import {
  ALL_TRACES,
  EVER,
  type InstantRange,
  type SearchPosition,
} from '../../src/domain/traces/search/trace-search-store.ts';
import { type ClickHouse, openClickHouse } from '../../src/storage/clickhouse/client.ts';
import { purgeRemoved } from '../../src/storage/clickhouse/index-place.ts';
import { PROJECT, sampleAppend, sampleSpan } from '../storage/conformance/samples.ts';
import { keepUp } from '../storage/conformance/subject.ts';
import { until } from '../support/temp.ts';
import type { ClickHouseSubject } from './subjects.ts';

const FILTER: SearchFilter = {
  conditions: [{ name: 'metadata.user_id', of: '', values: ['user-42'] }],
  isNegated: false,
  text: '',
};

/** What holds of ClickHouse as the index of any database. */
export function indexConformance(open: () => Promise<ClickHouseSubject>): void {
  const withSubject = (body: (subject: ClickHouseSubject, clickHouse: ClickHouse) => Promise<void>) => async () => {
    const subject = await open();
    const clickHouse = openClickHouse(subject.telemetry.url);
    try {
      await body(subject, clickHouse);
    } finally {
      await clickHouse.close();
      await subject.dispose();
    }
  };

  describe('ClickHouse', () => {
    it(
      'has every trace once, in its newest state, and none that was removed',
      withSubject(async ({ store }, clickHouse) => {
        const traceIds = await appendSome(store, 20);
        await keepUp(store);
        const [first = '', second = ''] = traceIds;
        await store.traces.append(sampleAppend({ traceId: first, metadataJson: '{"user_id":"user-43"}' }));
        await store.traceChanges.removeTrace({ projectNumber: PROJECT.number, traceId: second, expiredBeforeMs: null });
        await keepUp(store);
        const stored = await clickHouse.rows<{ traceId: string; spans: number }>(
          'SELECT trace_id AS traceId, span_count AS spans FROM traces FINAL ORDER BY trace_id',
        );
        expect(stored.map(({ traceId }) => traceId)).toEqual(traceIds.filter((id) => id !== second).sort());
        expect(stored.find(({ traceId }) => traceId === first)?.spans).toBe(2);
        expect(await find(store)).toHaveLength(18);
      }),
    );

    it(
      'keeps no row of a removed trace on its disk, in the end not even that it was removed, and every row of the others',
      withSubject(async ({ store }, clickHouse) => {
        const [first = '', ...others] = await appendSome(store, 5);
        await keepUp(store);
        await store.traceChanges.removeTrace({ projectNumber: PROJECT.number, traceId: first, expiredBeforeMs: null });
        await keepUp(store);
        const rows = (deleted: 0 | 1) =>
          clickHouse.rows<{ traceId: string; text: string }>(
            `SELECT trace_id AS traceId, text FROM traces WHERE is_deleted = ${deleted} ORDER BY traceId`,
          );
        // As after a restore of the database: this one was removed, and is back.
        await clickHouse.command(
          `INSERT INTO traces (project_number, inserted_at, sequence, version, is_deleted, trace_id)
           SELECT project_number, inserted_at, sequence, version - 1, 1, '' FROM traces FINAL WHERE trace_id = '${others[0]}'`,
        );
        await purgeRemoved(clickHouse);
        await until(async () => (await rows(0)).every(({ traceId }) => others.includes(traceId)));
        expect((await rows(1)).map(({ text }) => text)).toEqual(['', '']);
        await purgeRemoved(clickHouse);
        await until(async () => (await rows(1)).length === 1);
        expect(new Set((await rows(0)).map(({ traceId }) => traceId))).toEqual(new Set(others));
      }),
    );

    it.each([[['traces', 'state', 'spandrel_schema']], [['traces']], [['state']]])(
      'is filled anew when it has lost its tables %j, and until then every trace is found all the same',
      (lost) =>
        withSubject(async ({ store }, clickHouse) => {
          await appendSome(store, 10);
          await keepUp(store);
          for (const table of lost) await clickHouse.command(`DROP TABLE ${table} SYNC`);
          await expect(find(store)).rejects.toMatchObject({ code: 'unavailable' });
          expect(await find(store)).toHaveLength(10);
          await keepUp(store);
          expect(await countTraces(clickHouse)).toBe(10);
          expect(await find(store)).toHaveLength(10);
        })(),
    );

    it(
      'is filled with large traces a few at a time, and counts those that it lacks',
      withSubject(async ({ store }, clickHouse) => {
        await appendSome(store, 1);
        await keepUp(store);
        const large = Array.from({ length: 7 }, () =>
          sampleAppend({ spans: Array.from({ length: 60 }, newLargeSpan) }),
        );
        for (const append of large) await store.traces.append(append);
        expect(await store.search.countUnindexed()).toBe(7);
        const counts = new Set<number>();
        for (let steps = 0; steps < 20 && !counts.has(8); steps += 1) {
          for (const { step } of store.upkeep) await step();
          counts.add(await countTraces(clickHouse));
        }
        counts.delete(1);
        // Each has 3.9 million characters of text; a step ends once it has sixteen.
        expect([...counts]).toEqual([6, 8]);
        expect(await store.search.countUnindexed()).toBe(0);
        expect(await find(store)).toHaveLength(8);
      }),
    );

    it(
      'gets to every trace, however often large ones change',
      withSubject(async ({ store }, clickHouse) => {
        const large = Array.from({ length: 5 }, () =>
          sampleAppend({ spans: Array.from({ length: 60 }, newLargeSpan) }),
        );
        for (const append of large) await store.traces.append(append);
        await keepUp(store);
        const [cold = ''] = await appendSome(store, 1);
        const isIndexed = async () =>
          (await clickHouse.rows(`SELECT 1 FROM traces FINAL WHERE trace_id = '${cold}'`)).length > 0;
        let steps = 0;
        for (; steps < 10 && !(await isIndexed()); steps += 1) {
          for (const { traceId } of large) await store.traces.append(sampleAppend({ traceId }));
          for (const { step } of store.upkeep) await step();
        }
        expect(steps).toBeLessThan(4);
        await keepUp(store);
        expect(await find(store)).toHaveLength(6);
      }),
    );

    it(
      'is filled anew when an older state of it was restored, whatever traces that has',
      withSubject(async ({ store }, clickHouse) => {
        await appendSome(store, 10);
        await keepUp(store);
        await clickHouse.command('CREATE TABLE old_traces AS traces');
        await clickHouse.command('INSERT INTO old_traces SELECT * FROM traces');
        await clickHouse.command('CREATE TABLE old_state AS state');
        await clickHouse.command('INSERT INTO old_state SELECT * FROM state');
        await appendSome(store, 5);
        await keepUp(store);
        await appendSome(store, 5);
        await keepUp(store);
        await clickHouse.command('EXCHANGE TABLES old_traces AND traces');
        await clickHouse.command('EXCHANGE TABLES old_state AND state');
        expect(await find(store)).toHaveLength(20);
        await keepUp(store);
        expect(await countTraces(clickHouse)).toBe(20);
        expect(await find(store)).toHaveLength(20);
      }),
    );

    it(
      'repeats a step whose end the database does not know',
      withSubject(async ({ store, read }, clickHouse) => {
        const traceIds = await appendSome(store, 3);
        await keepUp(store);
        const [row] = await read('SELECT step FROM search_state');
        const sequences = await clickHouse.rows<{ sequence: number }>('SELECT sequence FROM traces FINAL');
        // The process ended after ClickHouse had removed these traces by mistake, and before it said so.
        const number = 1_000_000;
        await clickHouse.command(
          `INSERT INTO traces (project_number, inserted_at, sequence, version, is_deleted)
           SELECT project_number, inserted_at, sequence, ${number}, 1 FROM traces FINAL`,
        );
        await clickHouse.insert('state', [
          {
            ...{ id: 1, number, step: 'interrupted', previous: row?.step },
            sequences: JSON.stringify(sequences.map(({ sequence }) => sequence)),
            ...{ walked_to: 0, walk_end: 0 },
          },
        ]);
        await keepUp(store);
        expect(await countTraces(clickHouse)).toBe(3);
        expect((await find(store)).toSorted()).toEqual(traceIds.toSorted());
      }),
    );

    it(
      'gives way to the index of the database, and takes over from it again',
      withSubject(async ({ store, reopen }, clickHouse) => {
        await appendSome(store, 4);
        await keepUp(store);
        await store.close();
        const without = await reopen(null);
        // Its own index has nothing of them yet.
        expect(await find(without)).toHaveLength(4);
        await keepUp(without);
        expect(await find(without)).toHaveLength(4);
        const [gone = ''] = await find(without);
        await without.traceChanges.removeTrace({ projectNumber: PROJECT.number, traceId: gone, expiredBeforeMs: null });
        await appendSome(without, 2);
        await keepUp(without);
        expect(await find(without)).toHaveLength(5);
        await without.close();
        const again = await reopen();
        await keepUp(again);
        expect(await countTraces(clickHouse)).toBe(5);
        expect(await find(again)).toHaveLength(5);
        await again.close();
      }),
    );

    it(
      'finds the newest traces first, however long ago they started, on pages of any size',
      withSubject(async ({ store }) => {
        const nowMs = Date.now();
        const hoursAgo = [-2, 0, 0.5, 0.5, 0.9, 1.1, 5, 7.9, 8.1, 60, 65, 400, 511.9, 512.1, 2_000];
        const appends = hoursAgo.map((hours) => {
          const startedAtMs = nowMs - Math.round(hours * 3_600_000);
          return sampleAppend({ spans: [sampleSpan({ startedAtMs, finishedAtMs: startedAtMs })] });
        });
        await Promise.all(appends.map(store.traces.append));
        await keepUp(store);
        const [first = '', ...ids] = appends.map(({ traceId }) => traceId);
        // Both of one instant.
        const expected = [first, ids[0], ...[ids[1] ?? '', ids[2] ?? ''].sort().toReversed(), ...ids.slice(3)];
        for (const limit of [1, 4, 100]) {
          for (const started of [
            EVER,
            { fromMs: EVER.fromMs, toMs: nowMs - 1 },
            { fromMs: nowMs - 9 * 3_600_000, toMs: EVER.toMs },
          ]) {
            const found = await findPages(store, started, limit);
            const isWithin = (_: unknown, index: number) => {
              const startMs = nowMs - (hoursAgo[index] ?? 0) * 3_600_000;
              return startMs >= started.fromMs && startMs <= started.toMs;
            };
            expect(found).toEqual(expected.filter(isWithin));
          }
        }
      }),
    );

    it(
      'is filled anew when its tables are of an earlier version',
      withSubject(async ({ store, reopen }, clickHouse) => {
        await appendSome(store, 3);
        await keepUp(store);
        const durations = 'SELECT sequence, duration_values AS values FROM traces FINAL ORDER BY sequence';
        const indexed = await clickHouse.rows<{ values: readonly number[] }>(durations);
        expect(indexed.every(({ values }) => values.length > 0)).toBe(true);
        await store.close();
        await clickHouse.command('TRUNCATE TABLE spandrel_schema');
        await clickHouse.insert('spandrel_schema', [{ fingerprint: '2c9031b3e2144926' }]);
        await clickHouse.command('ALTER TABLE traces DROP COLUMN duration_values');
        const again = await reopen();
        expect(await find(again)).toHaveLength(3);
        await keepUp(again);
        expect(await clickHouse.rows(durations)).toEqual(indexed);
        await again.close();
      }),
    );
  });
}

export async function appendSome(store: Store, count: number): Promise<readonly string[]> {
  const appends = Array.from({ length: count }, () => sampleAppend());
  await Promise.all(appends.map(store.traces.append));
  return appends.map(({ traceId }) => traceId);
}

async function find(store: Store): Promise<readonly string[]> {
  const query = { ...ALL_TRACES, filter: FILTER, projectNumber: PROJECT.number } as const;
  const { traces } = await store.search.find({ ...query, sort: 'started_at', isAscending: false, limit: 100 });
  return traces.map(({ traceId }) => traceId);
}

/** On every page, with a count of all. */
async function findPages(store: Store, started: InstantRange, limit: number): Promise<readonly string[]> {
  const query = {
    ...ALL_TRACES,
    filter: FILTER,
    projectNumber: PROJECT.number,
    sort: 'started_at',
    isAscending: false,
  } as const;
  const found: string[] = [];
  for (let after: SearchPosition | null = null; ; ) {
    const page = await store.search.find({ ...query, started, after, limit, countMax: 1_000 });
    found.push(...page.traces.map(({ traceId }) => traceId));
    after = page.next;
    if (after !== null) continue;
    expect(page.total).toEqual({ count: found.length, isExact: true });
    return found;
  }
}

function newLargeSpan() {
  const value = randomBytes(50_000).toString('hex');
  return sampleSpan({ inputJson: JSON.stringify({ type: 'text', value }) });
}

async function countTraces(clickHouse: ClickHouse): Promise<number> {
  return (await clickHouse.rows<{ count: number }>('SELECT count() AS count FROM traces FINAL'))[0]?.count ?? 0;
}
