/** Writes the rows of a batch. */

import { AHEAD_MAX_MS } from '../../../domain/clock.ts';
import type { TraceKey } from '../../../domain/events/append-tables.ts';
import type { HourRow } from '../../analytics/hour-changes.ts';
import type { EventRow, RequestEntry, WrittenLog } from '../../append/batch-log.ts';
import { toChangedSpan } from '../../append/batch-spans.ts';
import { listIndexMarks, type Written } from '../../append/batch-tables.ts';
import type { RowsInsert } from '../../statements/statement.ts';
import { int4Array, type RowTypes } from './binary-arrays.ts';
import type { Statement } from './pool.ts';
import { openQueries, type PostgresQueries } from './statements.ts';
import type { PipelinedTransaction } from './transaction.ts';

/**
 * All batches write tables in this order and rows in the order of their keys: two batches may wait for each other, but
 * never deadlock. A new row whose key exists fails the whole batch.
 */
export function writeBatch(
  { post, changeRows }: PipelinedTransaction,
  { encode }: RowTypes,
  written: Written & { readonly hours: readonly HourRow[] },
): void {
  const { append: common, appendPostgres: own, analytics, searchIndex } = openQueries();
  const { addRows, writeLogs } = openTogether();
  const put = <Row>(insert: RowsInsert<Row>, rows: readonly Row[]): void => {
    if (rows.length > 0) post(insert, [encode(insert, rows)]);
  };
  for (const change of [
    common.removeJobsOfTraces,
    own.deleteEvaluations,
    own.deleteTexts,
    own.deleteUsageNodes,
    own.deleteSpans,
    own.deleteTraces,
  ])
    changeRows(change, written.erased.toSorted(compareTraces));
  const traces = partOf(inOrder(written.traces));
  const spans = partOf(inOrder(written.spans));
  const logs = [...written.logs.values()]
    .map((log) => log.written)
    .filter(({ requests, events }) => requests.size + events.length > 0)
    .sort((one, other) => one.head.organizationNumber - other.head.organizationNumber);
  const requests = logs.flatMap((log) => inOrder(log.requests));
  const changed = requests.filter(({ stored }) => stored !== null);
  put(common.replaceTraces, traces.changed);
  put(common.replaceSpans, spans.changed);
  changeRows(common.changeSpans, inOrder(written.changedSpans).map(toChangedSpan));
  const keys = requests.filter(({ stored }) => stored === null).map(toRow);
  if (traces.added.length + spans.added.length + keys.length > 0) {
    post(addRows, [
      encode(common.insertTraces, traces.added),
      encode(common.insertSpans, spans.added),
      encode(own.insertRequestKeys, keys),
    ]);
  }
  const texts = inOrder(written.texts);
  changeRows(
    common.removeTexts,
    texts.filter(({ text }) => text === null),
  );
  put(
    common.replaceTexts,
    texts.flatMap(({ text, ...key }) => (text === null ? [] : [{ ...key, text }])),
  );
  changeRows(searchIndex.markTraces, listIndexMarks(written));
  put(common.replaceUsageNodes, inOrder(written.usageNodes));
  put(common.replaceEvaluations, inOrder(written.evaluations));
  // No contention: each connection has rows of its own.
  changeRows(analytics.addHours, written.hours);
  const jobs = inOrder(written.jobs);
  put(
    common.storeJobs,
    jobs.flatMap(({ job }) => job ?? []),
  );
  changeRows(
    common.removeJobs,
    jobs.flatMap(({ job, key }) => (job === null ? [key] : [])),
  );
  changeRows(own.deleteRequests, changed.map(toStored));
  put(own.replaceRequestKeys, changed.map(toRow));
  if (logs.length === 0) return;
  post(writeLogs, [
    ...headValues(logs),
    encode(own.insertRequests, requests.map(toRow)),
    encode(own.insertGovernanceEvents, logs.flatMap(countBack(({ governance }) => [...governance.values()]))),
    encode(own.insertEvents, logs.flatMap(countBack(({ events }) => events))),
  ]);
}

