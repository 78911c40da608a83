-- Older processes may run.
create table "feedback_events" ("project_number" int not null, "trace_id" text collate "C" not null, "event_id" text collate "C" not null, "type" text collate "C" not null, "occurred_at" bigint not null, "received_at" bigint not null, "content_id" text collate "C" null, "bytes" int not null, "is_waiting" boolean not null, "metrics" text not null, "details" text not null, primary key ("project_number", "trace_id", "event_id"));
create index "feedback_events_by_receipt" on "feedback_events" ("project_number", "received_at", "trace_id", "event_id");
create index "waiting_feedback_events" on "feedback_events" ("received_at") where is_waiting = true;
