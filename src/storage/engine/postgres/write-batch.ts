/** Writes the rows of a batch. */

import { AHEAD_MAX_MS } from '../../../domain/clock.ts';
import type { TraceKey } from '../../../domain/events/append-tables.ts';
import type { Applied } from '../../append/apply.ts';
import type { EventRow, RequestEntry, WrittenLog, WrittenOrganization } from '../../append/batch-log.ts';
import { toChangedSpan } from '../../append/batch-spans.ts';
import { listIndexMarks } from '../../append/batch-telemetry.ts';
import type { RowsInsert } from '../../statements/statement.ts';
import { int4Array, type RowTypes } from './binary-arrays.ts';
import type { Statement } from './pool.ts';
import { openQueries, type PostgresQueries } from './statements.ts';
import type { PipelinedTransaction } from './transaction.ts';

/**
 * All batches write tables in this order, telemetry before the log, and rows in the order of their keys: two batches may
 * wait for each other, but never deadlock. A new row whose key exists fails the whole batch.
 */
export function writeTelemetry(
  { post, changeRows }: PipelinedTransaction,
  rowTypes: RowTypes,
  written: Applied['telemetry'],
): void {
  const { append: common, appendPostgres: own, analytics, searchIndex } = openQueries();
  const put = putWith(post, rowTypes);
  for (const remove of [
    own.deleteEvaluations,
    own.deleteTexts,
    own.deleteUsageNodes,
    own.deleteSpans,
    own.deleteTraces,
    common.removeFeedbackOf,
    common.removeAnnotationsOf,
    common.removeQueueItemsOf,
    common.removeFiringsOf,
  ])
    changeRows(remove, written.erased.toSorted(compareTraces));
  const traces = partOf(inOrder(written.traces));
  const spans = partOf(inOrder(written.spans));
  put(common.replaceTraces, traces.changed);
  put(common.replaceSpans, spans.changed);
  changeRows(common.changeSpans, inOrder(written.changedSpans).map(toChangedSpan));
  put(common.insertTraces, traces.added);
  put(common.insertSpans, spans.added);
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
}

export function writeLog({ post, changeRows }: PipelinedTransaction, rowTypes: RowTypes, written: WrittenLog): void {
  const { append: common, appendPostgres: own } = openQueries();
  const put = putWith(post, rowTypes);
  changeRows(common.removeJobsOfTraces, written.erased.toSorted(compareTraces));
  const logs = [...written.organizations.values()]
    .map((organization) => organization.written)
    .filter(({ requests, events }) => requests.size + events.length > 0)
    .sort((one, other) => one.head.organizationNumber - other.head.organizationNumber);
  const requests = logs.flatMap((log) => inOrder(log.requests));
  const [added, changed] = [
    requests.filter(({ stored }) => stored === null),
    requests.filter(({ stored }) => stored !== null),
  ];
  put(own.insertRequestKeys, added.map(toRow));
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
  changeRows(common.changeLeases, inOrder(written.leases));
  changeRows(
    common.addToBuckets,
    logs.flatMap(({ buckets }) => buckets()),
  );
  if (logs.length === 0) return;
  post(openWriteLogs(), [
    ...headValues(logs),
    rowTypes.encode(own.insertRequests, requests.map(toRow)),
    rowTypes.encode(own.insertGovernanceEvents, logs.flatMap(countBack(({ governance }) => [...governance.values()]))),
    rowTypes.encode(own.insertEvents, logs.flatMap(countBack(({ events }) => events))),
  ]);
}

function putWith(post: PipelinedTransaction['post'], { encode }: RowTypes) {
  return <Row>(insert: RowsInsert<Row>, rows: readonly Row[]): void => {
    if (rows.length > 0) post(insert, [encode(insert, rows)]);
  };
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
function countBack(eventsOf: (log: WrittenOrganization) => readonly EventRow[]) {
  return (log: WrittenOrganization): readonly EventRow[] =>
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

function headValues(logs: readonly WrittenOrganization[]): readonly unknown[] {
  return [
    int4Array(logs, ({ head }) => head.organizationNumber),
    int4Array(logs, ({ head }) => head.seq),
    int4Array(logs, ({ knownKeyIndex }) => knownKeyIndex),
    int4Array(logs, ({ head }) => head.lastKeyIndex),
  ];
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

let writeLogs: Statement | undefined;

/** One statement that is made of several inserts. */
function openWriteLogs(): Statement {
  writeLogs ??= composeWriteLogs(openQueries());
  return writeLogs;
}

/** The text of a statement as a part of another one, with its parameter at `number`. */
function textWith({ text }: Statement, number: number): string {
  return text.replace('$1', `$${number}`);
}
