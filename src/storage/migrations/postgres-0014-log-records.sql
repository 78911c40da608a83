-- Older processes may run.
create table "log_records" ("project_number" int not null, "trace_id" text collate "C" not null, "span_id" text collate "C" not null, "record_id" text collate "C" not null, "received_at" bigint not null, "bytes" int not null, "is_joined" boolean not null, "event" text not null, primary key ("project_number", "trace_id", "span_id", "record_id"));
create index "log_records_by_project" on "log_records" ("project_number", "received_at", "bytes");
create index "log_records_by_receipt" on "log_records" ("received_at");
