-- Older processes may run.
create table "schema_versions" ("number" int not null, "name" text not null, "text_hash" text not null, "description" text not null, "fingerprint" text not null, "serves_from" int not null, "is_complete" boolean not null, primary key ("number"));
create table "backfills" ("name" text not null, "cursor" text not null, "rows_done" bigint not null, "finished_at" bigint null, "leased_until" bigint not null, "fence" bigint not null, primary key ("name"));
