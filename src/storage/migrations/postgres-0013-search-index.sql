-- Older processes must be stopped: they write to the tables of the index that goes.
-- The index of searches is built anew, in a table that the database searches by itself.
DROP TABLE search_parts, search_facets, search_blocks, search_heads;
create table "indexed_traces" ("project_number" int not null, "trace_sequence" bigint not null, "trace_id" text collate "C" not null, "started_at" bigint not null, "updated_at" bigint not null, "inserted_at" bigint not null, "total_time_ms" bigint null, "total_cost_nano_usd" bigint null, "total_tokens" bigint null, "first_token_ms" bigint null, "span_count" int not null, "has_error" boolean not null, "prompt_tokens" bigint null, "completion_tokens" bigint null, "user_value" bigint null, "customer_value" bigint null, "thread_value" bigint null, "labels" bigint[] not null, "facets" bigint[] not null, "triples" smallint[] not null, primary key ("project_number", "trace_sequence"));
-- Triples are too random to compress, and those of one text come together, of which statistics know nothing.
alter table "indexed_traces" alter "triples" set storage external, alter "triples" set statistics 0;
create index "indexed_traces_by_start" on "indexed_traces" ("project_number", "started_at");
create index "indexed_traces_by_update" on "indexed_traces" ("project_number", "updated_at");
create index "indexed_traces_by_duration" on "indexed_traces" ("project_number", "total_time_ms");
create index "indexed_traces_by_cost" on "indexed_traces" ("project_number", "total_cost_nano_usd");
create index "indexed_traces_by_first_token" on "indexed_traces" ("project_number", "first_token_ms");
create index "indexed_traces_by_term" on "indexed_traces" using gin ("facets", "triples");
DELETE FROM search_pending;
INSERT INTO search_pending (project_number, trace_sequence, mark) SELECT project_number, sequence, 1 FROM traces;
