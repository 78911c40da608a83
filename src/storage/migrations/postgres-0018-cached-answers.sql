-- Older processes may run.
create table "cached_answers" ("project_number" int not null, "hash" bytea not null, "stored_at" bigint not null, "expires_at" bigint not null, "weight" bigint not null, "content_type" text not null, "model" text not null, "provider_id" text collate "C" not null, "body" bytea not null, primary key ("project_number", "hash"));
create index "cached_answers_by_age" on "cached_answers" ("project_number", "stored_at", "hash");
create index "cached_answers_by_expiry" on "cached_answers" ("expires_at");
create table "cached_bytes" ("project_number" int not null, "weight" bigint not null, primary key ("project_number")) with (fillfactor = 70);
CREATE TRIGGER count_auth_change AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON budgets
    FOR EACH STATEMENT EXECUTE FUNCTION count_auth_change();
