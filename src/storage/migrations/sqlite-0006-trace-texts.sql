-- Older processes must be stopped: they would take a large text for an empty one.
ALTER TABLE traces ADD COLUMN metadata_bytes integer;
ALTER TABLE traces ADD COLUMN expected_output_is_apart integer;
create table "trace_texts" ("project_number" integer not null, "trace_sequence" bigint not null, "name" text not null, "text" text not null, primary key ("project_number", "trace_sequence", "name"));
