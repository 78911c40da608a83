/** Webhook endpoints, what is on its way to them, and what became of it. */

import type { SqlMigration } from './sql-migration.ts';

// As webhook-codes.ts has them.
const DEAD = 4;
const RUNNING = 0;

const endpoints = [
  // `sqs` is JSON without its secret, `enabled_events` a JSON array.
  `CREATE TABLE webhook_endpoints (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    organization_id TEXT NOT NULL REFERENCES organizations (id),
    organization_number INTEGER NOT NULL,
    destination_kind TEXT NOT NULL,
    url TEXT,
    sqs TEXT,
    sqs_secret BLOB,
    enabled_events TEXT NOT NULL,
    status TEXT NOT NULL,
    disabled_reason TEXT,
    disabled_at INTEGER,
    max_batch_size INTEGER NOT NULL,
    max_batch_delay_ms INTEGER NOT NULL,
    max_in_flight INTEGER NOT NULL,
    description TEXT,
    secret BLOB NOT NULL,
    previous_secret BLOB,
    previous_secret_until INTEGER,
    destination_version INTEGER NOT NULL,
    run INTEGER NOT NULL,
    version INTEGER NOT NULL,
    change_number INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    archived_at INTEGER
  )`,
  `CREATE INDEX webhook_endpoints_by_organization ON webhook_endpoints (organization_id, created_at, id)
    WHERE archived_at IS NULL`,
  'CREATE INDEX webhook_endpoints_by_change ON webhook_endpoints (change_number)',
  // What deliveries change all the time, apart from what its owner decides. Subscriptions are a JSON array.
  `CREATE TABLE webhook_states (
    endpoint_number INTEGER PRIMARY KEY,
    position INTEGER NOT NULL,
    in_flight INTEGER NOT NULL,
    subscriptions TEXT NOT NULL,
    failing_since INTEGER,
    last_success_at INTEGER,
    last_failure_at INTEGER,
    consecutive_failures INTEGER NOT NULL
  )`,
  'CREATE TABLE webhook_changes (id INTEGER PRIMARY KEY CHECK (id = 1), number INTEGER NOT NULL)',
  'INSERT INTO webhook_changes (id, number) VALUES (1, 0)',
];

// Deliveries that have ended leave the small indexes by which senders look for work. That the others have not is a
// column there too, or SQLite would look it up in every row that it counts.
const deliveries = [
  `CREATE TABLE webhook_deliveries (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    endpoint_number INTEGER NOT NULL,
    dispatch_id TEXT NOT NULL,
    status INTEGER NOT NULL,
    replay_number INTEGER,
    counted INTEGER,
    run INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    lost INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    due_at INTEGER,
    ladder_started_at INTEGER,
    attempt_id TEXT,
    queued_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    first_attempt_at INTEGER,
    last_attempt_at INTEGER,
    ended_at INTEGER,
    dead_reason INTEGER,
    terminal_hint INTEGER NOT NULL,
    response_status INTEGER,
    error TEXT,
    test INTEGER NOT NULL,
    event_count INTEGER NOT NULL,
    events_from INTEGER NOT NULL,
    events_to INTEGER NOT NULL,
    seqs TEXT NOT NULL,
    event_ids TEXT NOT NULL
  )`,
  'CREATE UNIQUE INDEX webhook_deliveries_by_dispatch ON webhook_deliveries (endpoint_number, dispatch_id)',
  `CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (endpoint_number, status, run, due_at, ended_at)
    WHERE ended_at IS NULL AND test = 0`,
  `CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (endpoint_number, queued_at, ended_at)
    WHERE ended_at IS NULL AND test = 0`,
  // What is replayed may be much older than its delivery.
  `CREATE INDEX webhook_deliveries_of_replays ON webhook_deliveries (endpoint_number, events_from)
    WHERE ended_at IS NULL AND replay_number IS NOT NULL`,
  'CREATE INDEX webhook_deliveries_of_tests ON webhook_deliveries (due_at) WHERE ended_at IS NULL AND test = 1',
  'CREATE INDEX webhook_deliveries_ended ON webhook_deliveries (ended_at) WHERE ended_at IS NOT NULL',
  `CREATE INDEX webhook_deliveries_dead ON webhook_deliveries (endpoint_number, ended_at, dispatch_id)
    WHERE status = ${DEAD} AND test = 0`,
  // What an attempt was made of is in its delivery.
  `CREATE TABLE webhook_attempts (
    endpoint_number INTEGER NOT NULL,
    fired_at INTEGER NOT NULL,
    id TEXT NOT NULL,
    delivery_number INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    outcome INTEGER NOT NULL,
    response_status INTEGER,
    latency_ms INTEGER,
    error TEXT,
    response_body TEXT,
    test INTEGER NOT NULL,
    terminal_hint INTEGER NOT NULL
  )`,
  'CREATE UNIQUE INDEX webhook_attempts_by_time ON webhook_attempts (endpoint_number, fired_at, id)',
  'CREATE INDEX webhook_attempts_by_delivery ON webhook_attempts (delivery_number, attempt)',
  'CREATE INDEX webhook_attempts_of_tests ON webhook_attempts (endpoint_number, fired_at) WHERE test = 1',
];

const replays = [
  `CREATE TABLE webhook_replays (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    endpoint_number INTEGER NOT NULL,
    from_ms INTEGER NOT NULL,
    to_ms INTEGER NOT NULL,
    type TEXT,
    mask INTEGER NOT NULL,
    position INTEGER NOT NULL,
    to_seq INTEGER NOT NULL,
    matched INTEGER NOT NULL,
    enqueued INTEGER NOT NULL,
    delivered INTEGER NOT NULL,
    dead INTEGER NOT NULL,
    status INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    completed_at INTEGER
  )`,
  'CREATE UNIQUE INDEX webhook_replays_by_id ON webhook_replays (endpoint_number, id)',
  `CREATE INDEX webhook_replays_running ON webhook_replays (endpoint_number, number) WHERE status = ${RUNNING}`,
];

const counts = [
  `CREATE TABLE webhook_figures (
    endpoint_number INTEGER NOT NULL,
    bucket INTEGER NOT NULL,
    finished INTEGER NOT NULL,
    succeeded INTEGER NOT NULL,
    PRIMARY KEY (endpoint_number, bucket)
  ) WITHOUT ROWID`,
  `CREATE TABLE webhook_hours (
    organization_number INTEGER NOT NULL,
    hour INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    PRIMARY KEY (organization_number, hour)
  ) WITHOUT ROWID`,
];

export const webhooks: SqlMigration = {
  name: 'sqlite-0006-webhooks',
  statements: [...endpoints, ...deliveries, ...replays, ...counts],
};
