/** Every table of the target: where its rows come from, and what in them is kept in another form. */

import { idTextSql } from '../sqlite/compact-ids.ts';

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
};

/** What the SQL below may call; see source.ts. */
export type SourceFunctions = {
  /** Where the target keeps a trace. */
  sequence_of(insertedAtMs: number, sequence: number): number;
  month_of(instantMs: number): number;
  /** When the event was created that an envelope holds; null for none. */
  created_at_of(envelope: string | null): number | null;
  cost_source_of(stored: string | number | null): string | null;
};

const WITH_TRACE = (table: string) => ({
  joins: `CROSS JOIN traces ON traces.sequence = ${table}.trace_sequence`,
  trace_sequence: `sequence_of(traces.inserted_at, ${table}.trace_sequence)`,
});

const REQUEST_KEY = `iif(typeof(requests.request_key) = 'blob',
  'req_' || lower(hex(requests.request_key)), requests.request_key)`;

const EVENTS = ['completed', 'settled', 'correction'] as const;
const createdAt = (event: (typeof EVENTS)[number]) => `created_at_of(${event}.envelope)`;

const REQUESTS = {
  source: 'requests',
  joins: EVENTS.map(
    (event) => `LEFT JOIN events AS ${event}
      ON ${event}.organization_number = requests.organization_number AND ${event}.seq = requests.${event}_seq`,
  ).join(' '),
  expressions: {
    request_key: REQUEST_KEY,
    completed_at: createdAt('completed'),
    settled_at: createdAt('settled'),
    correction_at: createdAt('correction'),
    kept_at: `max(requests.received_at, ${EVENTS.map((event) => `ifnull(${createdAt(event)}, 0)`).join(', ')})`,
  },
  key: ['organization_number', 'request_key'],
};

const spans = WITH_TRACE('spans');
const evaluations = WITH_TRACE('evaluations');

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
  ].map(copyAsIs),
  {
    ...copyAsIs('traces'),
    expressions: {
      sequence: 'sequence_of(traces.inserted_at, traces.sequence)',
      trace_id: idTextSql('traces.trace_id'),
    },
  },
  {
    ...copyAsIs('spans'),
    joins: spans.joins,
    expressions: {
      trace_sequence: spans.trace_sequence,
      span_id: idTextSql('spans.span_id'),
      parent_id: idTextSql('spans.parent_id'),
      cost_source: 'cost_source_of(spans.cost_source)',
    },
  },
  {
    ...copyAsIs('evaluations'),
    joins: evaluations.joins,
    expressions: { trace_sequence: evaluations.trace_sequence },
  },
  copyAsIs('log_heads'),
  {
    name: 'events',
    source: 'events_by_time',
    joins: `CROSS JOIN events
      ON events.organization_number = events_by_time.organization_number AND events.seq = events_by_time.seq`,
    expressions: { envelope: 'events.envelope' },
    key: ['organization_number', 'created_at', 'id'],
  },
  { name: 'request_keys', ...REQUESTS },
  { name: 'requests', ...REQUESTS },
];

function copyAsIs(name: string): TableCopy {
  return { name, source: name, joins: '', expressions: {}, key: ['rowid'] };
}
