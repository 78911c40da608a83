-- Older processes may run.
create table "trace_shares" ("project_id" text collate "C" not null, "id" text collate "C" not null, "secret_hash" bytea not null, "trace_id" text not null, "created_by" text collate "C" null, "created_at" bigint not null, "expires_at" bigint not null, primary key ("project_id", "id"));
create index "trace_shares_by_creation" on "trace_shares" ("project_id", "created_at");
alter table "trace_shares" add constraint "trace_shares_by_secret" unique ("secret_hash");
