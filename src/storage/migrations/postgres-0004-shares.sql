-- Older processes must be stopped: they would store spans without their shares.
ALTER TABLE spans ADD COLUMN call_row bigint;
ALTER TABLE spans ADD COLUMN total_input bigint;
ALTER TABLE spans ADD COLUMN total_output bigint;
ALTER TABLE spans ADD COLUMN share_rates text;
ALTER TABLE spans ADD COLUMN shared_request_id text;
create table "usage_nodes" ("project_number" int not null, "trace_sequence" bigint not null, "span_id" text collate "C" not null, "node" text not null, primary key ("project_number", "trace_sequence", "span_id")) with (fillfactor = 70);
-- Aggregates of large traces have other members now: the next search or read computes them from the spans.
UPDATE traces SET aggregates = '{"outdated":"upgrade","hasNodes":false}' WHERE span_count > 200 AND aggregates IS NOT NULL;
