import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/domain/store.ts';
import type { FoundTraces, SearchQuery } from '../../../src/domain/traces/search/trace-search-store.ts';
import { drawSeed, isFullTier, runsOf } from '../../support/scenario.ts';
import { PROJECT } from './samples.ts';
import { createSearchSamples } from './search-samples.ts';
import { keepUp, type OpenSubject, type Subject, withStore } from './subject.ts';

const TRACES = 2_300;
const BLOCK_TRACES = 1_024;

export function searchIndexConformance(open: OpenSubject): void {
  describe('the index of traces', () => {
    it(
      'finds what a search through every trace finds, in the same order, after traces were sent again, changed and removed',
      withStore(open, async (store, subject) => {
        const seed = drawSeed();
        console.log(JSON.stringify({ test: 'the index of traces', seed }));
        const samples = createSearchSamples(seed);
        const appends = Array.from({ length: TRACES }, (_, index) => samples.trace(index));
        await Promise.all(appends.map(store.traces.append));
        await keepUp(store);
        expect(await store.search.countUnindexed()).toBeLessThan(BLOCK_TRACES);
        await expectSame(subject, Array.from({ length: runsOf(40) }, samples.question));

        // Some changes stay unindexed, and later blocks then hold most of the first block.
        await change(store, samples, isFullTier ? 700 : 300);
        await expectSame(subject, Array.from({ length: runsOf(24) }, samples.question));
        await change(store, samples, isFullTier ? 500 : 200);
        await keepUp(store);
        expect(await store.search.countUnindexed()).toBeLessThan(BLOCK_TRACES);
        await expectSame(subject, Array.from({ length: runsOf(40) }, samples.question));
      }),
    );

    it(
      'continues where a process was killed, and removes its unfinished parts',
      withStore(open, async (store, subject) => {
        const samples = createSearchSamples(1);
        const appends = Array.from({ length: BLOCK_TRACES }, (_, index) => samples.trace(index));
        await Promise.all(appends.map(store.traces.append));
        await subject.execute(
          `INSERT INTO search_heads (project_number, generation, next_block, written_block, removed_block, leased_until)
           VALUES (${PROJECT.number}, 0, 8, 7, 6, 0)`,
        );
        for (const block of [6, 7]) {
          await subject.execute(`INSERT INTO search_facets (project_number, block, facet, trace_set)
            VALUES (${PROJECT.number}, ${block}, 1, ${subject.bytes('00')})`);
          await subject.execute(`INSERT INTO search_parts (project_number, block, part, content)
            VALUES (${PROJECT.number}, ${block}, 1, ${subject.bytes('00')})`);
        }
        await keepUp(store);
        expect(await store.search.countUnindexed()).toBe(0);
        // A leftover row of this block would make its insert fail.
        await subject.execute(`INSERT INTO search_facets (project_number, block, facet, trace_set)
          VALUES (${PROJECT.number}, 7, 1, ${subject.bytes('00')})`);
        await expectSame(subject, Array.from({ length: 10 }, samples.question));
      }),
    );

    it(
      'leaves alone what another process is at',
      withStore(open, async (store, subject) => {
        const samples = createSearchSamples(2);
        const appends = Array.from({ length: BLOCK_TRACES }, (_, index) => samples.trace(index));
        await Promise.all(appends.map(store.traces.append));
        await subject.execute(
          `INSERT INTO search_heads (project_number, generation, next_block, written_block, removed_block, leased_until)
           VALUES (${PROJECT.number}, 0, 2, 1, NULL, ${Date.now() + 60_000})`,
        );
        for (const { step } of store.upkeep) for (let count = 0; count < 4; count += 1) await step();
        expect(await store.search.countUnindexed()).toBe(BLOCK_TRACES);
      }),
    );
  });
}

type Samples = ReturnType<typeof createSearchSamples>;

/** Resends some traces with other spans, patches some and removes some. */
async function change(store: Store, samples: Samples, count: number): Promise<void> {
  const { number: projectNumber } = PROJECT;
  const some = Array.from({ length: count }, samples.index);
  const again = some.filter((index) => index % 5 < 3).map((index) => samples.trace(index));
  await Promise.all(again.map(store.traces.append));
  for (const index of some.filter((each) => each % 5 > 2)) {
    const trace = { projectNumber, traceId: samples.trace(index).traceId, expiredBeforeMs: null };
    if (index % 5 === 3) await store.traceChanges.removeTrace(trace);
    else await store.traceChanges.patchMetadata(trace, samples.patch(), samples.nowMs());
  }
}

/** The largest page: without an index each one reads every trace. */
const LARGEST_PAGE = 1_000;

/** Runs every search twice, the second time without an index and on few pages. */
async function expectSame({ store, execute }: Subject, questions: readonly SearchQuery[]): Promise<void> {
  const indexed: FoundTraces[] = [];
  for (const question of questions) indexed.push(await walk(store, question));
  await execute(`UPDATE search_heads SET project_number = -project_number`);
  for (const [index, question] of questions.entries()) {
    const expected = await walk(store, { ...question, limit: LARGEST_PAGE });
    const found = indexed[index];
    expect(found?.traces, JSON.stringify(question)).toEqual(expected.traces);
    // The total of a text search depends on its time limit.
    if (question.filter.text === '') expect(found?.total, JSON.stringify(question)).toEqual(expected.total);
  }
  await execute(`UPDATE search_heads SET project_number = -project_number`);
}

/** Reads all pages. */
async function walk({ search }: Store, question: SearchQuery): Promise<FoundTraces> {
  const first = await search.find(question);
  const traces = [...first.traces];
  for (let { next } = first; next !== null; ) {
    const page = await search.find({ ...question, after: next, countMax: null });
    traces.push(...page.traces);
    next = page.next;
  }
  return { ...first, traces };
}
