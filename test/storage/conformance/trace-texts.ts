import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/domain/store.ts';
import { TOTAL_MAX } from '../../../src/domain/traces/search/trace-search-store.ts';
import { bareSpan, ORGANIZATION, PROJECT, RECEIVED_AT_MS, sampleAppend, sampleSpan } from './samples.ts';
import { type OpenSubject, type Subject, withStore } from './subject.ts';

const EXPECTED_OUTPUT = `ä${'e'.repeat(50_000)}`;
const NOTE = `"${'n'.repeat(50_000)}"`;
const METADATA = `{"user_id":"u","note":${NOTE}}`;
const NAMED = { projectNumber: PROJECT.number, traceId: 'texts', expiredBeforeMs: null };
const NO_PARTS = { requests: [], evaluations: [] };

/** Makes rows as they were before large texts had rows of their own. */
const INLINE = Object.entries({ metadata: 'metadata_bytes', expected_output: 'expected_output_is_apart' }).flatMap(
  ([name, apart]) => {
    const ofTrace = `trace_sequence = (SELECT sequence FROM traces) AND name = '${name}'`;
    const text = `(SELECT text FROM trace_texts WHERE ${ofTrace})`;
    return [
      `UPDATE traces SET ${name} = ${text}, ${apart} = NULL WHERE ${apart} IS NOT NULL`,
      `DELETE FROM trace_texts WHERE name = '${name}'`,
    ];
  },
);

async function open(subject: Subject, isInline: boolean): Promise<void> {
  await subject.store.traces.append(
    sampleAppend({ traceId: 'texts', metadataJson: METADATA, expectedOutput: EXPECTED_OUTPUT }),
  );
  if (isInline) for (const sql of INLINE) await subject.execute(sql);
}

const readTexts = async ({ traces }: Store) => {
  const { metadataJson, expectedOutput } = (await traces.find(PROJECT.number, 'texts')) ?? {};
  return { metadataJson, expectedOutput };
};

async function searchUser({ search }: Store, user: string): Promise<readonly string[]> {
  const ever = { fromMs: Number.MIN_SAFE_INTEGER, toMs: Number.MAX_SAFE_INTEGER };
  const conditions = [{ name: 'metadata.user_id', of: '', values: [user] }] as const;
  const { traces } = await search.find({
    ...{ projectNumber: PROJECT.number, expiredBeforeMs: null, started: ever, updated: ever, traceIds: null },
    ...{ sort: 'started_at', isAscending: true, after: null, limit: 10, countMax: TOTAL_MAX },
    filter: { conditions, isNegated: false, text: '' },
  });
  return traces.map(({ traceId }) => traceId);
}

