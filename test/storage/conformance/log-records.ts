import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/domain/store.ts';
import type { KeptRecord } from '../../../src/domain/traces/logs/log-record-store.ts';
import { finish, NO_TELEMETRY_CUTS } from './retention-walk.ts';
import { PROJECT, RECEIVED_AT_MS, randomHex, sampleAppend, sampleSpan } from './samples.ts';
import { type OpenSubject, withStore } from './subject.ts';
import { findStored } from './trace-reading.ts';

const ROOMY = 1_000_000;

function recordOf(changes: Partial<KeptRecord> = {}): KeptRecord {
  const eventJson = '{"name":"gen_ai.user.message","time_unix_nano":"1","attributes":{"content":"\u00fc"}}';
  return { traceId: randomHex(32), spanId: randomHex(16), recordId: randomHex(32), bytes: 100, eventJson, ...changes };
}

function keep({ logRecords }: Store, records: readonly KeptRecord[], { atMs = RECEIVED_AT_MS, bytesMax = ROOMY } = {}) {
  return logRecords.keep({ projectNumber: PROJECT.number, records, receivedAtMs: atMs, bytesMax });
}

/** The ids of the records of a span. */
async function idsOf({ logRecords }: Store, span: KeptRecord, sinceMs = 0, projectNumber: number = PROJECT.number) {
  const listed = await logRecords.listOf(projectNumber, span, { sinceMs, limit: 100 });
  return listed.map(({ recordId }) => recordId);
}

export function logRecordConformance(open: OpenSubject): void {
  describe('log records', () => {
    it(
      'MUST be kept once however often they are sent, and be seen by every call after that, each for its span',
      withStore(open, async (store) => {
        const [first, other, elsewhere] = [recordOf(), recordOf(), recordOf()];
        const second = recordOf({ ...other, traceId: first.traceId, spanId: first.spanId });
        await keep(store, [first, first, second]);
        await Promise.all([keep(store, [first, elsewhere], { atMs: RECEIVED_AT_MS + 1 }), keep(store, [second])]);
        expect((await idsOf(store, first)).toSorted()).toEqual([first.recordId, second.recordId].toSorted());
        const [listed] = await store.logRecords.listOf(PROJECT.number, elsewhere, { sinceMs: 0, limit: 1 });
        expect(listed).toEqual({ recordId: elsewhere.recordId, isJoined: false, eventJson: elsewhere.eventJson });
        expect(await idsOf(store, first, 0, PROJECT.number + 1)).toEqual([]);
        const traceIds = [first.traceId, elsewhere.traceId, randomHex(32)];
        const named = await store.logRecords.spansOf(PROJECT.number, traceIds, 0);
        const expected = [first, elsewhere].map(({ traceId, spanId }) => ({ traceId, spanId }));
        expect(named.toSorted(byTrace)).toEqual(expected.toSorted(byTrace));
        expect(await store.logRecords.spansOf(PROJECT.number, traceIds, RECEIVED_AT_MS + 1)).toHaveLength(1);
        expect(await idsOf(store, first, RECEIVED_AT_MS + 1)).toEqual([]);
      }),
    );

    it(
      'MUST drop the oldest of the project beyond its room, and count those that no span had',
      withStore(open, async (store) => {
        const records = Array.from({ length: 10 }, () => recordOf());
        for (const [index, record] of records.entries()) await keep(store, [record], { atMs: RECEIVED_AT_MS + index });
        await store.logRecords.noteJoined(PROJECT.number, [records[1] as KeptRecord]);
        const others = { projectNumber: PROJECT.number + 1, receivedAtMs: 0, bytesMax: ROOMY };
        const foreign = recordOf();
        await store.logRecords.keep({ ...others, records: [foreign] });
        const late = { atMs: RECEIVED_AT_MS + 100, bytesMax: 800 };
        expect(await keep(store, [recordOf({ bytes: 50 })], late)).toEqual({ dropped: 2 });
        const left = await Promise.all(records.map((record) => idsOf(store, record)));
        expect(left.map(({ length }) => length)).toEqual([0, 0, 0, 1, 1, 1, 1, 1, 1, 1]);
        expect(await idsOf(store, foreign, 0, PROJECT.number + 1)).toHaveLength(1);
        // One that has no room itself is dropped, too.
        const later = { ...late, atMs: late.atMs + 1 };
        expect(await keep(store, [recordOf({ bytes: 900 })], later)).toMatchObject({ dropped: 9 });
      }),
    );

    it(
      'are removed by retention when they are old, and with their trace',
      withStore(open, async (store) => {
        const [old, joined, young] = [recordOf(), recordOf(), recordOf()];
        await keep(store, [old, joined]);
        await keep(store, [young], { atMs: RECEIVED_AT_MS + 1 });
        await store.logRecords.noteJoined(PROJECT.number, [joined]);
        const cuts = { ...NO_TELEMETRY_CUTS, logRecordsBeforeMs: RECEIVED_AT_MS + 1 };
        expect(await finish(store.telemetryRetention.begin(cuts), 10)).toMatchObject({ logRecords: 1 });
        expect([await idsOf(store, old), await idsOf(store, joined)]).toEqual([[], []]);
        expect(await idsOf(store, young)).toHaveLength(1);
        const { traceId } = young;
        await store.traces.append(sampleAppend({ traceId }));
        await store.traceChanges.removeTrace({ projectNumber: PROJECT.number, expiredBeforeMs: null, traceId });
        expect(await idsOf(store, young)).toEqual([]);
      }),
    );
  });

  describe('an append made of a span', () => {
    it(
      'MUST store nothing, and say so, where that has changed since it was read',
      withStore(open, async (store) => {
        const [traceId, span] = [randomHex(32), sampleSpan()];
        await store.traces.append(sampleAppend({ traceId, spans: [span] }));
        const trace = await findStored(store.traces, traceId);
        const read = async () => {
          const found = await store.traces.versionedSpan(trace, span.spanId);
          return { spanId: span.spanId, sequence: trace.sequence, version: found?.version ?? -1 };
        };
        const madeOf = await read();
        const named = (name: string) => ({ traceId, spans: [{ ...span, name }] });
        const made = sampleAppend({ ...named('made'), madeOf });
        expect(await store.traces.append(made)).toEqual({ metadataNotes: [] });
        expect(await store.traces.append(made)).toMatchObject({ isOutdated: true });
        await store.traces.append(sampleAppend(named('sent')));
        expect((await store.traces.versionedSpan(trace, span.spanId))?.span.name).toBe('sent');
        const both = await read();
        const [again, twice] = await Promise.all([
          store.traces.append(sampleAppend({ ...named('made'), madeOf: both })),
          store.traces.append(sampleAppend({ ...named('made twice'), madeOf: both })),
        ]);
        expect([again, twice].filter(({ isOutdated }) => isOutdated === true)).toHaveLength(1);
        const last = await read();
        await store.traceChanges.removeTrace({ projectNumber: PROJECT.number, expiredBeforeMs: null, traceId });
        expect(await store.traces.append(sampleAppend({ ...named('made'), madeOf: last }))).toMatchObject({
          isOutdated: true,
        });
        expect(await store.traces.find(PROJECT.number, traceId)).toBeNull();
        expect(await store.traces.versionedSpan(trace, span.spanId)).toBeNull();
      }),
    );
  });
}

function byTrace(one: { readonly traceId: string }, other: { readonly traceId: string }): number {
  return one.traceId < other.traceId ? -1 : 1;
}
