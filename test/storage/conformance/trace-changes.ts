import { describe, expect, it } from 'vitest';
import { PROJECT, RECEIVED_AT_MS, randomHex, sampleAppend, sampleEvaluation, sampleSpan } from './samples.ts';
import { type OpenSubject, withStore } from './subject.ts';
import { findStored, readAllEvaluations, readAllSpans } from './trace-reading.ts';

const NO_TERM = { projectNumber: PROJECT.number, expiredBeforeMs: null };

export function traceChangeConformance(open: OpenSubject): void {
  describe('changes of stored traces', () => {
    it.each([1, 400])(
      'MUST remove a trace of %i spans as a whole, and what is appended later MUST make a new trace',
      (count) =>
        withStore(open, async (store) => {
          const traceId = randomHex(32);
          const spans = Array.from({ length: count }, () => sampleSpan());
          await store.traces.append(sampleAppend({ traceId, spans, evaluations: [sampleEvaluation()] }));
          await store.traces.append(sampleAppend({ traceId: 'neighbour' }));
          const old = await findStored(store.traces, traceId);
          expect(await store.traceChanges.removeTrace({ ...NO_TERM, traceId })).toBe(true);
          expect(await store.traces.find(PROJECT.number, traceId)).toBeNull();
          expect(await store.traceChanges.removeTrace({ ...NO_TERM, traceId })).toBe(false);
          const span = sampleSpan();
          await store.traces.append(sampleAppend({ traceId, spans: [span], metadataJson: '{"new":1}' }));
          const stored = await findStored(store.traces, traceId);
          expect(stored).toMatchObject({ spanCount: 1, metadataJson: '{"new":1}' });
          expect(stored.sequence).not.toBe(old.sequence);
          expect(await readAllSpans(store.traces, stored)).toEqual([span]);
          expect(await readAllEvaluations(store.traces, stored)).toEqual([]);
          expect(await store.traces.find(PROJECT.number, 'neighbour')).toMatchObject({ spanCount: 1 });
        })(),
    );

    it(
      'MUST leave alone all but the metadata and the time of the last change',
      withStore(open, async (store) => {
        const append = sampleAppend({ metadataJson: '{"a":1,"b":"x"}' });
        const { traceId } = append;
        await store.traces.append(append);
        const before = await store.traces.find(PROJECT.number, traceId);
        const patch = { setJson: '{"c":12345678901234567890}', removed: ['a'] };
        const nowMs = RECEIVED_AT_MS + 5;
        const metadataJson = '{"b":"x","c":12345678901234567890}';
        expect(await store.traceChanges.patchMetadata({ ...NO_TERM, traceId }, patch, nowMs)).toEqual({ metadataJson });
        const after = await store.traces.find(PROJECT.number, traceId);
        expect(after).toEqual({ ...before, metadataJson, updatedAtMs: nowMs });
      }),
    );

    it(
      'MUST change nothing where the metadata would become too large, and nothing that is unknown or past its term',
      withStore(open, async (store) => {
        const append = sampleAppend();
        const { traceId } = append;
        await store.traces.append(append);
        const before = await store.traces.find(PROJECT.number, traceId);
        const trace = { ...NO_TERM, traceId };
        const large = { setJson: JSON.stringify({ large: 'x'.repeat(262_144) }), removed: [] };
        expect(await store.traceChanges.patchMetadata(trace, large, RECEIVED_AT_MS)).toBe('too_large');
        const past = { ...trace, expiredBeforeMs: RECEIVED_AT_MS + 1 };
        const patch = { setJson: '{"a":1}', removed: [] };
        expect(await store.traceChanges.patchMetadata(past, patch, RECEIVED_AT_MS)).toBeNull();
        expect(await store.traceChanges.removeTrace(past)).toBe(false);
        const foreign = { ...trace, projectNumber: PROJECT.number + 1 };
        expect(await store.traceChanges.patchMetadata(foreign, patch, RECEIVED_AT_MS)).toBeNull();
        expect(await store.traceChanges.removeTrace(foreign)).toBe(false);
        expect(await store.traces.find(PROJECT.number, traceId)).toEqual(before);
      }),
    );
  });
}
