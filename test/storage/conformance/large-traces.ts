import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withShares } from '../../../src/domain/traces/shares/shares.ts';
import type { TraceStore } from '../../../src/domain/traces/telemetry-port.ts';
import { SPAN_TYPES, type Span } from '../../../src/domain/traces/trace.ts';
import {
  aggregatesOf,
  choiceOf,
  readAggregates,
  SPANS_READ_THROUGH_MAX,
  type TraceAggregates,
} from '../../../src/domain/traces/trace-aggregates.ts';
import { summaryOf, totalsOf } from '../../../src/domain/traces/trace-totals.ts';
import { runsOf } from '../../support/scenario.ts';
import {
  bareSpan,
  PROJECT,
  RECEIVED_AT_MS,
  randomHex,
  sampleAppend,
  sampleEvaluation,
  sampleRequest,
} from './samples.ts';
import { type OpenSubject, withStore } from './subject.ts';
import { findStored, readAllEvaluations, readAllSpans } from './trace-reading.ts';

const { number } = PROJECT;

export function largeTraceConformance(open: OpenSubject): void {
  describe('large traces', () => {
    it(
      'keep the aggregates of all their spans, for any additions and replacements in any order',
      withStore(open, async ({ traces }) => {
        const seed = Number(process.env.SPANDREL_TEST_SEED ?? Date.now() % 2 ** 31);
        console.log(JSON.stringify({ test: 'large traces', seed }));
        const appends = fc.array(fc.array(spans, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 });
        await fc.assert(
          fc.asyncProperty(fc.boolean(), appends, async (isGrown, batches) => {
            const traceId = randomHex(32);
            const first = isGrown ? others(SPANS_READ_THROUGH_MAX - 2) : others(SPANS_READ_THROUGH_MAX + 1);
            await traces.append(sampleAppend({ traceId, spans: first, requests: [] }));
            for (const batch of batches) {
              await traces.append(sampleAppend({ traceId, spans: batch, requests: [] }));
              await expectKept(traces, traceId);
            }
            // Also several appends in one batch.
            await Promise.all(
              batches.map((batch) => traces.append(sampleAppend({ traceId, spans: batch, requests: [] }))),
            );
            await expectKept(traces, traceId);
          }),
          { numRuns: runsOf(48), seed },
        );
      }),
    );

    it(
      'that have kept nothing answer the same, and keep it from then on',
      withStore(open, async ({ traces }, subject) => {
        const append = sampleAppend({
          spans: [...others(300), named('a'), named('b', { parentId: 'a' })],
          requests: [],
        });
        await traces.append(append);
        const before = await findStored(traces, append.traceId);
        expect(before.aggregatesJson).not.toBeNull();
        const { choice, tree } = await traces.outline(before);
        await subject.execute('UPDATE traces SET aggregates = NULL');
        const forgetful = await findStored(traces, append.traceId);
        expect(withoutNodes(forgetful)).toEqual(withoutNodes(before));
        expect({ ...forgetful, aggregatesJson: null }).toEqual({ ...before, aggregatesJson: null });
        expect(await traces.outline(forgetful)).toEqual({ choice, tree });
        await traces.append({ ...append, spans: [named('c')] });
        await expectKept(traces, append.traceId);
      }),
    );

    it(
      'MUST have the totals of their spans while one that speaks for them is sent again and again',
      withStore(open, async ({ traces }) => {
        const append = sampleAppend({ spans: [...others(SPANS_READ_THROUGH_MAX), named('a')], requests: [] });
        await traces.append(append);
        const sendAgain = async (index: number) => {
          const startedAtMs = RECEIVED_AT_MS - 1 - (index % 5);
          const changes = { startedAtMs, finishedAtMs: startedAtMs + 50 * (index % 3), promptTokens: index };
          await traces.append({ ...append, spans: [named('a', { ...changes, name: `take ${index}` })] });
          // A concurrent read may cache an outline that is already stale.
          await traces.find(number, append.traceId);
        };
        await Promise.all(Array.from({ length: 30 }, (_, index) => sendAgain(index)));
        await expectKept(traces, append.traceId);
        for (let index = 0; index < 10; index += 1) {
          await sendAgain(index);
          await expectKept(traces, append.traceId);
        }
      }),
    );

    it(
      'MUST refuse new spans beyond their most, one by one with their events, and still replace the others',
      withStore(open, async ({ traces, events }) => {
        const spansMax = 3;
        const append = sampleAppend({ spans: ['a', 'b'].map((id) => llm(id)), requests: requests('a', 'b'), spansMax });
        expect(await traces.append(append)).toEqual({ metadataNotes: [] });
        const sent = ['c', 'd', 'a', 'e'].map((id) => llm(id, { promptTokens: 5 }));
        const more = { ...append, spans: sent, requests: requests('c', 'd', 'a', 'e') };
        expect(await traces.append(more)).toEqual({
          metadataNotes: [],
          requestResults: ['emitted', null, 'emitted', null],
          refusedSpans: [1, 3],
        });
        const stored = await readAllSpans(traces, await findStored(traces, append.traceId));
        expect(stored.map(({ spanId, promptTokens }) => [spanId, promptTokens])).toEqual([
          ['a', 5],
          ['b', null],
          ['c', 5],
        ]);
        expect(await eventIds(events)).toEqual([
          'gw-a:completed',
          'gw-a:completed:2',
          'gw-b:completed',
          'gw-c:completed',
        ]);
        // Two spans with one id are both accepted or both refused.
        const twice = { ...append, spans: [named('f'), named('b'), named('f')], requests: [] };
        expect(await traces.append(twice)).toEqual({ metadataNotes: [], refusedSpans: [0, 2] });
      }),
    );

    it(
      'MUST store nothing of an append that brought nothing else than spans without room',
      withStore(open, async ({ traces }) => {
        const append = sampleAppend({ spans: [named('a')], requests: [], spansMax: 1, metadataJson: '{"n":1}' });
        await traces.append(append);
        const useless = { ...append, spans: [named('b')], metadataJson: '{"n":2}', expectedOutput: 'x' };
        expect(await traces.append(useless)).toEqual({ metadataNotes: [], requestResults: [], refusedSpans: [0] });
        expect(await traces.find(number, append.traceId)).toMatchObject({
          metadataJson: '{"n":1}',
          expectedOutput: null,
        });
        const evaluation = sampleEvaluation();
        expect(await traces.append({ ...useless, evaluations: [evaluation] })).toMatchObject({ refusedSpans: [0] });
        const stored = await findStored(traces, append.traceId);
        expect(await readAllEvaluations(traces, stored)).toEqual([evaluation]);
        expect(await traces.find(number, append.traceId)).toMatchObject({ metadataJson: '{"n":2}', spanCount: 1 });
      }),
    );

    it(
      'MUST hold no more than their most, also when a new one is too large, and when many append at once',
      withStore(open, async ({ traces }) => {
        const large = sampleAppend({ spans: ['a', 'b', 'c'].map((id) => named(id)), requests: [], spansMax: 2 });
        expect(await traces.append(large)).toEqual({ metadataNotes: [], refusedSpans: [2] });
        const shared = sampleAppend({ spans: [], requests: [], spansMax: 25 });
        const answers = await Promise.all(
          Array.from({ length: 40 }, (_, index) => traces.append({ ...shared, spans: [named(`s${index}`)] })),
        );
        expect(answers.filter(({ refusedSpans }) => refusedSpans !== undefined)).toHaveLength(15);
        const stored = await findStored(traces, shared.traceId);
        expect([stored.spanCount, (await readAllSpans(traces, stored)).length]).toEqual([25, 25]);
      }),
    );

    it(
      'MUST return their outline and digest however many spans and texts they have',
      withStore(open, async ({ traces }) => {
        const text = JSON.stringify({ type: 'text', value: '\n'.repeat(3000) });
        const traceId = randomHex(32);
        const chain = Array.from({ length: 5000 }, (_, index) =>
          named(`s${index}`, {
            parentId: index === 0 ? null : `s${index - 1}`,
            startedAtMs: RECEIVED_AT_MS + index,
            ...(index < 300 ? { inputJson: text, outputJson: text } : {}),
          }),
        );
        await traces.append(sampleAppend({ traceId, spans: chain, requests: [] }));
        const trace = await findStored(traces, traceId);
        const { choice, tree } = await traces.outline(trace);
        expect(choice).toMatchObject({ rootId: 's0', inputFromId: 's0', outputFromId: 's0' });
        expect(tree.split('\n')).toHaveLength(1002);
        expect(tree).toMatch(/ └── span: span\n… 4000 more$/);
        const digest = await traces.digest(trace);
        expect(Buffer.byteLength(digest)).toBeLessThan(1024 * 1024 + 30);
        expect(digest).toMatch(/\n… 4\d\d\d more$/);
      }),
    );

    it(
      'return the approximate size of each span and evaluation, and continue after any of them',
      withStore(open, async ({ traces }) => {
        const inputJson = JSON.stringify({ type: 'text', value: 'é'.repeat(100_000) });
        const spansSent = [...others(300), named('large', { inputJson, startedAtMs: 1 })];
        const details = 'x'.repeat(50_000);
        const evaluations = Array.from({ length: 300 }, (_, index) =>
          sampleEvaluation({
            evaluationId: `e${index}`,
            insertedAtMs: index % 7,
            details: index === 0 ? details : null,
          }),
        );
        const append = sampleAppend({ spans: spansSent, requests: [], evaluations });
        await traces.append(append);
        const trace = await findStored(traces, append.traceId);
        for (const order of [traces.spanOrder, traces.evaluationOrder]) {
          const all = await order(trace, { after: null, limit: 1000 });
          const [first, second, third] = all;
          expect(await order(trace, { after: first ?? null, limit: 2 })).toEqual([second, third]);
          expect(await order(trace, { after: all.at(-1) ?? null, limit: 2 })).toEqual([]);
          const bytes = order === traces.spanOrder ? 200_000 : 50_000;
          expect(first?.bytes).toBeGreaterThanOrEqual(bytes);
          expect(first?.bytes).toBeLessThan(bytes + 1000);
        }
      }),
    );
  });
}

