-- Older processes may run.
create table `dashboards` (`project_id` text not null, `id` text not null, `name` text not null, `place` integer not null, `created_at` bigint not null, `updated_at` bigint not null, primary key (`project_id`, `id`));
create table `graphs` (`project_id` text not null, `id` text not null, `dashboard_id` text null, `name` text not null, `graph` text not null, `filters` text not null, `grid_column` integer not null, `grid_row` integer not null, `col_span` integer not null, `row_span` integer not null, `created_at` bigint not null, `updated_at` bigint not null, primary key (`project_id`, `id`));
create index `graphs_by_dashboard` on `graphs` (`project_id`, `dashboard_id`);
