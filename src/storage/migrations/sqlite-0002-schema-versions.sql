-- Older processes may run.
create table "schema_versions" ("number" integer not null primary key, "name" text not null, "text_hash" text not null, "description" text not null, "fingerprint" text not null, "serves_from" integer not null, "is_complete" integer not null);
create table "backfills" ("name" text not null primary key, "cursor" text not null, "rows_done" bigint not null, "finished_at" bigint null, "leased_until" bigint not null, "fence" bigint not null);
