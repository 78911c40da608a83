import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withShares } from '../../../src/domain/traces/shares/shares.ts';
import type { TraceStore } from '../../../src/domain/traces/telemetry-port.ts';
import type { Span } from '../../../src/domain/traces/trace.ts';
import { summaryOf, totalsOf } from '../../../src/domain/traces/trace-totals.ts';
import { runsOf } from '../../support/scenario.ts';
import {
  bareSpan,
  PROJECT,
  RECEIVED_AT_MS,
  sampleAppend,
  sampleEvaluation,
  sampleRequest,
  sampleSpan,
} from './samples.ts';
import { type OpenSubject, withStore } from './subject.ts';
import { findStored, readAllEvaluations, readAllSpans } from './trace-reading.ts';

const { number } = PROJECT;
// Its end is not a valid date, which fails only when the transaction writes the event.
const UNSTORABLE = sampleSpan({ finishedAtMs: Number.MAX_SAFE_INTEGER });

export function appendConformance(open: OpenSubject): void {
  describe('appends', () => {
    it(
      'MUST store all of it or nothing, and a neighbour that cannot be stored costs nobody else anything',
      withStore(open, async ({ traces, events }) => {
        const good = Array.from({ length: 20 }, () => sampleAppend());
        const bad = sampleAppend({ spans: [UNSTORABLE], evaluations: [sampleEvaluation()] });
        const sent = [...good.slice(0, 10), bad, ...good.slice(10)];
        const settled = await Promise.allSettled(sent.map((append) => traces.append(append)));
        expect(settled.map(({ status }) => status)).toEqual(
          sent.map((append) => (append === bad ? 'rejected' : 'fulfilled')),
        );
        expect(await traces.find(number, bad.traceId)).toBeNull();
        for (const append of good) expect(await traces.find(number, append.traceId)).not.toBeNull();
        const log = await events.list({ ...EVERYTHING, limit: 100 });
        expect(log).toHaveLength(good.length);
      }),
    );

    it(
      'MUST replace a span that is sent again, completely',
      withStore(open, async ({ traces }) => {
        const first = sampleSpan();
        const second = bareSpan({ spanId: first.spanId, promptTokens: 1 });
        const append = sampleAppend({ spans: [first] });
        await traces.append(append);
        await traces.append({ ...append, spans: [second], requests: [], receivedAtMs: RECEIVED_AT_MS + 7 });
        const trace = await traces.find(number, append.traceId);
        const stored = await findStored(traces, append.traceId);
        expect(await traces.spans(stored, [first.spanId])).toEqual([second]);
        expect(trace).toMatchObject({
          ...totalsOf([summaryOf(second)]),
          insertedAtMs: RECEIVED_AT_MS,
          updatedAtMs: RECEIVED_AT_MS + 7,
        });
      }),
    );

    it(
      'MUST replace an evaluation that is sent again, except for when it was first seen',
      withStore(open, async ({ traces }) => {
        const first = sampleEvaluation();
        const second = sampleEvaluation({
          evaluationId: first.evaluationId,
          insertedAtMs: first.insertedAtMs + 1000,
          status: 'skipped',
          passed: null,
          score: null,
          label: null,
        });
        const append = sampleAppend({ spans: [], requests: [], evaluations: [first] });
        await traces.append(append);
        await traces.append({ ...append, evaluations: [second] });
        const trace = await findStored(traces, append.traceId);
        expect(await readAllEvaluations(traces, trace)).toEqual([{ ...second, insertedAtMs: first.insertedAtMs }]);
      }),
    );

    it(
      'inside one append the later of two equal ids wins',
      withStore(open, async ({ traces, events }) => {
        const early = sampleSpan({ name: 'early', promptTokens: 1 });
        const late = sampleSpan({ spanId: early.spanId, name: 'late', promptTokens: 2 });
        const other = sampleSpan({ promptTokens: 4 });
        const evaluation = sampleEvaluation();
        const append = sampleAppend({
          spans: [early, other, late],
          evaluations: [sampleEvaluation({ evaluationId: evaluation.evaluationId }), evaluation],
          requests: ['req_early', 'req_other', 'req_late'].map((gatewayRequestId, spanIndex) => ({
            spanIndex,
            gatewayRequestId,
            requestType: null,
            errorClass: null,
            httpStatus: null,
            rateVersion: null,
          })),
        });
        await traces.append(append);
        const trace = await traces.find(number, append.traceId);
        expect(trace).toMatchObject({ spanCount: 2, promptTokens: 6 });
        const stored = await findStored(traces, append.traceId);
        expect(await traces.spans(stored, [early.spanId])).toEqual([late]);
        expect(await readAllEvaluations(traces, stored)).toEqual([evaluation]);
        const log = await events.list({ ...EVERYTHING, limit: 10 });
        expect(log.map((event) => event.id).toSorted()).toEqual(['req_late:completed', 'req_other:completed']);
      }),
    );

    it(
      'MUST keep the anchor of a trace, whatever starts come later',
      withStore(open, async ({ traces }) => {
        const anchorOf = async ({ traceId }: { readonly traceId: string }) =>
          (await traces.find(number, traceId))?.anchorAtMs;
        const startedAtMs = RECEIVED_AT_MS - 1_000;
        const span = sampleSpan({ startedAtMs });
        const append = sampleAppend({ spans: [], requests: [] });
        await traces.append(append);
        expect(await anchorOf(append)).toBeNull();
        await traces.append({ ...append, spans: [span] });
        expect(await anchorOf(append)).toBe(startedAtMs);
        const earlier = [{ ...span, startedAtMs: startedAtMs - 500 }, sampleSpan({ startedAtMs: startedAtMs - 900 })];
        await traces.append({ ...append, spans: earlier });
        expect(await traces.find(number, append.traceId)).toMatchObject({ startedAtMs: startedAtMs - 900 });
        expect(await anchorOf(append)).toBe(startedAtMs);
      }),
    );

    it(
      'says what came of each request, when it is not that every one was emitted',
      withStore(open, async ({ traces }) => {
        const span = sampleSpan();
        const append = sampleAppend({ spans: [span], requests: [sampleRequest({ gatewayRequestId: 'gw-a' })] });
        expect(await traces.append(append)).toEqual({ metadataNotes: [] });
        const more = {
          ...append,
          spans: [sampleSpan({ spanId: 'twice' }), span, sampleSpan({ spanId: 'twice' }), sampleSpan()],
          requests: ['gw-b', 'gw-a', 'gw-c', 'gw-a'].map((gatewayRequestId, spanIndex) =>
            sampleRequest({ gatewayRequestId, spanIndex }),
          ),
        };
        const requestResults = [null, 'duplicate', 'emitted', 'duplicate'];
        expect(await traces.append(more)).toEqual({ metadataNotes: [], requestResults });
        const failed = sampleSpan({ errorJson: '{"message":"no","stacktrace":[]}' });
        const other = sampleAppend({ spans: [failed], requests: append.requests });
        expect((await traces.append(other)).requestResults).toEqual(['superseded']);
      }),
    );

    it(
      'MUST merge metadata per key, and says what a limit kept out',
      withStore(open, async ({ traces }) => {
        const append = sampleAppend({ spans: [], requests: [], metadataJson: '{"user_id":"a","labels":["x"],"n":1}' });
        await traces.append(append);
        const merged = await traces.append({ ...append, metadataJson: '{"labels":["y","x"],"n":2,"user_id":null}' });
        expect(merged).toEqual({ metadataNotes: [] });
        await traces.append({ ...append, metadataJson: null });
        const stored = (await traces.find(number, append.traceId))?.metadataJson ?? '';
        expect(JSON.parse(stored)).toEqual({ user_id: 'a', labels: ['x', 'y'], n: 2 });
        const tooLarge = JSON.stringify({ big: 'b'.repeat(262_144), small: true });
        const { metadataNotes } = await traces.append({ ...append, metadataJson: tooLarge });
        expect(metadataNotes).toHaveLength(1);
        const kept = JSON.parse((await traces.find(number, append.traceId))?.metadataJson ?? '');
        expect(kept).toEqual({ user_id: 'a', labels: ['x', 'y'], n: 2, small: true });
      }),
    );

    it(
      'keeps the expected output that was sent last',
      withStore(open, async ({ traces }) => {
        const append = sampleAppend({ spans: [], requests: [], metadataJson: null });
        const read = async () => {
          const { metadataJson, expectedOutput } = (await traces.find(number, append.traceId)) ?? {};
          return { metadataJson, expectedOutput };
        };
        for (const [sent, kept] of [
          [undefined, null],
          ['Paris', 'Paris'],
          [undefined, 'Paris'],
          [null, null],
        ] as const) {
          await traces.append({ ...append, expectedOutput: sent });
          expect(await read()).toEqual({ metadataJson: '{}', expectedOutput: kept });
        }
      }),
    );

    it(
      'MUST leave the totals equal to a recomputation from the stored spans',
      withStore(open, async ({ traces }) => {
        await fc.assert(
          fc.asyncProperty(
            fc.uuid(),
            fc.array(fc.array(spans, { maxLength: 5 }), { minLength: 1, maxLength: 5 }),
            async (traceId, batches) => {
              const model = new Map<string, Span>();
              await Promise.all(
                batches.map((batch) => traces.append(sampleAppend({ traceId, spans: batch, requests: [] }))),
              );
              for (const span of batches.flat()) model.set(span.spanId, span);
              await expectTotals(traces, traceId, [...model.values()]);
            },
          ),
          { numRuns: runsOf(60) },
        );
      }),
    );

    it(
      'stores spans whose costs add up to more than an integer column holds',
      withStore(open, async ({ traces }) => {
        const append = sampleAppend({ spans: Array.from({ length: 1100 }, () => sampleSpan()), requests: [] });
        await traces.append(append);
        await traces.append({ ...append, spans: [sampleSpan()] });
        const trace = await traces.find(number, append.traceId);
        expect(trace).toMatchObject({ spanCount: 1101 });
        expect(trace?.totalCostNanoUsd).toBeGreaterThan(9.2e18);
      }),
    );
  });
}

