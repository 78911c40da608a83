/**
 * The first schema on SQLite, as the object mapper writes it for the descriptions in tables/. By hand: foreign keys,
 * WITHOUT ROWID, and the first and the last statements.
 */

import type { SqlMigration } from './sql-migration.ts';

/** "SPND": marks a file as ours, so that the database of another program is never touched. */
export const APPLICATION_ID = 0x53504e44;

const TABLES = [
  `create table api_keys (
    id text not null primary key, organization_id text not null, key_type text not null, name text not null,
    description text null, user_id text null, created_by_user_id text null, permission_mode text not null,
    secret_hash blob not null, imported integer not null, previous_secret_hash blob null,
    previous_secret_until bigint null, expires_at bigint null, revoked_at bigint null, last_used_at bigint null,
    created_at bigint not null, updated_at bigint not null,
    foreign key (organization_id) references organizations (id)
  )`,
  'create index api_keys_by_organization on api_keys (organization_id, created_at, id)',
  'create index api_keys_by_owner on api_keys (organization_id, user_id)',
  'create index api_keys_imported on api_keys (id) where imported = true',
  `create table api_key_bindings (
    api_key_id text not null, position integer not null, id text not null, role text not null,
    scope_type text not null, scope_id text not null, permissions text not null, primary key (api_key_id, position),
    foreign key (api_key_id) references api_keys (id) on delete cascade
  )`,
  `create table audit_log (
    organization_id text not null, id text not null, created_at bigint not null, actor_kind text not null,
    actor_user_id text null, actor_key_id text null, action text not null, target_type text not null,
    target_id text null, outcome text not null, status integer not null, code text null, fields text not null,
    ip text null, user_agent text null, request_id text null, trace_id text null, count integer not null,
    primary key (organization_id, id), foreign key (organization_id) references organizations (id)
  )`,
  'create index audit_log_by_time on audit_log (organization_id, created_at, id)',
  'create index audit_log_by_target on audit_log (organization_id, target_id, created_at, id)',
  'create index audit_log_by_user on audit_log (organization_id, actor_user_id, created_at, id)',
  'create index audit_log_by_key on audit_log (organization_id, actor_key_id, created_at, id)',
  `create table evaluations (
    project_number integer not null, trace_sequence bigint not null, evaluation_id text not null,
    inserted_at bigint not null, evaluator_id text not null, name text not null, type text null, span_id text null,
    thread_id text null, is_guardrail integer not null, status text not null, passed integer null, score double null,
    label text null, monitor_id text null, started_at bigint null, finished_at bigint null, details text null,
    error text null, inputs text null, cost text null, primary key (project_number, trace_sequence, evaluation_id)
  )`,
  `create table evaluators (
    project_id text not null, id text not null, name text not null, slug text not null, type text not null,
    config text not null, workflow_id text null, workflow_name text null, workflow_icon text null,
    copied_from_evaluator_id text null, fields text not null, output_fields text not null, created_at bigint not null,
    updated_at bigint not null, deleted_at bigint null, primary key (project_id, id)
  )`,
  'create unique index evaluators_by_live_slug on evaluators (project_id, slug) where deleted_at is null',
  `create table envelopes (
    organization_number integer not null, seq bigint not null, envelope text not null,
    primary key (organization_number, seq)
  )`,
  `create table events (
    organization_number integer not null, created_at bigint not null, id text not null, type integer not null,
    seq bigint not null, primary key (organization_number, created_at, id)
  ) without rowid`,
  'create index events_settled on events (organization_number, created_at, id) where type = 2',
  `create table governance_events (
    organization_number integer not null, id text not null, created_at bigint not null, seq bigint not null,
    primary key (organization_number, id)
  ) without rowid`,
  'create index governance_events_by_time on governance_events (created_at)',
  `create table idempotency_receipts (
    organization_id text not null, key_id text not null, operation text not null, value text not null,
    fingerprint blob not null, claimed_at bigint not null, answer blob null,
    primary key (organization_id, key_id, operation, value),
    foreign key (organization_id) references organizations (id)
  )`,
  'create index idempotency_receipts_by_time on idempotency_receipts (claimed_at)',
  `create table installation (
    id integer not null primary key, verifier blob not null, constraint installation_is_one check (id = 1)
  )`,
  `create table log_heads (
    organization_number integer not null primary key, seq bigint not null, created_at bigint not null,
    last_key_index integer not null
  )`,
  `create table members (
    organization_id text not null, user_id text not null, email text not null, name text not null,
    disabled_at bigint null, created_at bigint not null, updated_at bigint not null,
    primary key (organization_id, user_id), foreign key (organization_id) references organizations (id)
  )`,
  'create unique index members_by_email on members (organization_id, email)',
  `create table organizations (
    number integer not null primary key autoincrement, id text not null, name text not null, slug text not null,
    created_at bigint not null, updated_at bigint not null, access_version bigint not null default '0'
  )`,
  'create unique index organizations_id_unique on organizations (id)',
  `create table projects (
    number integer not null primary key autoincrement, id text not null, organization_id text not null,
    team_id text not null, name text not null, slug text not null, language text not null, framework text not null,
    emit_request_events integer not null, trace_retention_days integer null, key_hash blob not null,
    key_hint text not null, key_imported integer not null, previous_key_hash blob null,
    previous_key_until bigint null, previous_key_imported integer null, key_last_used_at bigint null,
    created_at bigint not null, updated_at bigint not null, archived_at bigint null,
    foreign key (organization_id, team_id) references teams (organization_id, id)
  )`,
  'create unique index projects_id_unique on projects (id)',
  'create unique index projects_key_hash_unique on projects (key_hash)',
  'create index projects_by_organization on projects (organization_id, created_at)',
  'create index projects_by_previous_key on projects (previous_key_hash) where previous_key_hash is not null',
  'create index projects_imported on projects (number) where key_imported = true or previous_key_imported = true',
  `create table requests (
    organization_number integer not null, request_key blob not null, project_number integer not null,
    gateway_request_id text null, state integer not null, completed_by integer null, completed_at bigint null,
    settled_at bigint null, correction_at bigint null, received_at bigint not null, nano_usd bigint null,
    admission text null, earlier_corrections text null, primary key (organization_number, request_key)
  ) without rowid`,
  'create index requests_admitted on requests (received_at) where state = 2',
  `create table role_bindings (
    organization_id text not null, user_id text not null, id text not null, role text not null,
    scope_type text not null, scope_id text not null, permissions text not null, created_at bigint not null,
    primary key (organization_id, user_id, id),
    foreign key (organization_id, user_id) references members (organization_id, user_id) on delete cascade
  )`,
  `create table spans (
    project_number integer not null, trace_sequence bigint not null, span_id blob not null, parent_id blob null,
    type integer not null, started_at bigint not null, duration_ms bigint not null, first_token_ms bigint null,
    prompt_tokens bigint null, completion_tokens bigint null, reasoning_tokens bigint null,
    cache_read_input_tokens bigint null, cache_creation_input_tokens bigint null, cost_nano_usd bigint null,
    cost_source blob null, tokens_estimated integer not null, cached_tokens_in_prompt integer null,
    emitted_request_id text null, name text null, vendor text null, model text null, params text null,
    other_metrics text null, error text null, contexts text null, input text null, output text null,
    primary key (project_number, trace_sequence, span_id)
  )`,
  `create table teams (
    organization_id text not null, id text not null, name text not null, slug text not null,
    created_at bigint not null, updated_at bigint not null, primary key (organization_id, id),
    foreign key (organization_id) references organizations (id)
  )`,
  `create table traces (
    sequence integer not null primary key, project_number integer not null, trace_id blob not null,
    inserted_at bigint not null, updated_at bigint not null, span_count integer not null, started_at bigint null,
    duration_ms bigint null, first_token_ms bigint null, prompt_tokens bigint null, completion_tokens bigint null,
    reasoning_tokens bigint null, cache_read_input_tokens bigint null, cache_creation_input_tokens bigint null,
    total_cost_nano_usd bigint null, unpriced_spans integer not null, tokens_estimated integer not null,
    has_error integer not null, metadata text not null, expected_output text null, aggregates text null
  )`,
  'create unique index traces_by_id on traces (project_number, trace_id)',
  `create table webhook_attempts (
    endpoint_number integer not null, fired_at bigint not null, id text not null, delivery_number bigint not null,
    attempt integer not null, outcome integer not null, response_status integer null, latency_ms integer null,
    error text null, response_body text null, test integer not null, terminal_hint integer not null,
    primary key (endpoint_number, fired_at, id)
  )`,
  'create index webhook_attempts_by_delivery on webhook_attempts (delivery_number, attempt)',
  'create index webhook_attempts_of_tests on webhook_attempts (endpoint_number, fired_at) where test = true',
  `create table webhook_changes (
    id integer not null primary key, number bigint not null, constraint webhook_changes_is_one check (id = 1)
  )`,
  `create table webhook_deliveries (
    number integer not null primary key autoincrement, endpoint_number integer not null, dispatch_id text not null,
    status integer not null, replay_number integer null, counted integer null, run integer not null,
    attempt integer not null, failures integer not null, lost integer not null, fence integer not null,
    due_at bigint null, ladder_started_at bigint null, attempt_id text null, queued_at bigint not null,
    created_at bigint not null, first_attempt_at bigint null, last_attempt_at bigint null, ended_at bigint null,
    dead_reason integer null, terminal_hint integer not null, response_status integer null, error text null,
    test integer not null, event_count integer not null, events_from bigint not null, events_to bigint not null,
    seqs text not null, event_ids text not null
  )`,
  `create index webhook_deliveries_waiting on webhook_deliveries (endpoint_number, status, run, due_at, ended_at)
    where ended_at is null and test = false`,
  `create index webhook_deliveries_by_age on webhook_deliveries (endpoint_number, queued_at, ended_at)
    where ended_at is null and test = false`,
  `create index webhook_deliveries_of_replays on webhook_deliveries (endpoint_number, events_from)
    where ended_at is null and replay_number is not null`,
  'create index webhook_deliveries_of_tests on webhook_deliveries (due_at) where ended_at is null and test = true',
  'create index webhook_deliveries_ended on webhook_deliveries (ended_at) where ended_at is not null',
  `create index webhook_deliveries_dead on webhook_deliveries (endpoint_number, ended_at, dispatch_id)
    where status = 4 and test = false`,
  'create unique index webhook_deliveries_by_dispatch on webhook_deliveries (endpoint_number, dispatch_id)',
  `create table webhook_endpoints (
    number integer not null primary key autoincrement, id text not null, organization_id text not null,
    organization_number integer not null, destination_kind text not null, url text null, sqs text null,
    sqs_secret blob null, enabled_events text not null, status text not null, disabled_reason text null,
    disabled_at bigint null, max_batch_size integer not null, max_batch_delay_ms integer not null,
    max_in_flight integer not null, description text null, secret blob not null, previous_secret blob null,
    previous_secret_until bigint null, destination_version integer not null, run integer not null,
    version integer not null, change_number bigint not null, created_at bigint not null, updated_at bigint not null,
    archived_at bigint null, foreign key (organization_id) references organizations (id)
  )`,
  'create unique index webhook_endpoints_id_unique on webhook_endpoints (id)',
  `create index webhook_endpoints_by_organization on webhook_endpoints (organization_id, created_at, id)
    where archived_at is null`,
  'create index webhook_endpoints_by_change on webhook_endpoints (change_number)',
  `create table webhook_figures (
    endpoint_number integer not null, bucket bigint not null, finished integer not null, succeeded integer not null,
    primary key (endpoint_number, bucket)
  ) without rowid`,
  `create table webhook_hours (
    organization_number integer not null, hour integer not null, attempts integer not null,
    primary key (organization_number, hour)
  ) without rowid`,
  `create table webhook_replays (
    number integer not null primary key autoincrement, id text not null, endpoint_number integer not null,
    from_ms bigint not null, to_ms bigint not null, type text null, mask integer not null, position bigint not null,
    to_seq bigint not null, matched bigint not null, enqueued bigint not null, delivered bigint not null,
    dead bigint not null, status integer not null, created_at bigint not null, completed_at bigint null
  )`,
  'create index webhook_replays_running on webhook_replays (endpoint_number, number) where status = 0',
  'create unique index webhook_replays_by_id on webhook_replays (endpoint_number, id)',
  `create table webhook_states (
    endpoint_number integer not null primary key, position bigint not null, in_flight integer not null,
    subscriptions text not null, failing_since bigint null, last_success_at bigint null, last_failure_at bigint null,
    consecutive_failures integer not null
  )`,
  'create table write_probe (id integer not null primary key autoincrement, filler blob not null)',
];

export const initial: SqlMigration = {
  name: 'sqlite-0001-initial',
  statements: [
    `PRAGMA application_id = ${APPLICATION_ID}`,
    ...TABLES,
    'INSERT INTO webhook_changes (id, number) VALUES (1, 0)',
  ],
};