async function expectKept(traces: TraceStore, traceId: string): Promise<void> {
  const record = await traces.find(number, traceId);
  const stored = await findStored(traces, traceId);
  const shared = withShares((await readAllSpans(traces, stored)).map(summaryOf));
  expect(record).toMatchObject(totalsOf(shared));
  const aggregates = aggregatesOf(shared);
  expect((await traces.outline(stored)).choice).toEqual(choiceOf(aggregates));
  if (stored.spanCount <= SPANS_READ_THROUGH_MAX) expect(stored.aggregatesJson).toBeNull();
  else expect(withoutNodes(stored)).toEqual(aggregates);
}

/** Whether a trace has nodes depends on how it came. */
function withoutNodes({ aggregatesJson }: { readonly aggregatesJson: string | null }): TraceAggregates {
  return { ...readAggregates(aggregatesJson ?? ''), hasNodes: false };
}

function named(spanId: string, changes: Partial<Span> = {}): Span {
  return bareSpan({ spanId, ...changes });
}

function llm(spanId: string, changes: Partial<Span> = {}): Span {
  return named(spanId, { type: 'llm', callRow: 1, paramsJson: `{"gateway_request_id":"gw-${spanId}"}`, ...changes });
}

function requests(...ids: readonly string[]) {
  return ids.map((id, spanIndex) => sampleRequest({ spanIndex, gatewayRequestId: `gw-${id}` }));
}

