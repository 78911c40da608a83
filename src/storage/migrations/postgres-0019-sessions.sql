-- Older processes may run.
create table "sessions" ("organization_id" text collate "C" not null, "id" text collate "C" not null, "secret_hash" bytea not null, "key_hash" bytea not null, "user_id" text collate "C" null, "api_key_id" text collate "C" null, "project_id" text collate "C" null, "user_agent" text null, "ip" text null, "created_at" bigint not null, "last_seen_at" bigint not null, "expires_at" bigint not null, primary key ("organization_id", "id"));
create index "sessions_by_creation" on "sessions" ("organization_id", "created_at", "id");
alter table "sessions" add constraint "sessions_by_secret" unique ("secret_hash");
alter table sessions add constraint sessions_organization_id_foreign foreign key (organization_id) references organizations (id);
CREATE TRIGGER count_auth_change AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE OF
    organization_id, id, secret_hash, key_hash, user_id, api_key_id, project_id, user_agent, ip, created_at, expires_at
    ON sessions
    FOR EACH STATEMENT EXECUTE FUNCTION count_auth_change();
