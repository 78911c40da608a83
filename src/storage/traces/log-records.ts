/** Log records that are kept for their spans. */

import type { Keeping, KeptRecord, LogRecordStore, NamedSpan } from '../../domain/traces/logs/log-record-store.ts';
import { type QueryRunner, queryInBatches, type Transact, type Transaction } from '../transaction.ts';

/** What an engine writes. */
export type LogRecordWriter = {
  keepLogRecords: LogRecordStore['keep'];
  noteLogRecordsJoined: LogRecordStore['noteJoined'];
};

const DROPPED_AT_ONCE = 500;

export function createLogRecordWriter(transact: Transact): LogRecordWriter {
  return {
    keepLogRecords: ({ projectNumber, records, receivedAtMs, bytesMax }) =>
      transact(async (tx) => {
        const rows = records.map((record) => ({ ...record, projectNumber, receivedAtMs, isJoined: false }));
        // In the order of their keys: two transactions never wait for each other.
        tx.changeRows(tx.queries.logRecords.keepRecords, rows.toSorted(byKey));
        return { dropped: await dropOldest(tx, { projectNumber, bytesMax }) };
      }),
    noteLogRecordsJoined: (projectNumber, spans) =>
      transact(async ({ change, queries }) => {
        for (const { traceId, spanId } of spans.toSorted(bySpan)) {
          await change(queries.logRecords.noteJoined, { projectNumber, traceId, spanId });
        }
      }),
  };
}

export function createLogRecordStore(
  { queries: { logRecords: queries }, runQuery, idsPerQuery }: QueryRunner,
  writer: LogRecordWriter,
): LogRecordStore {
  return {
    keep: writer.keepLogRecords,
    noteJoined: writer.noteLogRecordsJoined,
    isEmpty: async (projectNumber) => (await runQuery(queries.listOldest, { projectNumber, limit: 1 })).length === 0,
    spansOf: (projectNumber, traceIds, sinceMs) =>
      queryInBatches(traceIds, idsPerQuery, (batch) =>
        runQuery(queries.listSpansWithRecords, { projectNumber, traceIds: batch, sinceMs }),
      ),
    listOf: (projectNumber, span, { sinceMs, limit }) =>
      runQuery(queries.listRecords, { projectNumber, ...span, sinceMs, limit }),
  };
}

function bySpan(one: NamedSpan, other: NamedSpan): number {
  const [a, b] = [`${one.traceId} ${one.spanId}`, `${other.traceId} ${other.spanId}`];
  return a < b ? -1 : a > b ? 1 : 0;
}

function byKey(one: KeptRecord, other: KeptRecord): number {
  const [a, b] = [keyOf(one), keyOf(other)];
  return a < b ? -1 : a > b ? 1 : 0;
}

function keyOf({ traceId, spanId, recordId }: KeptRecord): string {
  return `${traceId} ${spanId} ${recordId}`;
}

/** Returns how many of the dropped records no span has. */
async function dropOldest(
  { runQuery, changeRows, queries: { logRecords: queries } }: Transaction,
  { projectNumber, bytesMax }: Pick<Keeping, 'projectNumber' | 'bytesMax'>,
): Promise<number> {
  const [sum] = await runQuery(queries.sumBytes, { projectNumber });
  let excess = (sum?.bytes ?? 0) - bytesMax;
  let dropped = 0;
  while (excess > 0) {
    const oldest = await runQuery(queries.listOldest, { projectNumber, limit: DROPPED_AT_ONCE });
    if (oldest.length === 0) break;
    const dropping: (typeof oldest)[number][] = [];
    for (const record of oldest) {
      if (excess <= 0) break;
      excess -= record.bytes;
      if (!record.isJoined) dropped += 1;
      dropping.push(record);
    }
    changeRows(
      queries.dropRecords,
      dropping.map(({ traceId, spanId, recordId }) => ({ projectNumber, traceId, spanId, recordId })),
    );
  }
  return dropped;
}
