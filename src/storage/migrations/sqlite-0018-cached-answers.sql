-- Older processes may run.
create table `cached_answers` (`project_number` integer not null, `hash` blob not null, `stored_at` bigint not null, `expires_at` bigint not null, `weight` bigint not null, `content_type` text not null, `model` text not null, `provider_id` text not null, `body` blob not null, primary key (`project_number`, `hash`));
create index `cached_answers_by_age` on `cached_answers` (`project_number`, `stored_at`, `hash`);
create index `cached_answers_by_expiry` on `cached_answers` (`expires_at`);
create table `cached_bytes` (`project_number` integer not null, `weight` bigint not null, primary key (`project_number`)) without rowid;
