import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/domain/store.ts';
import { TOTAL_MAX } from '../../../src/domain/traces/search/trace-search-store.ts';
import type { Evaluation, Span } from '../../../src/domain/traces/trace.ts';
import { PROJECT, RECEIVED_AT_MS, sampleAppend, sampleEvaluation, sampleSpan } from './samples.ts';
import { type OpenSubject, withStore } from './subject.ts';
import { findStored, readAllEvaluations, readAllSpans } from './trace-reading.ts';

const LONG = `ä\\u0000${'x'.repeat(20_000)}`;
const SPAN = sampleSpan({
  spanId: 'large',
  parentId: null,
  paramsJson: `{"service_tier":"flex","text":"${LONG} params"}`,
  otherMetricsJson: `{"text":"${LONG} metrics"}`,
  errorJson: `{"has_error":true,"message":"${LONG} failure","stacktrace":[]}`,
  contextsJson: `[{"document_id":"d","chunk_id":null,"content":"${LONG} contexts"}]`,
  telemetryJson: `{"attributes":{"a.b":"${LONG} telemetry"},"kind":"SPAN_KIND_CLIENT"}`,
  inputJson: `{"type":"text","value":"${LONG} question"}`,
  outputJson: `{"type":"json","value":{"text":"${LONG} answer"}}`,
});
const EVALUATION = sampleEvaluation({
  evaluationId: 'large',
  label: `${LONG} label`,
  details: `${LONG} details`,
  errorJson: `{"has_error":true,"message":"${LONG}","stacktrace":[]}`,
  inputsJson: `{"input":"${LONG} inputs"}`,
  costJson: `{"currency":"${LONG}","amount":0.1}`,
});
const NAMED = { projectNumber: PROJECT.number, traceId: 'parts', expiredBeforeMs: null };
const EVERYTHING = { after: null, limit: 10 };

async function store({ traces }: Store, span: Span, evaluation: Evaluation): Promise<void> {
  await traces.append(sampleAppend({ traceId: 'parts', spans: [span], evaluations: [evaluation], requests: [] }));
}

async function read({ traces }: Store) {
  const trace = await findStored(traces, 'parts');
  return [await readAllSpans(traces, trace), await readAllEvaluations(traces, trace)];
}

async function search({ search }: Store, text: string): Promise<number> {
  const ever = { fromMs: Number.MIN_SAFE_INTEGER, toMs: Number.MAX_SAFE_INTEGER };
  const { traces } = await search.find({
    ...{ projectNumber: PROJECT.number, expiredBeforeMs: null, started: ever, updated: ever, traceIds: null },
    ...{ sort: 'started_at', isAscending: true, after: null, limit: 10, countMax: TOTAL_MAX },
    filter: { conditions: [], isNegated: false, text },
  });
  return traces.length;
}

async function countLabelled({ analytics }: Store, label: string | null): Promise<number> {
  const answer = await analytics.summariseEvaluations({
    ...{ projectNumber: PROJECT.number, expiredBeforeMs: null, fromMs: 0, toMs: Number.MAX_SAFE_INTEGER },
    ...{ interval: 'total', groupBy: 'none', hasPercentiles: false, groupsMax: 100, bucketsMax: 1_000 },
    conditions: { evaluatorId: null, label, monitorId: null },
  });
  return answer.kind === 'buckets' ? answer.buckets.reduce((sum, { totals }) => sum + totals.evaluations, 0) : 0;
}

export function largePartConformance(open: OpenSubject): void {
  describe('large texts of spans and evaluations', () => {
    it(
      'are read as they were sent, whatever reads them',
      withStore(open, async (subject) => {
        await store(subject, SPAN, EVALUATION);
        expect(await read(subject)).toEqual([[SPAN], [EVALUATION]]);
        const trace = await findStored(subject.traces, 'parts');
        const [span] = await subject.traces.spanOrder(trace, EVERYTHING);
        expect(span?.bytes).toBeGreaterThan(7 * LONG.length);
        const [evaluation] = await subject.traces.evaluationOrder(trace, EVERYTHING);
        expect(evaluation?.bytes).toBeGreaterThan(5 * LONG.length);
        expect(await subject.traces.digest(trace)).toContain('x'.repeat(100));
        const found = ['question', 'answer', 'failure', 'contexts'].map((word) => search(subject, word));
        expect(await Promise.all(found)).toEqual([1, 1, 1, 0]);
        const labels = [EVALUATION.label, 'another'].map((label) => countLabelled(subject, label));
        expect(await Promise.all(labels)).toEqual([1, 0]);
        // A page of prices leaves out spans with so many metrics.
        const page = { ...trace, afterId: '', limit: 9 };
        expect(await subject.repricing.spans(page)).toEqual([]);
        await store(subject, { ...SPAN, otherMetricsJson: `{"a":"${'x'.repeat(9_000)}"}` }, EVALUATION);
        expect(await subject.repricing.spans(page)).toMatchObject([{ mayNameTier: true }]);
      }),
    );

    it(
      'are replaced by large and by small ones, and are gone with their trace',
      withStore(open, async (subject) => {
        const small = sampleSpan({ ...SPAN, inputJson: '{"type":"text","value":"short"}', errorJson: null });
        const bare = sampleEvaluation({ evaluationId: 'large', details: null });
        const other = { ...SPAN, outputJson: `{"type":"text","value":"${LONG} another"}` };
        for (const [span, evaluation] of [
          [SPAN, EVALUATION],
          [other, { ...EVALUATION, details: `${LONG} others` }],
          [small, bare],
          [sampleSpan({ spanId: 'large' }), EVALUATION],
          [SPAN, EVALUATION],
        ] as const) {
          await store(subject, span, evaluation);
          expect(await read(subject)).toEqual([[span], [evaluation]]);
        }
        expect(await subject.traceChanges.removeTrace(NAMED)).toBe(true);
        await store(subject, small, bare);
        expect(await read(subject)).toEqual([[small], [bare]]);
        const append = sampleAppend({ traceId: 'parts', spans: [SPAN], evaluations: [], requests: [] });
        const expired = { expiredBeforeMs: RECEIVED_AT_MS + 10, receivedAtMs: RECEIVED_AT_MS + 20 };
        await subject.traces.append({ ...append, ...expired });
        expect(await read(subject)).toEqual([[SPAN], []]);
      }),
    );
  });
}
