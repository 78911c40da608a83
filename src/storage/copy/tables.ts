/**
 * Every table of the target, and where its rows come from. Both follow from the descriptions of the tables; this file
 * adds the tables and forms that differ between the stores.
 */

import { BlobType, DoubleType, UnderscoreNamingStrategy } from '@mikro-orm/core';
import { monthOf, sequenceOf } from '../engine/postgres/months.ts';
import { unpackEnvelope } from '../engine/sqlite/compact-envelopes.ts';
import { idTextSql, REQUEST_KEY_TEXT } from '../engine/sqlite/compact-ids.ts';
import { REFERENCES, WITHOUT_ROWID } from '../entities/beyond-mapper.ts';
import { POSTGRES_TABLES, SQLITE_TABLES } from '../entities/entities.ts';
import { PackedId, PackedText } from '../entities/kinds.ts';
import { unpackCostSource } from '../rows/codes.ts';
import { EVALUATION_TEXTS, SPAN_TEXTS } from '../traces/text-columns.ts';

export type TableCopy = {
  /** The table of the target. */
  readonly name: string;
  readonly columns: readonly Column[];
  /** The table of the source with a row for each of the target. */
  readonly source: string;
  /** FROM clause with joined tables, without rows that are out of reach. */
  readonly from: string;
  /** The columns that identify rows of the source, in reading order. */
  readonly key: readonly string[];
};

export type Column = {
  readonly name: string;
  /** SQL of the source. */
  readonly expression: string;
  readonly holds: 'bytes' | 'reals' | 'others';
};

/** Functions that the SQL below calls. */
export const FUNCTIONS = {
  /** The sequence of a trace in the target. */
  sequence_of: sequenceOf,
  month_of: monthOf,
  cost_source_of: unpackCostSource,
  envelope_of: unpackEnvelope,
};

type Form = {
  readonly source?: string;
  readonly from: string;
  readonly expressions: { readonly [column: string]: string };
};

// A hidden trace stands under the negative number of its project until all its rows are removed.
const REACHABLE = 'traces.project_number > 0';

const EVENTS = ['completed_at', 'settled_at', 'correction_at'];

const REQUESTS: Form = {
  source: 'requests',
  from: 'requests',
  expressions: {
    request_key: REQUEST_KEY_TEXT,
    changed_at: `max(requests.received_at, ${EVENTS.map((column) => `ifnull(requests.${column}, 0)`).join(', ')})`,
  },
};

const FORMS: { readonly [table: string]: Form } = {
  traces: {
    from: `traces WHERE ${REACHABLE}`,
    expressions: { sequence: 'sequence_of(traces.inserted_at, traces.sequence)' },
  },
  spans: ofTraces('spans', SPAN_TEXTS),
  usage_nodes: ofTraces('usage_nodes'),
  trace_texts: ofTraces('trace_texts'),
  evaluations: ofTraces('evaluations', EVALUATION_TEXTS),
  evaluation_jobs: ofTraces('evaluation_jobs'),
  events: {
    from: `events JOIN envelopes
      ON envelopes.organization_number = events.organization_number AND envelopes.seq = events.seq`,
    expressions: { envelope: 'envelope_of(envelopes.envelope)' },
  },
  request_keys: REQUESTS,
  // Traces have other sequences in the target, so it indexes them again.
  search_pending: {
    source: 'traces',
    from: `traces WHERE ${REACHABLE}`,
    expressions: { trace_sequence: 'sequence_of(traces.inserted_at, traces.sequence)', mark: '1' },
  },
  requests: REQUESTS,
  // What a cursor names has another place in the target, so an unfinished backfill begins again.
  backfills: { from: 'backfills', expressions: { cursor: "''", leased_until: '0', fence: '0' } },
};

// Tables whose rows are internal, derived, or copied with the last numbers; see source.ts.
const LEFT_OUT: ReadonlySet<string> = new Set([
  // The gateway asks providers again.
  ...['cached_answers', 'cached_bytes'],
  'auth_generation',
  'schema_versions',
  // The index is made anew.
  'search_state',
  'indexed_durations',
  'indexed_model_durations',
  'indexed_traces',
  'indexed_texts',
  // SQLite keeps its texts.
  ...['removed_texts', 'text_moves', 'text_owner'],
  'webhook_changes',
  'write_probe',
]);

/** In the order of foreign keys, then by name: every process has the same order. */
export const TABLES: readonly TableCopy[] = POSTGRES_TABLES.filter(({ tableName }) => !LEFT_OUT.has(tableName))
  .map(describeCopy)
  .sort((one, other) => depthOf(one.name) - depthOf(other.name) || (one.name < other.name ? -1 : 1));

/** How many tables, one after the other, must have their rows before. */
function depthOf(table: string): number {
  return Math.max(0, ...REFERENCES.filter((each) => each.table === table).map(({ to }) => 1 + depthOf(to)));
}

type Description = (typeof POSTGRES_TABLES | typeof SQLITE_TABLES)[number];

function describeCopy(target: Description): TableCopy {
  const name = target.tableName;
  const { source = name, from, expressions } = FORMS[name] ?? { from: name, expressions: {} };
  const sourceTable = SQLITE_TABLES.find(({ tableName }) => tableName === source);
  if (sourceTable === undefined) throw new Error(`the table ${name} has no source`);
  const sourceColumns = columnsOf(sourceTable);
  const columns = columnsOf(target).map(({ column, type }) => {
    const sourceForm = sourceColumns.some((each) => each.column === column)
      ? inOwnForm(`${source}.${column}`, type)
      : null;
    const expression = expressions[column] ?? sourceForm;
    if (expression === null) throw new Error(`the column ${column} of ${name} has no source`);
    return { name: column, expression, holds: holdingOf(type) };
  });
  const keys = sourceColumns.filter(({ isPrimary }) => isPrimary).map(({ column }) => column);
  return { name, columns, source, from, key: WITHOUT_ROWID.some((each) => each === source) ? keys : ['rowid'] };
}

function columnsOf({ meta }: Description) {
  const naming = new UnderscoreNamingStrategy();
  return Object.entries(meta.properties).map(([property, { type, fieldName, primary }]) => ({
    column: fieldName ?? naming.propertyToColumnName(property),
    type: type as unknown,
    isPrimary: primary === true,
  }));
}

function inOwnForm(column: string, type: unknown): string {
  if (type === PackedId) return idTextSql(column);
  return type === PackedText ? `cost_source_of(${column})` : column;
}

function holdingOf(type: unknown): Column['holds'] {
  if (type === DoubleType) return 'reals';
  return type === BlobType ? 'bytes' : 'others';
}

/** Tables of rows that belong to traces. The source may keep `texts` apart; see engine/sqlite/large-texts.ts. */
function ofTraces(table: string, texts: { readonly [name: string]: string } = {}): Form {
  const whole = Object.values(texts).map((column) => {
    const qualified = `${table}.${column}`;
    const apart = `(SELECT text FROM large_texts WHERE number = cast(${qualified} AS integer))`;
    return [column, `CASE typeof(${qualified}) WHEN 'blob' THEN ${apart} ELSE ${qualified} END`] as const;
  });
  return {
    from: `${table} CROSS JOIN traces ON traces.sequence = ${table}.trace_sequence WHERE ${REACHABLE}`,
    expressions: {
      ...Object.fromEntries(whole),
      trace_sequence: `sequence_of(traces.inserted_at, ${table}.trace_sequence)`,
    },
  };
}
