-- Older processes may run.
create table `budgets` (`organization_id` text not null, `id` text not null, `name` text not null, `scope_kind` text not null, `scope_id` text not null, `template` text null, `budget_window` text not null, `limit_nano_usd` bigint not null, `on_breach` text not null, `provider_id` text null, `reserve` text not null, `cycle_anchor_at` bigint not null, `reset_at` bigint null, `reset_reason` text null, `archived_at` bigint null, `created_at` bigint not null, `updated_at` bigint not null, primary key (`organization_id`, `id`), constraint `budgets_organization_id_foreign` foreign key (`organization_id`) references `organizations` (`id`));
create index `budgets_by_age` on `budgets` (`organization_id`, `created_at`, `id`);
create table `budget_buckets` (`organization_number` integer not null, `budget_id` text not null, `period_started_at` bigint not null, `subject` text not null, `period_ends_at` bigint null, `spent_nano_usd` bigint not null, `leased_nano_usd` bigint not null, `marks` integer not null, primary key (`organization_number`, `budget_id`, `period_started_at`, `subject`)) without rowid;
create index `budget_buckets_by_end` on `budget_buckets` (`period_ends_at`);
alter table `organizations` add column `budget_version` bigint not null default '0';
alter table `requests` add column `charges` text null;
