-- Older processes may run.
alter table `organizations` add column `prompt_version` bigint not null default '0';
create table `prompts` (`organization_id` text not null, `id` text not null, `project_id` text not null, `scope` text not null, `owner_id` text not null, `handle` text not null, `version` integer not null, `version_id` text not null, `created_at` bigint not null, `updated_at` bigint not null, primary key (`organization_id`, `id`));
create index `prompts_by_update` on `prompts` (`organization_id`, `updated_at`, `id`);
create unique index `prompts_by_handle` on `prompts` (`organization_id`, `owner_id`, `handle`);
create table `prompt_versions` (`organization_id` text not null, `prompt_id` text not null, `version` integer not null, `id` text not null, `author_id` text null, `commit_message` text null, `config` text not null, `parameters` text not null, `created_at` bigint not null, primary key (`organization_id`, `prompt_id`, `version`));
create unique index `prompt_versions_by_id` on `prompt_versions` (`organization_id`, `id`);
create table `prompt_tags` (`organization_id` text not null, `id` text not null, `name` text not null, `protected` integer not null, `created_at` bigint not null, primary key (`organization_id`, `id`));
create unique index `prompt_tags_by_name` on `prompt_tags` (`organization_id`, `name`);
create table `prompt_tag_uses` (`organization_id` text not null, `prompt_id` text not null, `tag_id` text not null, `version_id` text not null, `updated_at` bigint not null, primary key (`organization_id`, `prompt_id`, `tag_id`));
