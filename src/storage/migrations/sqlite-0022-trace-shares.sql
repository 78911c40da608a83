-- Older processes may run.
create table `trace_shares` (`project_id` text not null, `id` text not null, `secret_hash` blob not null, `trace_id` text not null, `created_by` text null, `created_at` bigint not null, `expires_at` bigint not null, primary key (`project_id`, `id`));
create index `trace_shares_by_creation` on `trace_shares` (`project_id`, `created_at`);
create unique index `trace_shares_by_secret` on `trace_shares` (`secret_hash`);
