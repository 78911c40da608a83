import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createCursorCodec } from '../../../src/domain/cursor.ts';
import { inputsToStore } from '../../../src/domain/evaluations/result-inputs.ts';
import type { Store } from '../../../src/domain/store.ts';
import type { TraceAppend } from '../../../src/domain/traces/trace.ts';
import { SPANS_READ_THROUGH_MAX } from '../../../src/domain/traces/trace-aggregates.ts';
import { readRow } from '../../../src/domain/traces/trace-row.ts';
import { createTraceRows } from '../../../src/domain/traces/trace-rows.ts';
import { createTraces } from '../../../src/domain/traces/traces.ts';
import { runCooperatively } from '../../../src/storage/traces/trace-reads.ts';
import { drawSeed, runsOf } from '../../support/scenario.ts';
import { bareSpan, PROJECT, RECEIVED_AT_MS, sampleAppend, sampleEvaluation, sampleSpan } from './samples.ts';
import { createSearchSamples } from './search-samples.ts';
import { type OpenSubject, withStore } from './subject.ts';

const ERROR = '{"has_error":true,"message":"failed","stacktrace":["at main"]}';
const LONG = 'long "é" '.repeat(600);

const typed = (value: string) => JSON.stringify({ type: 'text', value });

export function traceRowConformance(open: OpenSubject): void {
  describe('rows of traces for lists', () => {
    it(
      'MUST return of each trace what `find`, `outline`, `spans` and `evaluations` do, for random traces',
      withStore(open, async (store) => {
        const seed = drawSeed();
        console.log(JSON.stringify({ test: 'rows of traces', seed }));
        const samples = createSearchSamples(seed);
        const appends = Array.from({ length: runsOf(1_000) }, (_, index) => samples.trace(index));
        for (const append of appends) await store.traces.append(append);
        const { both, rows } = await readBoth(store, appends);
        for (const { traceId, row, single } of both) expect(row, `${traceId}, seed ${seed}`).toEqual(single);
        // The others have more metadata than is read with a row.
        expect(rows).toBeGreaterThan(appends.length * 0.9);
      }),
    );

    it(
      'MUST do so for traces of every size, and leaves out those that are better read one by one',
      withStore(open, async (store) => {
        const children = (count: number) =>
          Array.from({ length: count }, (_, index) =>
            bareSpan({ parentId: 'root', startedAtMs: RECEIVED_AT_MS + index, inputJson: typed(`in ${index}`) }),
          );
        const root = bareSpan({ spanId: 'root', outputJson: typed('out'), errorJson: ERROR, model: 'gpt-5' });
        const evaluations = (count: number) => Array.from({ length: count }, () => sampleEvaluation());
        const judged = bareSpan({ spanId: 'judged', inputJson: typed(LONG), outputJson: typed('x'.repeat(1_000)) });
        const origin = (name: string) => ({ spanId: 'judged', name });
        const inputsJson = inputsToStore(
          { input: LONG, output: 'x'.repeat(1_000), context: `${LONG} since changed` },
          { input: origin('input'), output: origin('output'), context: origin('input') },
        );
        const readTogether = [
          sampleAppend({ spans: [], metadataJson: '{"a":1}' }),
          sampleAppend({ spans: [sampleSpan()], expectedOutput: 'short' }),
          sampleAppend({ spans: [root, ...children(5)] }),
          sampleAppend({ spans: [root, ...children(SPANS_READ_THROUGH_MAX - 1)] }),
          sampleAppend({ spans: [bareSpan({ inputJson: typed(LONG), outputJson: '{"type":"json","value":null}' })] }),
          sampleAppend({ spans: [bareSpan({ errorJson: ERROR.replace('failed', 'x'.repeat(5_000)) })] }),
          sampleAppend({ spans: [judged], evaluations: [sampleEvaluation({ inputsJson }), ...evaluations(3)] }),
          sampleAppend({ spans: [root], evaluations: evaluations(100) }),
        ];
        const readAlone = [
          sampleAppend({ spans: [root, ...children(SPANS_READ_THROUGH_MAX)] }),
          sampleAppend({ spans: [root], metadataJson: JSON.stringify({ a: LONG }) }),
          sampleAppend({ spans: [root], expectedOutput: LONG }),
          sampleAppend({ spans: [root], evaluations: evaluations(101) }),
          sampleAppend({ spans: [root], evaluations: [sampleEvaluation({ details: LONG })] }),
        ];
        for (const append of [...readTogether, ...readAlone]) await store.traces.append({ ...append, requests: [] });
        const together = await readBoth(store, readTogether);
        for (const { row, single } of together.both) expect(row).toEqual(single);
        expect(together.rows).toBe(readTogether.length);
        expect((await readBoth(store, readAlone)).rows).toBe(0);
        expect(await store.traces.rows(PROJECT.number, ['unknown'])).toEqual([]);
        expect(
          await store.traces.rows(
            PROJECT.number + 1,
            readTogether.map(({ traceId }) => traceId),
          ),
        ).toEqual([]);
      }),
    );

    it(
      'leaves out the traces of a page whose evaluations are too many together',
      withStore(open, async (store) => {
        const evaluations = () => Array.from({ length: 90 }, () => sampleEvaluation());
        const appends = Array.from({ length: 15 }, () =>
          sampleAppend({ spans: [bareSpan()], evaluations: evaluations(), requests: [] }),
        );
        for (const append of appends) await store.traces.append(append);
        const { both, rows } = await readBoth(store, appends);
        for (const { row, single } of both) if (row !== undefined) expect(row).toEqual(single);
        expect(rows).toBe(11);
      }),
    );
  });
}

/** Reads traces for a list and one by one; `rows` of them were read together. */
async function readBoth(
  { traces: store, feedback, annotations }: Pick<Store, 'traces' | 'feedback' | 'annotations'>,
  appends: readonly TraceAppend[],
) {
  const deps = {
    store,
    feedback,
    annotations,
    cursors: createCursorCodec(randomBytes(32)),
    runCooperatively: runCooperatively,
    traceDefaultDays: null,
  };
  const traces = createTraces({
    ...deps,
    retentionNowMs: () => RECEIVED_AT_MS,
    prices: {} as never,
    limits: {} as never,
    losses: {} as never,
    prompts: {} as never,
  });
  const project = { id: PROJECT.id, number: PROJECT.number, traceRetentionDays: null } as never;
  const at = { project, nowMs: RECEIVED_AT_MS };
  const ids = [...new Set(appends.map(({ traceId }) => traceId))];
  const found = await createTraceRows(deps).read(ids, at);
  const both = [];
  for (const traceId of ids) {
    const read = await readRow(traces, { ...at, traceId, spansLimit: 0 });
    // Rows have no tree.
    const single = read === null ? null : { ...read.view, asciiTree: '' };
    both.push({ traceId, row: found.get(traceId)?.view ?? (found.has(traceId) ? null : undefined), single });
  }
  const known = both.filter(({ row }) => row !== undefined);
  return { both: known, rows: known.length };
}
