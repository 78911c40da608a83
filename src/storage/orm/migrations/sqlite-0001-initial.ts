/** The first schema on SQLite. */

import type { SqlMigration } from './sql-migration.ts';

/** "SPND": marks a file as ours, so that the database of another program is never touched. */
export const APPLICATION_ID = 0x53504e44;

const installation = [
  `PRAGMA application_id = ${APPLICATION_ID}`,
  'CREATE TABLE installation (id INTEGER PRIMARY KEY CHECK (id = 1), verifier BLOB NOT NULL)',
  // Takes a row and loses it again when the store finds out whether a full disk has room once more.
  'CREATE TABLE write_probe (filler BLOB NOT NULL)',
];

const organization = [
  `CREATE TABLE organizations (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    slug TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  )`,
  `CREATE TABLE teams (
    organization_id TEXT NOT NULL REFERENCES organizations (id),
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    slug TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (organization_id, id)
  )`,
  `CREATE TABLE projects (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    organization_id TEXT NOT NULL,
    team_id TEXT NOT NULL,
    name TEXT NOT NULL,
    slug TEXT NOT NULL,
    language TEXT NOT NULL,
    framework TEXT NOT NULL,
    emit_request_events INTEGER NOT NULL,
    key_hash BLOB NOT NULL UNIQUE,
    key_hint TEXT NOT NULL,
    key_imported INTEGER NOT NULL,
    previous_key_hash BLOB,
    previous_key_until INTEGER,
    previous_key_imported INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    archived_at INTEGER,
    FOREIGN KEY (organization_id, team_id) REFERENCES teams (organization_id, id)
  )`,
  'CREATE INDEX projects_by_organization ON projects (organization_id, created_at)',
  'CREATE INDEX projects_by_previous_key ON projects (previous_key_hash) WHERE previous_key_hash IS NOT NULL',
  'CREATE INDEX projects_imported ON projects (number) WHERE key_imported = 1 OR previous_key_imported = 1',
  `CREATE TABLE members (
    organization_id TEXT NOT NULL REFERENCES organizations (id),
    user_id TEXT NOT NULL,
    email TEXT NOT NULL,
    name TEXT NOT NULL,
    disabled_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (organization_id, user_id)
  )`,
  'CREATE UNIQUE INDEX members_by_email ON members (organization_id, email)',
  `CREATE TABLE role_bindings (
    organization_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    role TEXT NOT NULL,
    scope_type TEXT NOT NULL,
    scope_id TEXT NOT NULL,
    permissions TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (organization_id, user_id, id),
    FOREIGN KEY (organization_id, user_id) REFERENCES members (organization_id, user_id) ON DELETE CASCADE
  )`,
  `CREATE TABLE audit_log (
    organization_id TEXT NOT NULL REFERENCES organizations (id),
    id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    actor_kind TEXT NOT NULL,
    actor_user_id TEXT,
    actor_key_id TEXT,
    action TEXT NOT NULL,
    target_type TEXT NOT NULL,
    target_id TEXT,
    outcome TEXT NOT NULL,
    status INTEGER NOT NULL,
    code TEXT,
    fields TEXT NOT NULL,
    ip TEXT,
    user_agent TEXT,
    request_id TEXT,
    trace_id TEXT,
    count INTEGER NOT NULL,
    PRIMARY KEY (organization_id, id)
  )`,
  'CREATE INDEX audit_log_by_time ON audit_log (organization_id, created_at, id)',
];

const keys = [
  `CREATE TABLE api_keys (
    id TEXT PRIMARY KEY NOT NULL,
    organization_id TEXT NOT NULL REFERENCES organizations (id),
    key_type TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT,
    user_id TEXT,
    created_by_user_id TEXT,
    permission_mode TEXT NOT NULL,
    secret_hash BLOB NOT NULL,
    imported INTEGER NOT NULL,
    previous_secret_hash BLOB,
    previous_secret_until INTEGER,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  )`,
  'CREATE INDEX api_keys_by_organization ON api_keys (organization_id, created_at, id)',
  'CREATE INDEX api_keys_imported ON api_keys (id) WHERE imported = 1',
  `CREATE TABLE api_key_bindings (
    api_key_id TEXT NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    id TEXT NOT NULL,
    role TEXT NOT NULL,
    scope_type TEXT NOT NULL,
    scope_id TEXT NOT NULL,
    permissions TEXT NOT NULL,
    PRIMARY KEY (api_key_id, position)
  )`,
];

