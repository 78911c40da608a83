-- Older processes may run.
create table `log_records` (`project_number` integer not null, `trace_id` blob not null, `span_id` blob not null, `record_id` text not null, `received_at` bigint not null, `bytes` integer not null, `is_joined` integer not null, `event` text not null, primary key (`project_number`, `trace_id`, `span_id`, `record_id`));
create index `log_records_by_project` on `log_records` (`project_number`, `received_at`, `bytes`);
create index `log_records_by_receipt` on `log_records` (`received_at`);
