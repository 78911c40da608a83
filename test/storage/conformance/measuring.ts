import { describe, expect, it } from 'vitest';
import type { Measurement } from '../../../src/domain/pricing/measuring.ts';
import type { Store } from '../../../src/domain/store.ts';
import { found } from './management-samples.ts';
import { bareSpan, PROJECT, sampleAppend, sampleSpan } from './samples.ts';
import { type OpenSubject, withStore } from './subject.ts';

const ROW = 281_474_976_710_655;

export function measuringConformance(open: OpenSubject): void {
  describe('measuring stored spans', () => {
    it(
      'finds traces by their sequence, with what prices depend on, and their unmeasured spans',
      withStore(open, async (store) => {
        const { organization } = await found(store);
        const spans = [sampleSpan({ callRow: null }), bareSpan({ callRow: 0 }), sampleSpan({ callRow: ROW })];
        const appends = [sampleAppend({ spans, requests: [] }), sampleAppend({ spans: [], requests: [] })];
        for (const append of appends) await store.traces.append(append);
        const [first, ...others] = await store.measuring.traces({ afterSequence: -1, limit: 9 });
        const trace = { projectNumber: PROJECT.number, organizationId: organization.id, priceVersion: 0 };
        expect(first).toEqual({ ...trace, traceId: appends[0]?.traceId, sequence: first?.sequence, spanCount: 3 });
        const after = await store.measuring.traces({ afterSequence: first?.sequence ?? 0, limit: 1 });
        expect(after).toEqual(others);
        expect(others).toMatchObject([{ traceId: appends[1]?.traceId, spanCount: 0 }]);
        const page = { projectNumber: PROJECT.number, sequences: [first?.sequence ?? 0], limit: 9 };
        expect(await store.measuring.spans(page)).toMatchObject([{ spanId: spans[0]?.spanId }]);
      }),
    );

    it(
      'MUST change only what shares need, and leave alone spans that are measured, or have a cost from elsewhere now',
      withStore(open, async (store) => {
        const unmeasured = sampleSpan({ callRow: null });
        const measured = sampleSpan({ callRow: 0 });
        const repriced = sampleSpan({ callRow: null, costSource: 'override' });
        const append = sampleAppend({ spans: [unmeasured, measured, repriced], requests: [] });
        await store.traces.append(append);
        const before = await store.traces.find(PROJECT.number, append.traceId);
        if (before === null) throw new Error('the trace is gone');
        const usage = { callRow: ROW, totalInput: 7, totalOutput: 8, shareRates: '[[1]]' };
        const spans = append.spans.map(({ spanId }): Measurement => ({ spanId, costSource: 'registry', ...usage }));
        expect(await measure(store, append.traceId, spans)).toEqual({ count: 1 });
        expect(await measure(store, append.traceId, spans)).toEqual({ count: 0 });
        expect(await measure(store, 'nowhere', spans)).toEqual({ count: 0 });
        const trace = { ...before, projectNumber: PROJECT.number };
        const ids = append.spans.map(({ spanId }) => spanId);
        const stored = new Map((await store.traces.spans(trace, ids)).map((span) => [span.spanId, span]));
        expect(ids.map((id) => stored.get(id))).toEqual([{ ...unmeasured, ...usage }, measured, repriced]);
        const { updatedAtMs, metadataJson } = (await store.traces.find(PROJECT.number, append.traceId)) ?? {};
        // Each commit has an instant of its own.
        expect({ updatedAtMs, metadataJson }).toEqual({
          updatedAtMs: before.updatedAtMs + 1,
          metadataJson: before.metadataJson,
        });
      }),
    );
  });
}

function measure(store: Store, traceId: string, spans: readonly Measurement[]) {
  return store.measuring.measure({ kind: 'measuring', projectNumber: PROJECT.number, traces: [{ traceId, spans }] });
}
