import { describe, expect, it } from 'vitest';
import type { PricedSpan, Repricing } from '../../../src/domain/pricing/repricing.ts';
import type { Store } from '../../../src/domain/store.ts';
import type { Span } from '../../../src/domain/traces/trace.ts';
import { SPANS_READ_THROUGH_MAX } from '../../../src/domain/traces/trace-aggregates.ts';
import { summaryOf, totalsOf } from '../../../src/domain/traces/trace-totals.ts';
import { found } from './management-samples.ts';
import { bareSpan, PROJECT, RECEIVED_AT_MS, sampleAppend, sampleSpan } from './samples.ts';
import { type OpenSubject, withStore } from './subject.ts';

const LATER_MS = RECEIVED_AT_MS + 60_000;
const EVERYTHING = { after: null, limit: 1_000_000 };

export function repricingConformance(open: OpenSubject): void {
  describe('repricing stored spans', () => {
    it(
      'finds projects with the version of their prices, and spans by their ids in pages',
      withStore(open, async (store) => {
        const { project, organization } = await found(store);
        const [first] = await store.repricing.projects();
        expect(first).toMatchObject({ id: project.id, organizationId: organization.id, priceVersion: 0 });
        const append = sampleAppend({ spans: [sampleSpan(), bareSpan({ spanId: 'B b' }), sampleSpan()], requests: [] });
        await store.traces.append(append);
        const stored = [...(await spansOf(store, append.traceId))].sort((one, other) =>
          one.spanId < other.spanId ? -1 : 1,
        );
        const read: PricedSpan[] = [];
        for (let afterId = ''; ; afterId = read.at(-1)?.spanId ?? '') {
          const page = await store.repricing.spans({ ...(await findTrace(store, append.traceId)), afterId, limit: 2 });
          if (page.length === 0) break;
          read.push(...page.map(({ span }) => span));
        }
        expect(read).toEqual(stored.map(toPriced));
      }),
    );

    it(
      'says which spans may name a service tier in their parameters',
      withStore(open, async (store) => {
        const params = [null, '{"temperature":0}', '{"service_tier":"flex"}'];
        const spans = params.map((paramsJson, index) => sampleSpan({ spanId: `span ${index}`, paramsJson }));
        const append = sampleAppend({ spans, requests: [] });
        await store.traces.append(append);
        const page = { ...(await findTrace(store, append.traceId)), afterId: '', limit: 9 };
        const listed = await store.repricing.spans(page);
        expect(listed.map(({ mayNameTier }) => mayNameTier)).toEqual([false, false, true]);
      }),
    );

    it.each([2, SPANS_READ_THROUGH_MAX + 2])(
      'MUST leave the totals equal to a recomputation from the stored spans, and change nothing else: %i spans',
      async (count) => {
        await withStore(open, async (store) => {
          const spans = Array.from({ length: count }, (_, index) =>
            sampleSpan({ costNanoUsd: 1000 + index, startedAtMs: RECEIVED_AT_MS - 2000 + (index % 100) }),
          );
          const append = sampleAppend({ spans, requests: [] });
          await store.traces.append(append);
          const before = await spansOf(store, append.traceId);
          const [one, other] = before;
          if (one === undefined || other === undefined) throw new Error('there are no spans');
          const prices = [
            { span: toPriced(one), costNanoUsd: 7, costSource: 'override', shareRates: null },
            { span: toPriced(other), costNanoUsd: null, costSource: 'unpriced', shareRates: null },
          ];
          expect(await reprice(store, append.traceId, prices)).toEqual({ count: 2 });
          const after = await spansOf(store, append.traceId);
          const wanted = before.map((span) => {
            if (span.spanId === one.spanId) return { ...span, costNanoUsd: 7, costSource: 'override' };
            return span.spanId === other.spanId ? { ...span, costNanoUsd: null, costSource: 'unpriced' } : span;
          });
          expect(after).toEqual(wanted);
          const record = await store.traces.find(PROJECT.number, append.traceId);
          expect(record).toMatchObject({ ...totalsOf(wanted.map(summaryOf)), updatedAtMs: LATER_MS });
          expect(record).toMatchObject({ metadataJson: append.metadataJson, insertedAtMs: RECEIVED_AT_MS });
        })();
      },
    );

    it(
      'MUST leave alone a span that is not as it was when its price was made, and traces that are gone',
      withStore(open, async (store) => {
        const span = sampleSpan();
        const append = sampleAppend({ spans: [span], requests: [] });
        await store.traces.append(append);
        const price = { span: toPriced(span), costNanoUsd: 7, costSource: 'override', shareRates: null };
        const again = { ...span, promptTokens: 1, costNanoUsd: 3 };
        await store.traces.append({ ...append, spans: [again] });
        expect(await reprice(store, append.traceId, [price])).toEqual({ count: 0 });
        expect(await spansOf(store, append.traceId)).toEqual([again]);
        expect((await store.traces.find(PROJECT.number, append.traceId))?.updatedAtMs).toBeLessThan(LATER_MS);
        expect(await reprice(store, 'nowhere', [price])).toEqual({ count: 0 });
      }),
    );

    it(
      'sees the other changes of its commit, in any order',
      withStore(open, async (store) => {
        const span = sampleSpan({ costNanoUsd: 5 });
        const append = sampleAppend({ spans: [span], requests: [] });
        await store.traces.append(append);
        const price = (known: Span, costNanoUsd: number) =>
          reprice(store, append.traceId, [
            { span: toPriced(known), costNanoUsd, costSource: 'override', shareRates: null },
          ]);
        const resent = { ...span, promptTokens: 9 };
        const outcomes = await Promise.all([
          price(span, 6),
          store.traces.append({ ...append, spans: [resent] }),
          price(resent, 8),
        ]);
        expect([outcomes[0], outcomes[2]]).toEqual([{ count: 1 }, { count: 1 }]);
        expect(await spansOf(store, append.traceId)).toEqual([{ ...resent, costNanoUsd: 8, costSource: 'override' }]);
        expect((await store.traces.find(PROJECT.number, append.traceId))?.totalCostNanoUsd).toBe(8);
      }),
    );
  });
}

function reprice(store: Store, traceId: string, prices: Repricing['traces'][number]['prices']) {
  const traces = [{ traceId, prices }];
  return store.repricing.reprice({ kind: 'repricing', projectNumber: PROJECT.number, nowMs: LATER_MS, traces });
}

async function findTrace({ traces }: Store, traceId: string) {
  const record = await traces.find(PROJECT.number, traceId);
  if (record === null) throw new Error('the trace is gone');
  return { ...record, projectNumber: PROJECT.number };
}

async function spansOf(store: Store, traceId: string): Promise<readonly Span[]> {
  const trace = await findTrace(store, traceId);
  const order = await store.traces.spanOrder(trace, EVERYTHING);
  return await store.traces.spans(
    trace,
    order.map(({ id }) => id),
  );
}

function toPriced(span: Span): PricedSpan {
  const { spanId, type, model, vendor, startedAtMs, promptTokens, completionTokens, reasoningTokens } = span;
  const { cacheReadInputTokens, cacheCreationInputTokens, cachedTokensInPrompt, costNanoUsd, costSource } = span;
  const { otherMetricsJson, callRow } = span;
  return {
    spanId,
    type,
    model,
    vendor,
    startedAtMs,
    promptTokens,
    completionTokens,
    reasoningTokens,
    cacheReadInputTokens,
    cacheCreationInputTokens,
    cachedTokensInPrompt,
    otherMetricsJson,
    costNanoUsd,
    costSource,
    callRow,
  };
}
