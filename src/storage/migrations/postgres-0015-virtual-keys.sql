-- Older processes may run.
create table "model_providers" ("organization_id" text collate "C" not null, "id" text collate "C" not null, "name" text collate "C" not null, "kind" text not null, "base_url" text not null, "api_version" text null, "extra_headers" text not null, "models" text null, "aliases" text not null, "timeout_ms" int not null, "project_ids" text null, "stream_usage" boolean not null, "enabled" boolean not null, "api_key" bytea null, "key_hint" text null, "created_at" bigint not null, "updated_at" bigint not null, primary key ("organization_id", "id"));
alter table "model_providers" add constraint "model_providers_by_name" unique ("organization_id", "name");
create table "virtual_keys" ("organization_id" text collate "C" not null, "id" text collate "C" not null, "name" text not null, "description" text null, "status" text not null, "display_prefix" text not null, "secret_hash" bytea not null, "previous_secret_hash" bytea null, "previous_secret_until" bigint null, "principal_user_id" text collate "C" null, "trace_project_id" text collate "C" not null, "external_id" text collate "C" null, "metadata" text not null, "labels" text not null, "config" text not null, "revision" bigint not null, "last_used_at" bigint null, "expires_at" bigint null, "revoked_at" bigint null, "created_at" bigint not null, "updated_at" bigint not null, primary key ("organization_id", "id"));
create index "virtual_keys_by_creation" on "virtual_keys" ("organization_id", "created_at", "id");
create index "virtual_keys_by_previous_secret" on "virtual_keys" ("previous_secret_hash") where previous_secret_hash is not null;
alter table "virtual_keys" add constraint "virtual_keys_by_external_id" unique ("organization_id", "external_id");
alter table "virtual_keys" add constraint "virtual_keys_by_secret" unique ("secret_hash");
alter table model_providers add constraint model_providers_organization_id_foreign foreign key (organization_id) references organizations (id);
alter table virtual_keys add constraint virtual_keys_organization_id_foreign foreign key (organization_id) references organizations (id);
CREATE TRIGGER count_auth_change AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON model_providers
    FOR EACH STATEMENT EXECUTE FUNCTION count_auth_change();
CREATE TRIGGER count_auth_change AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE OF
    organization_id, id, name, description, status, display_prefix, secret_hash, previous_secret_hash, previous_secret_until,
    principal_user_id, trace_project_id, external_id, metadata, labels, config, revision, expires_at, revoked_at, created_at,
    updated_at ON virtual_keys
    FOR EACH STATEMENT EXECUTE FUNCTION count_auth_change();
