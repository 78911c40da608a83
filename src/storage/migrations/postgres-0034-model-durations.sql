-- Older processes may run.
-- The durations of the spans of a trace, each with its model and its kind, and the update of the trace they are of: older
-- processes leave all four as they are when they index a trace.
ALTER TABLE indexed_traces ADD COLUMN durations_at bigint,
  ADD COLUMN duration_models bigint[], ADD COLUMN duration_kinds smallint[], ADD COLUMN duration_values bigint[];
-- How many spans of a day have a duration in a bucket.
create table "indexed_model_durations" ("project_number" int not null, "day" int not null, "model" bigint not null, "is_first_token" boolean not null, "bucket" int not null, "spans" bigint not null, "inserted_from" bigint not null, primary key ("project_number", "day", "model", "is_first_token", "bucket"));
CREATE FUNCTION count_model_durations() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO indexed_model_durations AS known (project_number, day, model, is_first_token, bucket, spans, inserted_from)
    SELECT project_number, day, model, kind = 1, bucket_of(value), sum(spans) * TG_ARGV[0]::integer, min(inserted_from) FROM (
      SELECT project_number, floor(started_at / 86400000.0)::integer AS day, model, kind, value, count(*) AS spans, min(inserted_at) AS inserted_from
      FROM changed CROSS JOIN LATERAL unnest(duration_models, duration_kinds, duration_values) AS durations (model, kind, value)
      GROUP BY 1, 2, 3, 4, 5) AS of_values
    GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
    ON CONFLICT (project_number, day, model, is_first_token, bucket) DO UPDATE
      SET spans = known.spans + excluded.spans, inserted_from = least(known.inserted_from, excluded.inserted_from);
  IF TG_ARGV[0]::integer < 0 THEN
    DELETE FROM indexed_model_durations AS known USING (
      SELECT DISTINCT project_number, floor(started_at / 86400000.0)::integer AS day, model
      FROM changed CROSS JOIN LATERAL unnest(duration_models) AS models (model)) AS touched
    WHERE known.project_number = touched.project_number AND known.day = touched.day AND known.model = touched.model
      AND known.spans = 0;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER count_models_added AFTER INSERT ON indexed_traces
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_model_durations('1');
CREATE TRIGGER count_models_removed AFTER DELETE ON indexed_traces
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_model_durations('-1');
CREATE TRIGGER count_models_replaced AFTER UPDATE ON indexed_traces
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_model_durations('-1');
CREATE TRIGGER count_models_replacing AFTER UPDATE ON indexed_traces
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_model_durations('1');
CREATE INDEX CONCURRENTLY indexed_traces_without_durations ON indexed_traces (project_number, trace_sequence) WHERE durations_at IS DISTINCT FROM updated_at;