function compareTraces(one: TraceKey, other: TraceKey): number {
  return one.projectNumber - other.projectNumber || one.sequence - other.sequence;
}

function toRow({ row }: RequestEntry): RequestEntry['row'] {
  return row;
}

function toStored({ stored }: RequestEntry) {
  // Only PostgreSQL has this column.
  return stored as NonNullable<typeof stored> & { readonly changedAtMs: number };
}

/** Numbers events relative to the end of the log, as negative numbers: the end is known only to the database. */
function countBack(eventsOf: (log: WrittenLog) => readonly EventRow[]) {
  return (log: WrittenLog): readonly EventRow[] =>
    eventsOf(log).map((event) => ({ ...event, seq: event.seq - log.head.seq }));
}

function inOrder<Row>(rows: ReadonlyMap<string, Row>): readonly Row[] {
  if (rows.size < 2) return [...rows.values()];
  return [...rows].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
}

function partOf<Row>(entries: readonly { readonly row: Row; readonly isNew: boolean }[]) {
  return {
    added: entries.filter(({ isNew }) => isNew).map(({ row }) => row),
    changed: entries.filter(({ isNew }) => !isNew).map(({ row }) => row),
  };
}

function headValues(logs: readonly WrittenLog[]): readonly unknown[] {
  return [
    int4Array(logs, ({ head }) => head.organizationNumber),
    int4Array(logs, ({ head }) => head.seq),
    int4Array(logs, ({ knownKeyIndex }) => knownKeyIndex),
    int4Array(logs, ({ head }) => head.lastKeyIndex),
  ];
}

/** Inserts all new rows in one statement: most batches have nothing else. */
function composeAddRows({ append: common, appendPostgres: own }: PostgresQueries): Statement {
  return {
    name: 'add-rows',
    text: `WITH added_traces AS (${textWith(common.insertTraces, 1)}), added_spans AS (${textWith(common.insertSpans, 2)})
    ${textWith(own.insertRequestKeys, 3)}`,
  };
}

// The clock is read after the wait for the lock, and the instants follow the rule of `nextCreation`. Where another process has
// used more request keys than the batch knew of, the column becomes null, which its constraint refuses.
function composeWriteLogs({ appendPostgres: own }: PostgresQueries): Statement {
  return {
    name: 'write-logs',
    text: `WITH taken AS (
      SELECT * FROM unnest($1::int[], $2::int[], $3::int[], $4::int[])
        AS taken (organization_number, events, known_key_index, last_key_index)
    ), head AS (
      INSERT INTO log_heads AS stored (organization_number, seq, created_at, last_key_index)
      SELECT organization_number, events, clock_ms(), last_key_index FROM taken
      ON CONFLICT (organization_number) DO UPDATE SET
        seq = stored.seq + excluded.seq,
        (created_at, resets) = (
          SELECT
            CASE WHEN stored.created_at > now_ms + ${AHEAD_MAX_MS} THEN now_ms ELSE greatest(stored.created_at, now_ms) END,
            stored.resets + (stored.created_at > now_ms + ${AHEAD_MAX_MS})::integer
          FROM clock_ms() AS now_ms
        ),
        last_key_index = (
          SELECT CASE WHEN stored.last_key_index <= known_key_index THEN taken.last_key_index END FROM taken
          WHERE taken.organization_number = excluded.organization_number
        )
      RETURNING organization_number, seq, created_at,
        to_char(to_timestamp(created_at / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS created
    ), added_requests AS (${textWith(own.insertRequests, 5)}),
    added_governance AS (${textWith(own.insertGovernanceEvents, 6)})
    ${textWith(own.insertEvents, 7)}`,
  };
}

type Together = { readonly addRows: Statement; readonly writeLogs: Statement };

let together: Together | undefined;

/** Statements that are made of several inserts. */
function openTogether(): Together {
  const queries = openQueries();
  together ??= { addRows: composeAddRows(queries), writeLogs: composeWriteLogs(queries) };
  return together;
}

/** The text of a statement as a part of another one, with its parameter at `number`. */
function textWith({ text }: Statement, number: number): string {
  return text.replace('$1', `$${number}`);
}
