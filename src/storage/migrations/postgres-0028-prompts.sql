-- Older processes may run.
alter table "organizations" add column "prompt_version" bigint not null default '0';
create table "prompts" ("organization_id" text collate "C" not null, "id" text collate "C" not null, "project_id" text collate "C" not null, "scope" text not null, "owner_id" text collate "C" not null, "handle" text collate "C" not null, "version" int not null, "version_id" text collate "C" not null, "created_at" bigint not null, "updated_at" bigint not null, primary key ("organization_id", "id"));
create index "prompts_by_update" on "prompts" ("organization_id", "updated_at", "id");
alter table "prompts" add constraint "prompts_by_handle" unique ("organization_id", "owner_id", "handle");
create table "prompt_versions" ("organization_id" text collate "C" not null, "prompt_id" text collate "C" not null, "version" int not null, "id" text collate "C" not null, "author_id" text null, "commit_message" text null, "config" text not null, "parameters" text not null, "created_at" bigint not null, primary key ("organization_id", "prompt_id", "version"));
alter table "prompt_versions" add constraint "prompt_versions_by_id" unique ("organization_id", "id");
create table "prompt_tags" ("organization_id" text collate "C" not null, "id" text collate "C" not null, "name" text collate "C" not null, "protected" boolean not null, "created_at" bigint not null, primary key ("organization_id", "id"));
alter table "prompt_tags" add constraint "prompt_tags_by_name" unique ("organization_id", "name");
create table "prompt_tag_uses" ("organization_id" text collate "C" not null, "prompt_id" text collate "C" not null, "tag_id" text collate "C" not null, "version_id" text collate "C" not null, "updated_at" bigint not null, primary key ("organization_id", "prompt_id", "tag_id"));
DROP TRIGGER count_auth_change ON organizations;
CREATE TRIGGER count_auth_change AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE OF number, id, price_version, prompt_version
    ON organizations FOR EACH STATEMENT EXECUTE FUNCTION count_auth_change();
