-- Older processes may run.
create table `annotations` (`project_number` integer not null, `id` text not null, `trace_id` blob not null, `span_id` blob null, `anchor_kind` text not null, `anchor_path` text null, `is_thumbs_up` integer null, `user_id` text null, `email` text null, `created_at` bigint not null, `updated_at` bigint not null, `comment` text not null, `scores` text not null, `expected_output` text null, primary key (`project_number`, `id`));
create index `annotations_by_trace` on `annotations` (`project_number`, `trace_id`);
create index `annotations_by_creation` on `annotations` (`project_number`, `created_at`, `id`);
create table `annotation_scores` (`project_number` integer not null, `id` text not null, `name` text not null, `data_type` text not null, `options` text not null, `min` double null, `max` double null, `active` integer not null, `created_at` bigint not null, `updated_at` bigint not null, `deleted_at` bigint null, primary key (`project_number`, `id`));
create unique index `annotation_scores_by_live_name` on `annotation_scores` (`project_number`, `name`) where deleted_at is null;
create table `annotation_queues` (`project_number` integer not null, `id` text not null, `name` text not null, `description` text not null, `score_ids` text not null, `created_at` bigint not null, `updated_at` bigint not null, primary key (`project_number`, `id`));
create unique index `annotation_queues_by_name` on `annotation_queues` (`project_number`, `name`);
create table `annotation_queue_items` (`project_number` integer not null, `queue_id` text not null, `id` text not null, `trace_id` blob not null, `added_at` bigint not null, `claimed_by` text null, `claimed_until` bigint not null, `done_by` text null, `done_at` bigint null, primary key (`project_number`, `queue_id`, `id`));
create unique index `annotation_queue_items_by_trace` on `annotation_queue_items` (`project_number`, `trace_id`, `queue_id`);
create index `annotation_queue_items_open` on `annotation_queue_items` (`project_number`, `queue_id`, `added_at`, `id`) where done_at is null;
