/** Every table of the target: where its rows come from, and what in them is kept in another form. */

import { idTextSql, REQUEST_KEY_TEXT } from '../sqlite/compact-ids.ts';

export type TableCopy = {
  /** Of the target. */
  readonly name: string;
  /** The table of the source that has a row for each of the target. */
  readonly source: string;
  /** What else a row is made of. The order of the tables is kept, so that rows come in the order of the key. */
  readonly joins: string;
  /** What the source calls otherwise or keeps in another form; all other columns are called the same. */
  readonly expressions: { readonly [column: string]: string };
  /** What tells the rows of the source apart, in the order in which they are read. */
  readonly key: readonly string[];
  /** Rows that nobody can reach any more, and that only wait to be removed. */
  readonly leftOut: { readonly condition: string; readonly countSql: string } | null;
};

/** What the SQL below may call; see source.ts. */
export type SourceFunctions = {
  /** Where the target keeps a trace. */
  sequence_of(insertedAtMs: number, sequence: number): number;
  month_of(instantMs: number): number;
  /** When the event was created that an envelope holds; null for none. */
  created_at_of(envelope: string | null): number | null;
  event_id_of(envelope: string): string;
  /** As a code. */
  event_type_of(envelope: string): number;
  cost_source_of(stored: string | number | null): string | null;
};

// A trace that is being removed bit by bit stands under the negative number of its project until nothing is left.
const REMOVED = 'traces.project_number < 0';

const EVENTS = ['completed', 'settled', 'correction'] as const;
const createdAt = (event: (typeof EVENTS)[number]) => `created_at_of(${event}.envelope)`;

const REQUESTS = {
  source: 'requests',
  joins: EVENTS.map(
    (event) => `LEFT JOIN events AS ${event}
      ON ${event}.organization_number = requests.organization_number AND ${event}.seq = requests.${event}_seq`,
  ).join(' '),
  expressions: {
    request_key: REQUEST_KEY_TEXT,
    completed_at: createdAt('completed'),
    settled_at: createdAt('settled'),
    correction_at: createdAt('correction'),
    earlier_corrections: `(SELECT group_concat(created_at) FROM (
      SELECT CAST(created_at_of(earlier.envelope) AS INTEGER) AS created_at
      FROM json_each(requests.earlier_corrections) AS place JOIN events AS earlier
        ON earlier.organization_number = requests.organization_number AND earlier.seq = place.value
      ORDER BY place.key))`,
    kept_at: `max(requests.received_at, ${EVENTS.map((event) => `ifnull(${createdAt(event)}, 0)`).join(', ')})`,
  },
  key: ['organization_number', 'request_key'],
  leftOut: null,
};

/** In the order in which rows may refer to others. */
export const TABLES: readonly TableCopy[] = [
  ...[
    'installation',
    'organizations',
    'teams',
    'projects',
    'members',
    'role_bindings',
    'audit_log',
    'api_keys',
    'api_key_bindings',
    'evaluators',
    'idempotency_receipts',
  ].map(copyAsIs),
  {
    ...copyAsIs('traces'),
    expressions: {
      sequence: 'sequence_of(traces.inserted_at, traces.sequence)',
      trace_id: idTextSql('traces.trace_id'),
    },
    leftOut: { condition: REMOVED, countSql: `SELECT count(*) FROM traces WHERE ${REMOVED}` },
  },
  copyOfTraces('spans', {
    span_id: idTextSql('spans.span_id'),
    parent_id: idTextSql('spans.parent_id'),
    cost_source: 'cost_source_of(spans.cost_source)',
  }),
  copyOfTraces('evaluations', {}),
  copyAsIs('log_heads'),
  {
    ...copyAsIs('events'),
    expressions: {
      created_at: 'created_at_of(events.envelope)',
      id: 'event_id_of(events.envelope)',
      type: 'event_type_of(events.envelope)',
    },
    key: ['organization_number', 'seq'],
  },
  { ...copyAsIs('governance_events'), key: ['organization_number', 'id'] },
  { name: 'request_keys', ...REQUESTS },
  { name: 'requests', ...REQUESTS },
  ...['webhook_endpoints', 'webhook_states', 'webhook_replays', 'webhook_deliveries'].map(copyAsIs),
  { ...copyAsIs('webhook_attempts'), key: ['endpoint_number', 'fired_at', 'id'] },
  { ...copyAsIs('webhook_figures'), key: ['endpoint_number', 'bucket'] },
  { ...copyAsIs('webhook_hours'), key: ['organization_number', 'hour'] },
];

function copyAsIs(name: string): TableCopy {
  return { name, source: name, joins: '', expressions: {}, key: ['rowid'], leftOut: null };
}

/** A table of what belongs to traces. */
function copyOfTraces(name: string, expressions: TableCopy['expressions']): TableCopy {
  return {
    ...copyAsIs(name),
    joins: `CROSS JOIN traces ON traces.sequence = ${name}.trace_sequence`,
    expressions: { ...expressions, trace_sequence: `sequence_of(traces.inserted_at, ${name}.trace_sequence)` },
    leftOut: {
      condition: REMOVED,
      countSql: `SELECT count(*) FROM traces CROSS JOIN ${name}
        ON ${name}.project_number = -traces.project_number AND ${name}.trace_sequence = traces.sequence
        WHERE ${REMOVED}`,
    },
  };
}
