-- Older processes may run.
drop index `trigger_firings_by_age`;
create index `trigger_firings_by_trace` on `trigger_firings` (`project_id`, `trace_id`);
create index `feedback_events_by_id` on `feedback_events` (`project_number`, `event_id`) where content_id is null;
drop index `trigger_events_by_due`;
create index `trigger_events_by_due` on `trigger_events` (`project_id`, `due_at`) where due_at is not null;
