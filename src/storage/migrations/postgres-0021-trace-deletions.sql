-- Older processes may run.
create table "trace_deletions" ("project_id" text collate "C" not null, "id" text collate "C" not null, "search" text not null, "status" text not null, "traces_found" bigint null, "is_found_exactly" boolean not null, "deleted" bigint not null, "error" text null, "created_at" bigint not null, "updated_at" bigint not null, "leased_until" bigint not null, "fence" bigint not null, "failures" int not null, primary key ("project_id", "id"));
create index "trace_deletions_by_creation" on "trace_deletions" ("project_id", "created_at");
create index "trace_deletions_by_turn" on "trace_deletions" ("project_id", "leased_until");
create index "trace_deletions_by_lease" on "trace_deletions" ("leased_until") where status = 'running';