export function traceTextConformance(openSubject: OpenSubject): void {
  describe.each([
    ['that lie apart', false],
    ['that an earlier version stored with the trace', true],
  ])('large texts of traces, %s', (_, isInline) => {
    it(
      'are read, found and kept by appends that do not name them',
      withStore(openSubject, async (store, subject) => {
        await open(subject, isInline);
        expect(await readTexts(store)).toEqual({ metadataJson: METADATA, expectedOutput: EXPECTED_OUTPUT });
        expect(await searchUser(store, 'u')).toEqual(['texts']);
        const more = sampleAppend({ ...NO_PARTS, traceId: 'texts', metadataJson: null, spans: [bareSpan()] });
        await Promise.all([store.traces.append(more), store.traces.append({ ...more, spans: [bareSpan()] })]);
        expect(await readTexts(store)).toEqual({ metadataJson: METADATA, expectedOutput: EXPECTED_OUTPUT });
        expect(await store.traces.find(PROJECT.number, 'texts')).toMatchObject({ spanCount: 3 });
        // By now they lie apart.
        await subject.execute('UPDATE trace_texts SET text = \'{"user_id":"apart"}\'');
        expect(await readTexts(store)).toEqual({
          metadataJson: '{"user_id":"apart"}',
          expectedOutput: '{"user_id":"apart"}',
        });
        expect(await searchUser(store, 'apart')).toEqual(['texts']);
      }),
    );

    it(
      'are merged, patched and replaced, by large and by small ones',
      withStore(openSubject, async (store, subject) => {
        await open(subject, isInline);
        const grown = { ...NO_PARTS, traceId: 'texts', metadataJson: '{"user_id":"v"}', spans: [] };
        await store.traces.append(sampleAppend(grown));
        const metadataJson = `{"user_id":"v","note":${NOTE}}`;
        expect(await readTexts(store)).toEqual({ metadataJson, expectedOutput: EXPECTED_OUTPUT });
        await store.traces.append(sampleAppend({ ...grown, metadataJson: null, expectedOutput: 'short' }));
        expect(await readTexts(store)).toEqual({ metadataJson, expectedOutput: 'short' });
        const small = { metadataJson: '{"user_id":"v"}' };
        const patch = { setJson: '{}', removed: ['note'] };
        expect(await store.traceChanges.patchMetadata(NAMED, patch, RECEIVED_AT_MS)).toEqual(small);
        expect(await readTexts(store)).toEqual({ ...small, expectedOutput: 'short' });
        const large = { setJson: `{"note":${NOTE}}`, removed: [] };
        expect(await store.traceChanges.patchMetadata(NAMED, large, RECEIVED_AT_MS)).toEqual({ metadataJson });
        await store.traces.append(sampleAppend({ ...grown, metadataJson: null, expectedOutput: EXPECTED_OUTPUT }));
        expect(await readTexts(store)).toEqual({ metadataJson, expectedOutput: EXPECTED_OUTPUT });
      }),
    );

    it(
      'are gone with their trace',
      withStore(openSubject, async (store, subject) => {
        await open(subject, isInline);
        expect(await store.traceChanges.removeTrace(NAMED)).toBe(true);
        await store.traces.append(sampleAppend({ traceId: 'texts', metadataJson: '{}' }));
        expect(await readTexts(store)).toEqual({ metadataJson: '{}', expectedOutput: null });
        const expired = { expiredBeforeMs: RECEIVED_AT_MS + 10, receivedAtMs: RECEIVED_AT_MS + 20 };
        await store.traces.append(sampleAppend({ traceId: 'texts', metadataJson: METADATA }));
        await store.traces.append(sampleAppend({ ...expired, ...NO_PARTS, traceId: 'texts', metadataJson: null }));
        expect(await readTexts(store)).toEqual({ metadataJson: '{}', expectedOutput: null });
      }),
    );
  });

  it(
    'appends that load much are cut into several commits and all stored',
    withStore(openSubject, async (store) => {
      const traceIds = Array.from({ length: 60 }, (_, index) => `trace ${index}`);
      const append = (traceId: string, metadataJson: string) =>
        store.traces.append(sampleAppend({ ...NO_PARTS, traceId, metadataJson, spans: [] }));
      const large = `{"note":"${'n'.repeat(200_000)}"}`;
      await Promise.all(traceIds.map((traceId) => append(traceId, large)));
      await Promise.all(traceIds.map((traceId) => append(traceId, '{"user_id":"u"}')));
      for (const traceId of traceIds) {
        const { metadataJson = '' } = (await store.traces.find(PROJECT.number, traceId)) ?? {};
        expect(metadataJson).toBe(`${large.slice(0, -1)},"user_id":"u"}`);
      }
    }),
  );

  it.each([100, 100_000])(
    'a span keeps the request that parameters of %i bytes name, also when it is sent again without them',
    (length) =>
      withStore(openSubject, async (store) => {
        const paramsJson = `{"gateway_request_id":"named","text":"${'p'.repeat(length)}"}`;
        const span = sampleSpan({ spanId: 'call', parentId: null, paramsJson });
        const request = {
          ...{ spanIndex: 0, gatewayRequestId: 'named', requestType: null, errorClass: null },
          ...{ httpStatus: null, rateVersion: null },
        };
        const first = sampleAppend({ traceId: 'calls', spans: [span], requests: [request] });
        await store.traces.append(first);
        const again = { ...first, spans: [{ ...span, paramsJson: null, promptTokens: 101 }] };
        const other = { ...request, gatewayRequestId: 'calls:call' };
        await store.traces.append({ ...again, requests: [other] });
        const events = await store.events.list({
          ...{ organization: ORGANIZATION, fromMs: 0, toMs: Number.MAX_SAFE_INTEGER },
          ...{ type: null, after: null, limit: 100 },
        });
        const ids = events.map(({ envelope }) => JSON.parse(envelope).data.gateway_request_id);
        expect(new Set(ids)).toEqual(new Set(['named']));
      })(),
  );
}