const evaluators = [
  `CREATE TABLE evaluators (
    project_id TEXT NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    slug TEXT NOT NULL,
    type TEXT NOT NULL,
    config TEXT NOT NULL,
    workflow_id TEXT,
    workflow_name TEXT,
    workflow_icon TEXT,
    copied_from_evaluator_id TEXT,
    fields TEXT NOT NULL,
    output_fields TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (project_id, id)
  )`,
  'CREATE UNIQUE INDEX evaluators_by_slug ON evaluators (project_id, slug)',
];

// Below, a column without a type holds an id as text or as bytes. What is short and often read comes before free
// text, which may spill over to further pages. Durations stand for second instants because they take less room.
// emitted_request_id is kept only where a span had its event and what it says since would give another id.
const traces = [
  `CREATE TABLE traces (
    sequence INTEGER PRIMARY KEY,
    project_number INTEGER NOT NULL,
    trace_id NOT NULL,
    inserted_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    span_count INTEGER NOT NULL,
    started_at INTEGER,
    duration_ms INTEGER,
    first_token_ms INTEGER,
    prompt_tokens INTEGER,
    completion_tokens INTEGER,
    reasoning_tokens INTEGER,
    cache_read_input_tokens INTEGER,
    cache_creation_input_tokens INTEGER,
    total_cost_nano_usd INTEGER,
    unpriced_spans INTEGER NOT NULL,
    tokens_estimated INTEGER NOT NULL,
    has_error INTEGER NOT NULL,
    metadata TEXT NOT NULL,
    expected_output TEXT
  )`,
  'CREATE UNIQUE INDEX traces_by_id ON traces (project_number, trace_id)',
  `CREATE TABLE spans (
    project_number INTEGER NOT NULL,
    trace_sequence INTEGER NOT NULL,
    span_id NOT NULL,
    parent_id,
    type INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    first_token_ms INTEGER,
    prompt_tokens INTEGER,
    completion_tokens INTEGER,
    reasoning_tokens INTEGER,
    cache_read_input_tokens INTEGER,
    cache_creation_input_tokens INTEGER,
    cost_nano_usd INTEGER,
    cost_source,
    tokens_estimated INTEGER NOT NULL,
    cached_tokens_in_prompt INTEGER,
    emitted_request_id TEXT,
    name TEXT,
    vendor TEXT,
    model TEXT,
    params TEXT,
    other_metrics TEXT,
    error TEXT,
    contexts TEXT,
    input TEXT,
    output TEXT
  )`,
  'CREATE UNIQUE INDEX spans_by_id ON spans (project_number, trace_sequence, span_id)',
  `CREATE TABLE evaluations (
    project_number INTEGER NOT NULL,
    trace_sequence INTEGER NOT NULL,
    evaluation_id TEXT NOT NULL,
    evaluator_id TEXT NOT NULL,
    name TEXT NOT NULL,
    type TEXT,
    span_id TEXT,
    thread_id TEXT,
    is_guardrail INTEGER NOT NULL,
    status TEXT NOT NULL,
    passed INTEGER,
    score REAL,
    label TEXT,
    monitor_id TEXT,
    inserted_at INTEGER NOT NULL,
    started_at INTEGER,
    finished_at INTEGER,
    details TEXT,
    error TEXT,
    inputs TEXT,
    cost TEXT
  )`,
  'CREATE UNIQUE INDEX evaluations_by_id ON evaluations (project_number, trace_sequence, evaluation_id)',
];

const events = [
  // gateway_request_id is kept only where the key is not that id itself.
  `CREATE TABLE requests (
    organization_number INTEGER NOT NULL,
    request_key NOT NULL,
    project_number INTEGER NOT NULL,
    gateway_request_id TEXT,
    state INTEGER NOT NULL,
    completed_by INTEGER,
    completed_seq INTEGER,
    settled_seq INTEGER,
    correction_seq INTEGER,
    received_at INTEGER NOT NULL,
    nano_usd INTEGER,
    PRIMARY KEY (organization_number, request_key)
  ) WITHOUT ROWID`,
  'CREATE TABLE events (organization_number INTEGER NOT NULL, seq INTEGER NOT NULL, envelope TEXT NOT NULL)',
  'CREATE UNIQUE INDEX events_by_seq ON events (organization_number, seq)',
  // The order of the log. Apart from the envelopes, so that ids are kept once and pages hold many entries.
  `CREATE TABLE events_by_time (
    organization_number INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    id TEXT NOT NULL,
    type INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (organization_number, created_at, id)
  ) WITHOUT ROWID`,
  'CREATE INDEX events_settled ON events_by_time (organization_number, created_at, id) WHERE type = 2',
  `CREATE TABLE log_heads (
    organization_number INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    last_key_index INTEGER NOT NULL
  )`,
];

export const initial: SqlMigration = {
  name: 'sqlite-0001-initial',
  statements: [...installation, ...organization, ...keys, ...evaluators, ...traces, ...events],
};
