import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/domain/store.ts';
import type { FoundTraces, SearchQuery } from '../../../src/domain/traces/search/trace-search-store.ts';
import { drawSeed, isFullTier, runsOf } from '../../support/scenario.ts';
import { PROJECT } from './samples.ts';
import { createSearchSamples } from './search-samples.ts';
import { keepUp, type OpenSubject, type Subject, withStore } from './subject.ts';

const TRACES = 2_300;

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
        expect(await store.search.countUnindexed()).toBe(0);
        await expectSame(subject, Array.from({ length: runsOf(40) }, samples.question));

        // These changes stay unindexed.
        await change(store, samples, isFullTier ? 700 : 300);
        await expectSame(subject, Array.from({ length: runsOf(24) }, samples.question));
        await change(store, samples, isFullTier ? 500 : 200);
        await keepUp(store);
        expect(await store.search.countUnindexed()).toBe(0);
        await expectSame(subject, Array.from({ length: runsOf(40) }, samples.question));
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

/** Marks every trace as pending, so that searches read them all. */
const MARK_ALL = `INSERT INTO search_pending (project_number, trace_sequence, mark)
  SELECT project_number, sequence, -1 FROM traces WHERE true ON CONFLICT DO NOTHING`;
const UNMARK = 'DELETE FROM search_pending WHERE mark = -1';
/** Each page reads every trace. */
const LARGEST_PAGE = 1_000;

/** Runs every search twice, the second time by reading every trace, on few pages. */
async function expectSame({ store, execute }: Subject, questions: readonly SearchQuery[]): Promise<void> {
  const indexed: FoundTraces[] = [];
  for (const question of questions) indexed.push(await walk(store, question));
  await execute(MARK_ALL);
  for (const [index, question] of questions.entries()) {
    const expected = await walk(store, { ...question, limit: LARGEST_PAGE });
    const found = indexed[index];
    expect(found?.traces, JSON.stringify(question)).toEqual(expected.traces);
    // The total of a text search depends on its time limit.
    if (question.filter.text === '') expect(found?.total, JSON.stringify(question)).toEqual(expected.total);
  }
  await execute(UNMARK);
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