const EVERYTHING = {
  organization: { id: 'organization_1', number: 1 },
  fromMs: 0,
  toMs: Number.MAX_SAFE_INTEGER,
  type: null,
  after: null,
} as const;

// Few ids, so that spans replace each other often.
const count = fc.option(fc.integer({ min: 0, max: 1000 }));
const spans: fc.Arbitrary<Span> = fc
  .record({
    spanId: fc.constantFrom('a', 'b', 'c', '0123456789abcdef', 'd'),
    parentId: fc.option(fc.constantFrom('a', 'b', 'c', '0123456789abcdef', 'd')),
    callRow: fc.constantFrom(0, 0, 1),
    startedAtMs: fc.integer({ min: RECEIVED_AT_MS, max: RECEIVED_AT_MS + 1000 }),
    finishedAtMs: fc.integer({ min: RECEIVED_AT_MS, max: RECEIVED_AT_MS + 1000 }),
    firstTokenAtMs: fc.option(fc.integer({ min: RECEIVED_AT_MS, max: RECEIVED_AT_MS + 1000 })),
    promptTokens: count,
    completionTokens: count,
    reasoningTokens: count,
    cacheReadInputTokens: count,
    cacheCreationInputTokens: count,
    costNanoUsd: fc.option(fc.integer({ min: 0, max: 2 ** 40 })),
    tokensEstimated: fc.boolean(),
    errorJson: fc.option(fc.constant('{"has_error":true}')),
  })
  .map((changes) => bareSpan(changes));

async function expectTotals(traces: TraceStore, traceId: string, stored: readonly Span[]): Promise<void> {
  const trace = await traces.find(number, traceId);
  const read = await readAllSpans(traces, await findStored(traces, traceId));
  expect(trace).toMatchObject(totalsOf(withShares(read.map(summaryOf))));
  expect(trace).toMatchObject(totalsOf(withShares(stored.map(summaryOf))));
}
