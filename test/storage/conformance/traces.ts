import { describe, expect, it } from 'vitest';
import type { SpanPosition } from '../../../src/domain/traces/telemetry-port.ts';
import type { Span } from '../../../src/domain/traces/trace.ts';
import { aggregatesOf, choiceOf } from '../../../src/domain/traces/trace-aggregates.ts';
import { summaryOf } from '../../../src/domain/traces/trace-totals.ts';
import {
  bareSpan,
  PROJECT,
  RECEIVED_AT_MS,
  randomHex,
  sampleAppend,
  sampleEvaluation,
  sampleRequest,
  sampleSpan,
} from './samples.ts';
import { type OpenSubject, withStore } from './subject.ts';
import { findStored, readAllEvaluations, readAllSpans, readSpanIds } from './trace-reading.ts';

const { number } = PROJECT;
const IDS = [
  randomHex(32),
  randomHex(16),
  randomHex(32).toUpperCase(),
  'trace-123',
  'req_0123456789abcdef0123456789abcd',
  '0af7',
  'é 😀 % _ \' " \\',
  'x'.repeat(200),
  '__proto__',
];

export function traceReadConformance(open: OpenSubject): void {
  describe('traces, read back', () => {
    it(
      'MUST see every append acknowledged before the call',
      withStore(open, async ({ traces }) => {
        for (let round = 0; round < 50; round += 1) {
          const append = sampleAppend();
          await traces.append(append);
          expect(await traces.find(number, append.traceId)).toMatchObject({ traceId: append.traceId, spanCount: 1 });
        }
        expect(await traces.find(number, 'unknown')).toBeNull();
      }),
    );

    it(
      'returns spans of every shape as they were sent',
      withStore(open, async ({ traces }) => {
        const sent = [
          ...IDS.map((id, index) => sampleSpan({ spanId: id, parentId: IDS[index + 1] ?? null })),
          bareSpan(),
          // Ends and first tokens before the start are stored unchanged.
          bareSpan({ finishedAtMs: RECEIVED_AT_MS - 9000, firstTokenAtMs: RECEIVED_AT_MS - 8000 }),
          sampleSpan({
            costSource: 'a source of tomorrow',
            errorJson: '{"has_error":true}',
            cachedTokensInPrompt: false,
          }),
          sampleSpan({ inputJson: '{"type":"json","value":null}', outputJson: '{"type":"list","value":[],"more":1}' }),
          sampleSpan({ inputJson: '{"type":"guardrail_result","value":{}}', outputJson: '{"type":"text"}' }),
        ];
        const { traceId } = await appendSpans(traces, sent);
        const trace = await findStored(traces, traceId);
        const ids = sent.map((span) => span.spanId);
        expect(await traces.spans(trace, ids)).toEqual(sent);
        const { choice } = await traces.outline(trace);
        expect(choice).toEqual(choiceOf(aggregatesOf(sent.map(summaryOf))));
      }),
    );

    it(
      'distinguishes ids of every shape, also between projects',
      withStore(open, async ({ traces }) => {
        for (const [index, traceId] of IDS.entries()) {
          await traces.append(sampleAppend({ traceId, receivedAtMs: RECEIVED_AT_MS + index }));
        }
        const other = { projectId: 'project_2', projectNumber: 2 };
        await traces.append(sampleAppend({ ...other, traceId: 'trace-123', spans: [], requests: [] }));
        for (const [index, traceId] of IDS.entries()) {
          expect(await traces.find(number, traceId)).toMatchObject({ traceId, insertedAtMs: RECEIVED_AT_MS + index });
        }
        expect(await traces.find(2, 'trace-123')).toMatchObject({ spanCount: 0 });
        expect(await traces.find(2, IDS[0] ?? '')).toBeNull();
        const foreign = { ...(await findStored(traces, 'trace-123')), projectNumber: 2 };
        expect(await readSpanIds(traces, foreign)).toEqual([]);
        expect(await readAllEvaluations(traces, foreign)).toEqual([]);
      }),
    );

    it(
      'returns the named spans in the order of the ids and leaves unknown ones out',
      withStore(open, async ({ traces }) => {
        const sent = Array.from({ length: 600 }, (_, index) => bareSpan({ startedAtMs: RECEIVED_AT_MS - index }));
        const { traceId } = await appendSpans(traces, sent);
        const trace = await findStored(traces, traceId);
        const wanted = sent.map((span) => span.spanId).toReversed();
        const answered = await traces.spans(trace, ['unknown', ...wanted, randomHex(16)]);
        expect(answered.map((span) => span.spanId)).toEqual(wanted);
        expect(await traces.spans(trace, [])).toEqual([]);
      }),
    );

    it(
      'puts spans of one instant in the order of the bytes of their ids',
      withStore(open, async ({ traces }) => {
        const spans = ['\u{1f600}', '\uff01', 'b', 'B'].map((spanId) => bareSpan({ spanId }));
        const append = sampleAppend({ spans, requests: [] });
        await traces.append(append);
        const trace = await findStored(traces, append.traceId);
        expect(await readSpanIds(traces, trace)).toEqual(['B', 'b', '\uff01', '\u{1f600}']);
      }),
    );

    it(
      'puts spans of one millisecond in the order of their nanoseconds, those that last longer first',
      withStore(open, async ({ traces }) => {
        const at = (spanId: string, startedNs: number | null, durationMs: number, finishedNs: number | null) =>
          bareSpan({
            ...{ spanId, type: 'tool', parentId: spanId === 'd' ? null : 'd' },
            ...{ startedAtMs: RECEIVED_AT_MS, startedNs, finishedAtMs: RECEIVED_AT_MS + durationMs, finishedNs },
          });
        const inOrder = [
          at('z', -500_000, 0, null),
          at('d', null, 5, null),
          at('c', null, 1, 7),
          at('a', null, 1, null),
          at('b', null, 1, null),
          at('y', 1, 9, null),
          at('x', 499_999, 0, 499_999),
        ];
        const spans = [3, 0, 6, 2, 5, 1, 4].map((index) => inOrder[index] ?? bareSpan());
        const append = sampleAppend({ spans, requests: [] });
        await traces.append(append);
        const trace = await findStored(traces, append.traceId);
        const ids = inOrder.map(({ spanId }) => spanId);
        expect(await readAllSpans(traces, trace)).toEqual(inOrder);
        expect(await traces.spanIdsOfType(trace, { type: 'tool', order: 'first', limit: 7 })).toEqual(ids);
        expect(await traces.spanIdsOfType(trace, { type: 'tool', order: 'last', limit: 7 })).toEqual(ids.toReversed());
        const { tree, choice } = await traces.outline(trace);
        expect(tree.split('\n')).toHaveLength(8);
        expect(choice.rootId).toBe('d');
        const pages: string[] = [];
        for (let after: SpanPosition | null = null; ; ) {
          const [next] = await traces.spanOrder(trace, { after, limit: 1 });
          if (next === undefined) break;
          pages.push(next.id);
          const { bytes: _, ...position } = next;
          after = position;
        }
        expect(pages).toEqual(ids);
      }),
    );

    it(
      'returns every span of a large trace once, by start, then id',
      withStore(open, async ({ traces }) => {
        const sent = Array.from({ length: 5000 }, (_, index) =>
          bareSpan({
            spanId: index % 3 === 0 ? `span ${index}` : randomHex(16),
            startedAtMs: RECEIVED_AT_MS - (index % 7),
          }),
        );
        const { traceId } = await appendSpans(traces, sent);
        const trace = await findStored(traces, traceId);
        expect(await readSpanIds(traces, trace)).toEqual(sent.toSorted(byStart).map((span) => span.spanId));
      }),
    );

    it(
      'finds ids by prefix, of traces stored since an instant, at most so many, ascending',
      withStore(open, async ({ traces }) => {
        const ids = ['deadbee0', 'deadbeef', 'deadbeef-1', `deadbeef${'0'.repeat(24)}`, `deadbeef${'f'.repeat(24)}`];
        ids.push(`deadbeef${'0'.repeat(8)}`, `deadbef0${'0'.repeat(24)}`, `deadbeef5${'7'.repeat(23)}`);
        for (const [index, traceId] of ids.entries()) {
          await traces.append(sampleAppend({ traceId, receivedAtMs: RECEIVED_AT_MS + index }));
        }
        const expected = ids.filter((id) => id.startsWith('deadbeef')).toSorted();
        expect(await traces.findByPrefix(number, 'deadbeef', 0, 100)).toEqual(expected);
        expect(await traces.findByPrefix(number, 'deadbeef', 0, 3)).toEqual(expected.slice(0, 3));
        expect(await traces.findByPrefix(number, 'deadbeef5', 0, 100)).toEqual([`deadbeef5${'7'.repeat(23)}`]);
        expect(await traces.findByPrefix(number, 'deadbeef', RECEIVED_AT_MS + 4, 100)).toEqual(
          ids
            .slice(4)
            .filter((id) => id.startsWith('deadbeef'))
            .toSorted(),
        );
        expect(await traces.findByPrefix(2, 'deadbeef', 0, 100)).toEqual([]);
      }),
    );

    it(
      'returns evaluations of every shape, by insertion, then id',
      withStore(open, async ({ traces }) => {
        const bare = { type: null, spanId: null, threadId: null, isGuardrail: false, passed: null, score: null };
        const empty = {
          label: null,
          details: null,
          errorJson: null,
          inputsJson: null,
          costJson: null,
          monitorId: null,
        };
        const evaluations = [
          sampleEvaluation({ evaluationId: 'b', insertedAtMs: 5, score: -1e-9, passed: true }),
          // References of result-inputs.ts begin with a space.
          sampleEvaluation({ evaluationId: 'a', insertedAtMs: 5, score: 3, inputsJson: ' {"input":{"value":"é"}}' }),
          sampleEvaluation({
            evaluationId: 'z',
            insertedAtMs: 4,
            status: 'error',
            ...bare,
            ...empty,
            startedAtMs: null,
          }),
        ];
        const append = sampleAppend({ spans: [], requests: [], evaluations });
        await traces.append(append);
        const trace = await findStored(traces, append.traceId);
        expect(await readAllEvaluations(traces, trace)).toEqual([evaluations[2], evaluations[1], evaluations[0]]);
      }),
    );
  });
}

async function appendSpans(
  traces: { append(append: ReturnType<typeof sampleAppend>): Promise<unknown> },
  spans: Span[],
) {
  const append = sampleAppend({ spans, requests: [sampleRequest()] });
  await traces.append(append);
  return append;
}

function byStart(a: { startedAtMs: number; spanId: string }, b: { startedAtMs: number; spanId: string }): number {
  return a.startedAtMs - b.startedAtMs || (a.spanId < b.spanId ? -1 : 1);
}
