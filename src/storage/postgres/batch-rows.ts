/** What a working set wrote, as the parameters of the function append_batch. */

import { eventTypes, requestSources, requestStatuses } from '../rows/codes.ts';
import { type Cell, type ColumnType, encodeRows } from './binary-rows.ts';
import type { Statement } from './connection.ts';
import { evaluationRow } from './evaluation-rows.ts';
import { spanRow, traceRow } from './trace-rows.ts';
import type { EventEntry, GovernanceEntry, HeadEntry, RequestEntry } from './working-log.ts';
import type { SpanEntry, TraceEntry, Written } from './working-set.ts';

const APPEND: Statement = {
  name: 'append-batch',
  text: 'SELECT append_batch($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)',
};
/** For what traces do not have. */
const APPEND_REPORTS: Statement = {
  name: 'append-reports',
  text: 'SELECT append_reports($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)',
};

const COLUMNS = {
  trace_row: [
    'int4',
    'text',
    ...repeat('int8', 3),
    'int4',
    ...repeat('int8', 9),
    'int4',
    'bool',
    'bool',
    'text',
    'text',
  ],
  span_row: [
    'int4',
    'int8',
    'text',
    'text',
    'int4',
    ...repeat('int8', 9),
    'text',
    'bool',
    'bool',
    ...repeat('text', 10),
  ],
  evaluation_row: [
    'int4',
    'int8',
    'text',
    'int8',
    ...repeat('text', 5),
    'bool',
    'text',
    'bool',
    'float8',
    'text',
    'text',
    'int8',
    'int8',
    ...repeat('text', 4),
  ],
  request_row: ['int4', 'text', 'int8', 'int4', 'text', 'int4', 'int4', ...repeat('int8', 5)],
  event_row: ['int4', 'int4', 'text', 'int4', 'text'],
  head_row: repeat('int4', 4),
  admission_row: ['int4', 'text', 'text'],
  governance_row: ['int4', 'text', 'int4'],
} as const satisfies Record<string, readonly ColumnType[]>;

type RowType = keyof typeof COLUMNS;
/** The numbers by which this database knows the types of rows. */
export type RowOids = Readonly<Record<RowType, number>>;

export const ROW_OIDS: Statement = {
  name: 'row-oids',
  text: `SELECT ${Object.keys(COLUMNS)
    .map((name) => `'${name}'::regtype::oid::integer AS ${name}`)
    .join(', ')}`,
};

/** The call that stores it all. */
export function batchQuery(oids: RowOids, written: Written): Statement & { readonly values: Buffer[] } {
  // They are held already, so their order is of no matter.
  const admissions = [...written.requests.values()].filter(({ row }) => row.admission !== null).map(toAdmissionRow);
  if (admissions.length + written.governance.size === 0) return { ...APPEND, values: batchValues(oids, written) };
  const governance = [...written.governance.values()].map((entry) => toGovernanceRow(entry, written));
  const encode = (type: RowType, rows: readonly (readonly Cell[])[]) => encodeRows(oids[type], COLUMNS[type], rows);
  const values = [encode('admission_row', admissions), encode('governance_row', governance)];
  return { ...APPEND_REPORTS, values: [...batchValues(oids, written), ...values] };
}

/** In the order of the function's parameters; the rows of each in the order of their keys. */
function batchValues(oids: RowOids, written: Written): Buffer[] {
  const encode = (type: RowType, rows: readonly (readonly Cell[])[]) => encodeRows(oids[type], COLUMNS[type], rows);
  const traces = inOrder(written.traces);
  const spans = inOrder(written.spans);
  const requests = inOrder(written.requests);
  const toErased = ({ projectNumber, traceId, sequence }: TraceEntry['place']): Cell[] => [
    projectNumber,
    traceId,
    sequence,
  ];
  return [
    encode('trace_row', traces.filter((entry) => entry.isNew).map(toTraceRow)),
    encode('trace_row', traces.filter((entry) => !entry.isNew).map(toTraceRow)),
    encode('span_row', spans.filter((entry) => entry.isNew).map(toSpanRow)),
    encode('span_row', spans.filter((entry) => !entry.isNew).map(toSpanRow)),
    encode(
      'evaluation_row',
      inOrder(written.evaluations).map(({ place, evaluation }) =>
        evaluationRow(place.projectNumber, place.sequence, evaluation),
      ),
    ),
    encode('request_row', requests.filter((entry) => entry.isNew).map(toRequestRow)),
    encode('request_row', requests.filter((entry) => !entry.isNew).map(toRequestRow)),
    encode('event_row', written.events.map(toEventRow)),
    encode(
      'head_row',
      [...written.heads.values()]
        .filter((head) => head.isTaken)
        .sort((a, b) => a.organizationNumber - b.organizationNumber)
        .map(toHeadRow),
    ),
    encode('trace_row', written.erased.map(toErased)),
  ];
}

/** Two batches that take the same rows in the same order wait for each other, but never both at once. */
function inOrder<T>(entries: ReadonlyMap<string, T>): readonly T[] {
  if (entries.size < 2) return [...entries.values()];
  return [...entries].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
}

function toTraceRow({ place, record }: TraceEntry): readonly Cell[] {
  return traceRow({ ...place, insertedAtMs: record.insertedAtMs }, { ...record, totals: record });
}

function toSpanRow({ place, span, emittedRequestId }: SpanEntry): readonly Cell[] {
  return spanRow(place.projectNumber, place.sequence, span, emittedRequestId);
}

function toRequestRow({ organizationNumber, key, row, keptAtMs }: RequestEntry): readonly Cell[] {
  const { state } = row;
  return [
    organizationNumber,
    key,
    keptAtMs,
    row.projectNumber,
    row.gatewayRequestId,
    requestStatuses.code(state.status),
    'source' in state ? requestSources.code(state.source) : null,
    row.receivedAtMs,
    row.completedAtMs,
    row.settledAtMs,
    row.correctionAtMs,
    row.costNanoUsd,
  ];
}

function toEventRow({ organizationNumber, place, id, type, envelopeTemplate }: EventEntry): readonly Cell[] {
  return [organizationNumber, place, id, eventTypes.code(type), envelopeTemplate];
}

function toAdmissionRow({ organizationNumber, key, row }: RequestEntry): readonly Cell[] {
  return [organizationNumber, key, row.admission];
}

function toGovernanceRow({ organizationNumber, id, place }: GovernanceEntry, { heads }: Written): readonly Cell[] {
  const head = heads.get(organizationNumber);
  if (head === undefined) throw new Error('an event is stored without the head of its log');
  return [organizationNumber, id, head.events - place];
}

function toHeadRow({ organizationNumber, events, knownKeyIndex, lastKeyIndex }: HeadEntry): readonly Cell[] {
  return [organizationNumber, events, knownKeyIndex, lastKeyIndex];
}

function repeat(type: ColumnType, times: number): readonly ColumnType[] {
  return Array.from({ length: times }, () => type);
}
