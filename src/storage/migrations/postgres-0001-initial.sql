create table "analytics_hours" ("project_number" int not null, "grouping" int not null, "hour" int not null, "received_hour" int not null, "model" text collate "C" not null, "writer" int not null, "traces" bigint not null, "spans" bigint not null, "errors" bigint not null, "prompt_tokens" bigint not null, "prompt_known" bigint not null, "completion_tokens" bigint not null, "completion_known" bigint not null, "cost_usd" bigint not null, "cost_rest_nano_usd" bigint not null, "cost_known" bigint not null, primary key ("project_number", "grouping", "hour", "received_hour", "model", "writer")) with (fillfactor = 50);
create table "api_keys" ("id" text collate "C" not null, "organization_id" text collate "C" not null, "key_type" text not null, "name" text not null, "description" text null, "user_id" text collate "C" null, "created_by_user_id" text collate "C" null, "permission_mode" text not null, "secret_hash" bytea not null, "imported" boolean not null, "previous_secret_hash" bytea null, "previous_secret_until" bigint null, "expires_at" bigint null, "revoked_at" bigint null, "last_used_at" bigint null, "created_at" bigint not null, "updated_at" bigint not null, primary key ("id"));
create index "api_keys_by_organization" on "api_keys" ("organization_id", "created_at", "id");
create index "api_keys_by_owner" on "api_keys" ("organization_id", "user_id");
create index "api_keys_imported" on "api_keys" ("id") where imported = true;
create table "api_key_bindings" ("api_key_id" text collate "C" not null, "position" int not null, "id" text collate "C" not null, "role" text not null, "scope_type" text not null, "scope_id" text collate "C" not null, "permissions" text not null, primary key ("api_key_id", "position"));
create table "audit_log" ("organization_id" text collate "C" not null, "id" text collate "C" not null, "created_at" bigint not null, "actor_kind" text not null, "actor_user_id" text collate "C" null, "actor_key_id" text collate "C" null, "action" text not null, "target_type" text not null, "target_id" text collate "C" null, "outcome" text not null, "status" int not null, "code" text null, "fields" text not null, "ip" text null, "user_agent" text null, "request_id" text null, "trace_id" text null, "count" int not null, primary key ("organization_id", "id"));
create index "audit_log_by_time" on "audit_log" ("organization_id", "created_at", "id");
create index "audit_log_by_target" on "audit_log" ("organization_id", "target_id", "created_at", "id");
create index "audit_log_by_user" on "audit_log" ("organization_id", "actor_user_id", "created_at", "id");
create index "audit_log_by_key" on "audit_log" ("organization_id", "actor_key_id", "created_at", "id");
create table "auth_generation" ("id" int not null, "number" bigint not null, primary key ("id")) with (fillfactor = 10);
alter table "auth_generation" add constraint "auth_generation_is_one" check (id = 1);
create table "datasets" ("project_id" text collate "C" not null, "id" text collate "C" not null, "name" text not null, "slug" text collate "C" not null, "version" int not null, "entry_count" int not null, "total_bytes" bigint not null, "created_at" bigint not null, "updated_at" bigint not null, "deleted_at" bigint null, primary key ("project_id", "id"));
create unique index "datasets_by_live_slug" on "datasets" ("project_id", "slug") where deleted_at is null;
create table "dataset_parts" ("project_id" text collate "C" not null, "dataset_id" text collate "C" not null, "version" int not null, "first_position" int not null, "entry_lines" text not null, "created_at" bigint not null, primary key ("project_id", "dataset_id", "version"));
create table "evaluations" ("project_number" int not null, "trace_sequence" bigint not null, "evaluation_id" text collate "C" not null, "inserted_at" bigint not null, "evaluator_id" text not null, "name" text not null, "type" text null, "span_id" text null, "thread_id" text null, "is_guardrail" boolean not null, "status" text not null, "passed" boolean null, "score" double precision null, "label" text null, "monitor_id" text null, "started_at" bigint null, "finished_at" bigint null, "details" text null, "error" text null, "inputs" text null, "cost" text null, primary key ("project_number", "trace_sequence", "evaluation_id")) partition by range (trace_sequence);
create table "evaluation_jobs" ("project_number" int not null, "trace_sequence" bigint not null, "source_id" text collate "C" not null, "trace_id" text collate "C" not null, "due_at" bigint not null, "since" bigint not null, "fence" bigint not null, "failures" int not null, "is_rooted" boolean not null, "again_due_at" bigint null, "again_since" bigint null, "as_of" bigint not null, primary key ("project_number", "trace_sequence", "source_id")) with (fillfactor = 70);
create index "evaluation_jobs_by_due" on "evaluation_jobs" ("project_number", "due_at");
create table "evaluators" ("project_id" text collate "C" not null, "id" text collate "C" not null, "name" text not null, "slug" text collate "C" not null, "type" text not null, "config" text not null, "workflow_id" text null, "workflow_name" text null, "workflow_icon" text null, "copied_from_evaluator_id" text null, "fields" text not null, "output_fields" text not null, "created_at" bigint not null, "updated_at" bigint not null, "deleted_at" bigint null, primary key ("project_id", "id"));
create unique index "evaluators_by_live_slug" on "evaluators" ("project_id", "slug") where deleted_at is null;
create table "evaluator_runs" ("project_id" text collate "C" not null, "id" text collate "C" not null, "evaluator_id" text collate "C" not null, "search" text not null, "status" text not null, "cursor" text not null, "traces_found" bigint null, "is_found_exactly" boolean not null, "processed" bigint not null, "skipped" bigint not null, "failed" bigint not null, "error" text null, "created_at" bigint not null, "updated_at" bigint not null, "leased_until" bigint not null, "fence" bigint not null, "failures" int not null, primary key ("project_id", "id"));
create index "evaluator_runs_by_creation" on "evaluator_runs" ("project_id", "created_at");
create index "evaluator_runs_by_turn" on "evaluator_runs" ("project_id", "leased_until");
create index "evaluator_runs_by_lease" on "evaluator_runs" ("leased_until") where status = 'running';
create table "events" ("organization_number" int not null, "created_at" bigint not null, "id" text collate "C" not null, "type" int not null, "seq" bigint not null, "envelope" text not null, primary key ("organization_number", "created_at", "id")) partition by range (created_at);
create index "events_by_seq" on "events" ("organization_number", "seq");
create index "events_settled" on "events" ("organization_number", "created_at", "id") where type = 2;
create table "experiments" ("project_id" text collate "C" not null, "id" text collate "C" not null, "name" text not null, "slug" text collate "C" not null, "created_at" bigint not null, "updated_at" bigint not null, "deleted_at" bigint null, primary key ("project_id", "id"));
create unique index "experiments_by_live_slug" on "experiments" ("project_id", "slug") where deleted_at is null;
create table "experiment_results" ("project_id" text collate "C" not null, "run_key" text collate "C" not null, "entry_index" int not null, "target_id" text collate "C" not null, "entry_id" text collate "C" null, "trace_id" text collate "C" null, "entry" text null, "predicted" text null, "cost_usd" double precision null, "duration_ms" double precision null, "error" text null, "evaluations" text not null, "scores" text not null, "bytes" int not null, primary key ("project_id", "run_key", "entry_index", "target_id"));
create table "experiment_runs" ("project_id" text collate "C" not null, "key" text collate "C" not null, "experiment_id" text collate "C" not null, "id" text collate "C" not null, "name" text not null, "dataset_id" text collate "C" null, "dataset_version" int null, "targets" text not null, "evaluators" text not null, "total" int null, "progress" int null, "result_count" int not null, "total_bytes" bigint not null, "created_at" bigint not null, "updated_at" bigint not null, "finished_at" bigint null, "deleted_at" bigint null, primary key ("project_id", "key"));
create index "experiment_runs_by_creation" on "experiment_runs" ("project_id", "experiment_id", "created_at", "id");
create index "experiment_runs_hidden" on "experiment_runs" ("project_id") where deleted_at is not null;
create unique index "experiment_runs_by_live_id" on "experiment_runs" ("project_id", "experiment_id", "id") where deleted_at is null;
create table "governance_events" ("organization_number" int not null, "id" text collate "C" not null, "created_at" bigint not null, "seq" bigint not null, primary key ("organization_number", "id"));
create index "governance_events_by_time" on "governance_events" ("created_at");
create table "idempotency_receipts" ("organization_id" text collate "C" not null, "key_id" text collate "C" not null, "operation" text collate "C" not null, "value" text collate "C" not null, "fingerprint" bytea not null, "claimed_at" bigint not null, "answer" bytea null, primary key ("organization_id", "key_id", "operation", "value"));
create index "idempotency_receipts_by_time" on "idempotency_receipts" ("claimed_at");
create table "installation" ("id" int not null, "verifier" bytea not null, primary key ("id"));
alter table "installation" add constraint "installation_is_one" check (id = 1);
create table "log_heads" ("organization_number" int not null, "seq" bigint not null, "created_at" bigint not null, "last_key_index" int not null, primary key ("organization_number")) with (fillfactor = 10);
create table "members" ("organization_id" text collate "C" not null, "user_id" text collate "C" not null, "email" text collate "C" not null, "name" text not null, "disabled_at" bigint null, "created_at" bigint not null, "updated_at" bigint not null, primary key ("organization_id", "user_id"));
alter table "members" add constraint "members_by_email" unique ("organization_id", "email");
create table "monitors" ("project_id" text collate "C" not null, "id" text collate "C" not null, "name" text not null, "slug" text collate "C" not null, "evaluator_id" text collate "C" not null, "check_type" text not null, "enabled" boolean not null, "sample" double precision not null, "preconditions" text not null, "mappings" text not null, "parameters" text not null, "execution_mode" text not null, "runs_since" bigint not null, "created_at" bigint not null, "updated_at" bigint not null, "deleted_at" bigint null, primary key ("project_id", "id"));
create unique index "monitors_by_live_slug" on "monitors" ("project_id", "slug") where deleted_at is null;
create table "monitor_changes" ("project_number" int not null, "number" bigint not null, primary key ("project_number")) with (fillfactor = 10);
create table "organizations" ("number" serial primary key, "id" text collate "C" not null, "name" text not null, "slug" text collate "C" not null, "created_at" bigint not null, "updated_at" bigint not null, "access_version" bigint not null default '0', "price_version" bigint not null default '0');
alter table "organizations" add constraint "organizations_id_unique" unique ("id");
create table "price_overrides" ("organization_id" text collate "C" not null, "id" text collate "C" not null, "model" text not null, "match" text not null, "input_pico_usd" bigint not null, "output_pico_usd" bigint not null, "cache_read_pico_usd" bigint null, "cache_write_pico_usd" bigint null, "effective_from" bigint null, "created_at" bigint not null, primary key ("organization_id", "id"));
create table "projects" ("number" serial primary key, "id" text collate "C" not null, "organization_id" text collate "C" not null, "team_id" text collate "C" not null, "name" text not null, "slug" text collate "C" not null, "language" text not null, "framework" text not null, "emit_request_events" boolean not null, "trace_retention_days" int null, "key_hash" bytea not null, "key_hint" text not null, "key_imported" boolean not null, "previous_key_hash" bytea null, "previous_key_until" bigint null, "previous_key_imported" boolean null, "key_last_used_at" bigint null, "created_at" bigint not null, "updated_at" bigint not null, "archived_at" bigint null);
alter table "projects" add constraint "projects_id_unique" unique ("id");
alter table "projects" add constraint "projects_key_hash_unique" unique ("key_hash");
create index "projects_by_organization" on "projects" ("organization_id", "created_at");
create index "projects_by_previous_key" on "projects" ("previous_key_hash") where previous_key_hash is not null;
create index "projects_imported" on "projects" ("number") where key_imported = true or previous_key_imported = true;
create table "requests" ("organization_number" int not null, "changed_at" bigint not null, "request_key" text collate "C" not null, "project_number" int not null, "gateway_request_id" text collate "C" null, "state" int not null, "completed_by" int null, "completed_at" bigint null, "settled_at" bigint null, "correction_at" bigint null, "received_at" bigint not null, "nano_usd" bigint null, "admission" text null, "earlier_corrections" text null, primary key ("organization_number", "changed_at", "request_key")) partition by range (changed_at);
create index "requests_admitted" on "requests" ("received_at") where state = 2;
create table "request_keys" ("organization_number" int not null, "request_key" text collate "C" not null, "changed_at" bigint not null, primary key ("organization_number", "request_key"));
create table "role_bindings" ("organization_id" text collate "C" not null, "user_id" text collate "C" not null, "id" text collate "C" not null, "role" text not null, "scope_type" text not null, "scope_id" text collate "C" not null, "permissions" text not null, "created_at" bigint not null, primary key ("organization_id", "user_id", "id"));
create table "search_blocks" ("project_number" int not null, "block" int not null, "traces" int not null, "first_sequence" bigint not null, "last_sequence" bigint not null, "started_from" bigint not null, "started_to" bigint not null, "updated_from" bigint not null, "updated_to" bigint not null, "inserted_from" bigint not null, "crowded_count" int not null, "text_slices" int not null, "deleted" bytea not null, "deleted_count" int not null, primary key ("project_number", "block"));
create table "search_facets" ("project_number" int not null, "block" int not null, "facet" bigint not null, "trace_set" bytea not null, primary key ("project_number", "block", "facet"));
create table "search_heads" ("project_number" int not null, "generation" bigint not null, "next_block" int not null, "written_block" int null, "removed_block" int null, "leased_until" bigint not null, primary key ("project_number"));
create table "search_parts" ("project_number" int not null, "block" int not null, "part" int not null, "content" bytea not null, primary key ("project_number", "block", "part"));
create table "search_pending" ("project_number" int not null, "trace_sequence" bigint not null, "mark" bigint not null, primary key ("project_number", "trace_sequence"));
create table "spans" ("project_number" int not null, "trace_sequence" bigint not null, "span_id" text collate "C" not null, "parent_id" text collate "C" null, "type" int not null, "started_at" bigint not null, "duration_ms" bigint not null, "first_token_ms" bigint null, "prompt_tokens" bigint null, "completion_tokens" bigint null, "reasoning_tokens" bigint null, "cache_read_input_tokens" bigint null, "cache_creation_input_tokens" bigint null, "cost_nano_usd" bigint null, "cost_source" text null, "tokens_estimated" boolean not null, "cached_tokens_in_prompt" boolean null, "emitted_request_id" text null, "name" text null, "vendor" text null, "model" text null, "params" text null, "other_metrics" text null, "error" text null, "contexts" text null, "telemetry" text null, "input" text null, "output" text null, primary key ("project_number", "trace_sequence", "span_id")) partition by range (trace_sequence);
create table "spend_blocks" ("organization_number" int not null, "first_seq" bigint not null, "last_seq" bigint not null, "occurred_from" bigint not null, "occurred_to" bigint not null, "created_to" bigint not null, "superseded" bytea not null, primary key ("organization_number", "first_seq"));
create index "spend_blocks_by_time" on "spend_blocks" ("created_to");
create table "spend_heads" ("organization_number" int not null, "seq" bigint not null, "leased_until" bigint not null, primary key ("organization_number"));
create table "spend_parts" ("organization_number" int not null, "first_seq" bigint not null, "part" int not null, "content" bytea not null, primary key ("organization_number", "first_seq", "part"));
create table "teams" ("organization_id" text collate "C" not null, "id" text collate "C" not null, "name" text not null, "slug" text collate "C" not null, "created_at" bigint not null, "updated_at" bigint not null, primary key ("organization_id", "id"));
create table "traces" ("project_number" int not null, "trace_id" text collate "C" not null, "sequence" bigint not null, "inserted_at" bigint not null, "updated_at" bigint not null, "span_count" int not null, "started_at" bigint null, "duration_ms" bigint null, "first_token_ms" bigint null, "prompt_tokens" bigint null, "completion_tokens" bigint null, "reasoning_tokens" bigint null, "cache_read_input_tokens" bigint null, "cache_creation_input_tokens" bigint null, "total_cost_nano_usd" bigint null, "unpriced_spans" int not null, "tokens_estimated" boolean not null, "has_error" boolean not null, "metadata" text not null, "expected_output" text null, "aggregates" text null, primary key ("project_number", "trace_id"));
create index "traces_by_sequence" on "traces" ("sequence");
create index traces_by_start on traces (project_number, coalesce(started_at, inserted_at));
create index large_traces_by_start on traces (project_number, coalesce(started_at, inserted_at)) where span_count > 200;
create index outdated_traces on traces (project_number) where span_count > 200 and substr(aggregates, 1, 12) = '{"outdated":';
create index "traces_by_update" on "traces" ("project_number", "updated_at");
create table "webhook_attempts" ("endpoint_number" int not null, "fired_at" bigint not null, "id" text collate "C" not null, "delivery_number" bigint not null, "attempt" int not null, "outcome" int not null, "response_status" int null, "latency_ms" int null, "error" text null, "response_body" text null, "test" boolean not null, "terminal_hint" boolean not null, primary key ("endpoint_number", "fired_at", "id")) with (fillfactor = 70);
create index "webhook_attempts_by_delivery" on "webhook_attempts" ("delivery_number", "attempt");
create index "webhook_attempts_of_tests" on "webhook_attempts" ("endpoint_number", "fired_at") where test = true;
create table "webhook_changes" ("id" int not null, "number" bigint not null, primary key ("id")) with (fillfactor = 10);
alter table "webhook_changes" add constraint "webhook_changes_is_one" check (id = 1);
create table "webhook_deliveries" ("number" bigserial primary key, "endpoint_number" int not null, "dispatch_id" text collate "C" not null, "status" int not null, "replay_number" int null, "counted" int null, "run" int not null, "attempt" int not null, "failures" int not null, "lost" int not null, "fence" int not null, "due_at" bigint null, "ladder_started_at" bigint null, "attempt_id" text collate "C" null, "queued_at" bigint not null, "created_at" bigint not null, "first_attempt_at" bigint null, "last_attempt_at" bigint null, "ended_at" bigint null, "dead_reason" int null, "terminal_hint" boolean not null, "response_status" int null, "error" text null, "test" boolean not null, "event_count" int not null, "events_from" bigint not null, "events_to" bigint not null, "seqs" text not null, "event_ids" text not null) with (fillfactor = 70);
create index "webhook_deliveries_waiting" on "webhook_deliveries" ("endpoint_number", "status", "run", "due_at", "queued_at") where ended_at is null and test = false;
create index "webhook_deliveries_of_tests" on "webhook_deliveries" ("due_at") where ended_at is null and test = true;
create index "webhook_deliveries_ended" on "webhook_deliveries" ("ended_at") where ended_at is not null;
create index "webhook_deliveries_dead" on "webhook_deliveries" ("endpoint_number", "ended_at", "dispatch_id") where status = 4 and test = false;
alter table "webhook_deliveries" add constraint "webhook_deliveries_by_dispatch" unique ("endpoint_number", "dispatch_id");
create table "webhook_endpoints" ("number" serial primary key, "id" text collate "C" not null, "organization_id" text collate "C" not null, "organization_number" int not null, "destination_kind" text not null, "url" text null, "sqs" text null, "sqs_secret" bytea null, "enabled_events" text not null, "status" text not null, "disabled_reason" text null, "disabled_at" bigint null, "max_batch_size" int not null, "max_batch_delay_ms" int not null, "max_in_flight" int not null, "description" text null, "secret" bytea not null, "previous_secret" bytea null, "previous_secret_until" bigint null, "destination_version" int not null, "run" int not null, "version" int not null, "change_number" bigint not null, "created_at" bigint not null, "updated_at" bigint not null, "archived_at" bigint null);
alter table "webhook_endpoints" add constraint "webhook_endpoints_id_unique" unique ("id");
create index "webhook_endpoints_by_organization" on "webhook_endpoints" ("organization_id", "created_at", "id") where archived_at is null;
create index "webhook_endpoints_by_change" on "webhook_endpoints" ("change_number");
create table "webhook_figures" ("endpoint_number" int not null, "bucket" bigint not null, "finished" int not null, "succeeded" int not null, primary key ("endpoint_number", "bucket")) with (fillfactor = 50);
create table "webhook_hours" ("organization_number" int not null, "hour" int not null, "attempts" int not null, primary key ("organization_number", "hour")) with (fillfactor = 50);
create table "webhook_replays" ("number" serial primary key, "id" text collate "C" not null, "endpoint_number" int not null, "from_ms" bigint not null, "to_ms" bigint not null, "type" text null, "mask" int not null, "position" bigint not null, "to_seq" bigint not null, "matched" bigint not null, "enqueued" bigint not null, "delivered" bigint not null, "dead" bigint not null, "status" int not null, "created_at" bigint not null, "completed_at" bigint null) with (fillfactor = 50);
create index "webhook_replays_running" on "webhook_replays" ("endpoint_number", "number") where status = 0;
alter table "webhook_replays" add constraint "webhook_replays_by_id" unique ("endpoint_number", "id");
create table "webhook_states" ("endpoint_number" int not null, "position" bigint not null, "in_flight" int not null, "subscriptions" text not null, "failing_since" bigint null, "last_success_at" bigint null, "last_failure_at" bigint null, "consecutive_failures" int not null, primary key ("endpoint_number")) with (fillfactor = 50);
create table "write_probe" ("id" serial primary key, "filler" bytea not null);
alter table api_key_bindings add constraint api_key_bindings_api_key_id_foreign foreign key (api_key_id) references api_keys (id) on delete cascade;
alter table api_keys add constraint api_keys_organization_id_foreign foreign key (organization_id) references organizations (id);
alter table audit_log add constraint audit_log_organization_id_foreign foreign key (organization_id) references organizations (id);
alter table idempotency_receipts add constraint idempotency_receipts_organization_id_foreign foreign key (organization_id) references organizations (id);
alter table members add constraint members_organization_id_foreign foreign key (organization_id) references organizations (id);
alter table price_overrides add constraint price_overrides_organization_id_foreign foreign key (organization_id) references organizations (id);
alter table projects add constraint projects_organization_id_team_id_foreign foreign key (organization_id, team_id) references teams (organization_id, id);
alter table role_bindings add constraint role_bindings_organization_id_user_id_foreign foreign key (organization_id, user_id) references members (organization_id, user_id) on delete cascade;
alter table teams add constraint teams_organization_id_foreign foreign key (organization_id) references organizations (id);
alter table webhook_endpoints add constraint webhook_endpoints_organization_id_foreign foreign key (organization_id) references organizations (id);
ALTER TABLE write_probe ALTER COLUMN filler SET STORAGE EXTERNAL;
INSERT INTO webhook_changes (id, number) VALUES (1, 0);
INSERT INTO auth_generation (id, number) VALUES (1, 1);
CREATE FUNCTION count_auth_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE auth_generation
    SET number = greatest(number + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
    WHERE id = 1;
    RETURN NULL;
  END $$;
CREATE TRIGGER count_auth_change AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON teams
    FOR EACH STATEMENT EXECUTE FUNCTION count_auth_change();
CREATE TRIGGER count_auth_change AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON members
    FOR EACH STATEMENT EXECUTE FUNCTION count_auth_change();
CREATE TRIGGER count_auth_change AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON role_bindings
    FOR EACH STATEMENT EXECUTE FUNCTION count_auth_change();
CREATE TRIGGER count_auth_change AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON api_key_bindings
    FOR EACH STATEMENT EXECUTE FUNCTION count_auth_change();
CREATE TRIGGER count_auth_change AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE OF number, id, price_version ON organizations
    FOR EACH STATEMENT EXECUTE FUNCTION count_auth_change();
CREATE TRIGGER count_auth_change AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE OF
    number, id, organization_id, team_id, slug, emit_request_events, trace_retention_days, key_hash, key_imported,
    previous_key_hash, previous_key_until, previous_key_imported, archived_at ON projects
    FOR EACH STATEMENT EXECUTE FUNCTION count_auth_change();
CREATE TRIGGER count_auth_change AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE OF
    id, organization_id, key_type, user_id, permission_mode, secret_hash, imported, previous_secret_hash,
    previous_secret_until, expires_at, revoked_at ON api_keys
    FOR EACH STATEMENT EXECUTE FUNCTION count_auth_change();
CREATE FUNCTION create_month(month integer) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    first_day date := make_date(1970 + month / 12, month % 12 + 1, 1);
    suffix text := to_char(first_day, 'YYYY_MM');
    first_at bigint := extract(epoch FROM first_day)::bigint * 1000;
    next_at bigint := extract(epoch FROM first_day + interval '1 month')::bigint * 1000;
    first_sequence bigint := month::bigint << 40;
    next_sequence bigint := (month + 1)::bigint << 40;
  BEGIN
    PERFORM pg_advisory_xact_lock(1397771599);
    EXECUTE format('CREATE TABLE IF NOT EXISTS %I PARTITION OF spans FOR VALUES FROM (%s) TO (%s)',
      'spans_' || suffix, first_sequence, next_sequence);
    EXECUTE format('CREATE TABLE IF NOT EXISTS %I PARTITION OF evaluations FOR VALUES FROM (%s) TO (%s)',
      'evaluations_' || suffix, first_sequence, next_sequence);
    EXECUTE format('CREATE TABLE IF NOT EXISTS %I PARTITION OF requests FOR VALUES FROM (%s) TO (%s)',
      'requests_' || suffix, first_at, next_at);
    EXECUTE format('CREATE TABLE IF NOT EXISTS %I PARTITION OF events FOR VALUES FROM (%s) TO (%s)',
      'events_' || suffix, first_at, next_at);
  END $$;
CREATE SEQUENCE trace_numbers INCREMENT BY 1000;
CREATE FUNCTION clock_ms() RETURNS bigint LANGUAGE sql VOLATILE AS
    'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint';
