/** The first schema on PostgreSQL: traces, requests and the log. */

import { ID } from './postgres-0001-organization.ts';

// Appends hand over whole rows as arrays of these types; a column more is a new type beside the old one, because
// processes of two versions may share the database while it is upgraded.
const TRACE_ROW = `
    project_number integer,
    trace_id ${ID},
    sequence bigint,
    inserted_at bigint,
    updated_at bigint,
    span_count integer,
    started_at bigint,
    duration_ms bigint,
    first_token_ms bigint,
    prompt_tokens bigint,
    completion_tokens bigint,
    reasoning_tokens bigint,
    cache_read_input_tokens bigint,
    cache_creation_input_tokens bigint,
    total_cost_nano_usd bigint,
    unpriced_spans integer,
    tokens_estimated boolean,
    has_error boolean,
    metadata text,
    expected_output text`;

const SPAN_ROW = `
    project_number integer,
    trace_sequence bigint,
    span_id ${ID},
    parent_id ${ID},
    type integer,
    started_at bigint,
    duration_ms bigint,
    first_token_ms bigint,
    prompt_tokens bigint,
    completion_tokens bigint,
    reasoning_tokens bigint,
    cache_read_input_tokens bigint,
    cache_creation_input_tokens bigint,
    cost_nano_usd bigint,
    cost_source text,
    tokens_estimated boolean,
    cached_tokens_in_prompt boolean,
    emitted_request_id text,
    name text,
    vendor text,
    model text,
    params text,
    other_metrics text,
    error text,
    contexts text,
    input text,
    output text`;

const EVALUATION_ROW = `
    project_number integer,
    trace_sequence bigint,
    evaluation_id ${ID},
    inserted_at bigint,
    evaluator_id text,
    name text,
    type text,
    span_id text,
    thread_id text,
    is_guardrail boolean,
    status text,
    passed boolean,
    score double precision,
    label text,
    monitor_id text,
    started_at bigint,
    finished_at bigint,
    details text,
    error text,
    inputs text,
    cost text`;

// The sequence of a trace begins with the month the trace came in (see month.ts), so that what belongs to it is
// partitioned by month without a column more.
const traces = [
  'CREATE SEQUENCE trace_numbers INCREMENT BY 1000',
  `CREATE TYPE trace_row AS (${TRACE_ROW})`,
  `CREATE TABLE traces (${TRACE_ROW}, PRIMARY KEY (project_number, trace_id))`,
  `CREATE TYPE span_row AS (${SPAN_ROW})`,
  `CREATE TABLE spans (${SPAN_ROW}, PRIMARY KEY (project_number, trace_sequence, span_id))
    PARTITION BY RANGE (trace_sequence)`,
  `CREATE TYPE evaluation_row AS (${EVALUATION_ROW})`,
  `CREATE TABLE evaluations (${EVALUATION_ROW}, PRIMARY KEY (project_number, trace_sequence, evaluation_id))
    PARTITION BY RANGE (trace_sequence)`,
];

const REQUEST_ROW = `
    organization_number integer,
    request_key ${ID},
    kept_at bigint,
    project_number integer,
    gateway_request_id ${ID},
    state integer,
    completed_by integer,
    received_at bigint,
    completed_at bigint,
    settled_at bigint,
    correction_at bigint,
    nano_usd bigint`;

// kept_at is when the request was last heard of: its partition outlives the events that are found through it.
// completed_at, settled_at and correction_at are when those events were created, which is where the log has them.
const events = [
  `CREATE TABLE request_keys (
    organization_number integer NOT NULL,
    request_key ${ID} NOT NULL,
    kept_at bigint NOT NULL,
    PRIMARY KEY (organization_number, request_key)
  )`,
  `CREATE TYPE request_row AS (${REQUEST_ROW})`,
  `CREATE TABLE requests (${REQUEST_ROW}, PRIMARY KEY (organization_number, kept_at, request_key))
    PARTITION BY RANGE (kept_at)`,
  `CREATE TABLE events (
    organization_number integer NOT NULL,
    created_at bigint NOT NULL,
    id ${ID} NOT NULL,
    type integer NOT NULL,
    seq bigint NOT NULL,
    envelope text NOT NULL,
    PRIMARY KEY (organization_number, created_at, id)
  ) PARTITION BY RANGE (created_at)`,
  'CREATE INDEX events_by_seq ON events (organization_number, seq)',
  'CREATE INDEX events_settled ON events (organization_number, created_at, id) WHERE type = 2',
  // A row per organization that every commit changes: room beside it keeps the changes on one page.
  `CREATE TABLE log_heads (
    organization_number integer PRIMARY KEY,
    seq bigint NOT NULL,
    created_at bigint NOT NULL,
    last_key_index integer NOT NULL
  ) WITH (fillfactor = 10)`,
];

// Held while tables are made: two processes may find the same one missing.
const MONTHS_LOCK = 0x5350_4d4f;

const months = [
  // The month counted from January 1970.
  `CREATE FUNCTION create_month(month integer) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    first_day date := make_date(1970 + month / 12, month % 12 + 1, 1);
    suffix text := to_char(first_day, 'YYYY_MM');
    first_at bigint := extract(epoch FROM first_day)::bigint * 1000;
    next_at bigint := extract(epoch FROM first_day + interval '1 month')::bigint * 1000;
    first_sequence bigint := month::bigint << 40;
    next_sequence bigint := (month + 1)::bigint << 40;
  BEGIN
    PERFORM pg_advisory_xact_lock(${MONTHS_LOCK});
    EXECUTE format('CREATE TABLE IF NOT EXISTS %I PARTITION OF spans FOR VALUES FROM (%s) TO (%s)',
      'spans_' || suffix, first_sequence, next_sequence);
    EXECUTE format('CREATE TABLE IF NOT EXISTS %I PARTITION OF evaluations FOR VALUES FROM (%s) TO (%s)',
      'evaluations_' || suffix, first_sequence, next_sequence);
    EXECUTE format('CREATE TABLE IF NOT EXISTS %I PARTITION OF requests FOR VALUES FROM (%s) TO (%s)',
      'requests_' || suffix, first_at, next_at);
    EXECUTE format('CREATE TABLE IF NOT EXISTS %I PARTITION OF events FOR VALUES FROM (%s) TO (%s)',
      'events_' || suffix, first_at, next_at);
  END $$`,
];

export const TRACE_STATEMENTS = [...traces, ...events, ...months];
