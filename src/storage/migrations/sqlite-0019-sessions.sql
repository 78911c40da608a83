-- Older processes may run.
create table `sessions` (`organization_id` text not null, `id` text not null, `secret_hash` blob not null, `key_hash` blob not null, `user_id` text null, `api_key_id` text null, `project_id` text null, `user_agent` text null, `ip` text null, `created_at` bigint not null, `last_seen_at` bigint not null, `expires_at` bigint not null, primary key (`organization_id`, `id`), foreign key (organization_id) references organizations (id));
create index `sessions_by_creation` on `sessions` (`organization_id`, `created_at`, `id`);
create unique index `sessions_by_secret` on `sessions` (`secret_hash`);
