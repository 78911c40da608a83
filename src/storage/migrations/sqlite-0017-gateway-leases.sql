-- Older processes may run.
create table `budget_leases` (`organization_number` integer not null, `budget_id` text not null, `period_started_at` bigint not null, `subject` text not null, `process_id` text not null, `fence` integer not null, `nano_usd` bigint not null, `renewed_at` bigint not null, primary key (`organization_number`, `budget_id`, `period_started_at`, `subject`, `process_id`, `fence`)) without rowid;
create index `budget_leases_by_process` on `budget_leases` (`process_id`);
create table `rate_buckets` (`organization_number` integer not null, `virtual_key_id` text not null, `dimension` text not null, `level` bigint not null, `filled_at` bigint not null, primary key (`organization_number`, `virtual_key_id`, `dimension`)) without rowid;