/** Spans that only fill a trace. */
function others(count: number): Span[] {
  return Array.from({ length: count }, (_, index) =>
    named(`other${index}`, {
      parentId: index % 3 === 0 ? 'nowhere' : `other${index - 1}`,
      startedAtMs: RECEIVED_AT_MS + 3 + (index % 5),
      finishedAtMs: RECEIVED_AT_MS + 3 + (index % 7),
    }),
  );
}

async function eventIds(events: { list(range: typeof EVENTS): Promise<readonly { id: string }[]> }) {
  return (await events.list(EVENTS)).map(({ id }) => id).toSorted();
}

const EVENTS = {
  organization: { id: 'organization_1', number: 1 },
  fromMs: 0,
  toMs: Number.MAX_SAFE_INTEGER,
  type: null,
  after: null,
  limit: 100,
} as const;

// Few values, so that ties, replacements, late parents and cycles are frequent.
const count = fc.option(fc.integer({ min: 0, max: 3 }));
const instant = fc.integer({ min: RECEIVED_AT_MS, max: RECEIVED_AT_MS + 9 });
const id = fc.constantFrom('a', 'b', 'c', 'd', '0123456789abcdef', 'é', '\u{1f600}', 'other0', 'other1', 'nowhere');
const json = fc.option(fc.constant('{"type":"text","value":"x"}'));
const spans: fc.Arbitrary<Span> = fc
  .record({
    spanId: id,
    parentId: fc.option(id),
    type: fc.constantFrom(...SPAN_TYPES),
    name: fc.option(fc.constantFrom('n', 'm"\\')),
    model: fc.option(fc.constantFrom('m1', 'm2', 'm3')),
    callRow: fc.constantFrom(0, 0, 1, 2),
    startedAtMs: instant,
    finishedAtMs: instant,
    firstTokenAtMs: fc.option(instant),
    promptTokens: count,
    completionTokens: count,
    reasoningTokens: count,
    cacheReadInputTokens: count,
    cacheCreationInputTokens: count,
    costNanoUsd: fc.option(fc.integer({ min: 0, max: 2 ** 40 })),
    tokensEstimated: fc.boolean(),
    inputJson: json,
    outputJson: json,
    errorJson: fc.option(fc.constant('{"has_error":true}')),
  })
  .map((changes) => bareSpan(changes));
