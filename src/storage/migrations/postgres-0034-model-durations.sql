-- Older processes may run.
-- The durations of the spans of a trace, each with its model and its kind, and the update of the trace they are of: older
-- processes leave all four as they are when they index a trace.
ALTER TABLE indexed_traces ADD COLUMN durations_at bigint,
  ADD COLUMN duration_models bigint[], ADD COLUMN duration_kinds smallint[], ADD COLUMN duration_values bigint[];
-- The same as before, in a form that the database computes in place: how many octaves begin at the value or below it.
CREATE OR REPLACE FUNCTION bucket_of(value bigint) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
  SELECT (width_bucket(greatest(value, 0), '{128,256,512,1024,2048,4096,8192,16384,32768,65536,131072,262144,524288,1048576,2097152,4194304,8388608,16777216,33554432,67108864,134217728,268435456,536870912,1073741824,2147483648,4294967296,8589934592,17179869184,34359738368,68719476736,137438953472,274877906944,549755813888,1099511627776,2199023255552,4398046511104,8796093022208,17592186044416,35184372088832,70368744177664,140737488355328,281474976710656,562949953421312,1125899906842624,2251799813685248,4503599627370496,9007199254740992,18014398509481984,36028797018963968,72057594037927936,144115188075855872,288230376151711744,576460752303423488,1152921504606846976,2305843009213693952,4611686018427387904}'::bigint[]) * 64
    + (greatest(value, 0) >> width_bucket(greatest(value, 0), '{128,256,512,1024,2048,4096,8192,16384,32768,65536,131072,262144,524288,1048576,2097152,4194304,8388608,16777216,33554432,67108864,134217728,268435456,536870912,1073741824,2147483648,4294967296,8589934592,17179869184,34359738368,68719476736,137438953472,274877906944,549755813888,1099511627776,2199023255552,4398046511104,8796093022208,17592186044416,35184372088832,70368744177664,140737488355328,281474976710656,562949953421312,1125899906842624,2251799813685248,4503599627370496,9007199254740992,18014398509481984,36028797018963968,72057594037927936,144115188075855872,288230376151711744,576460752303423488,1152921504606846976,2305843009213693952,4611686018427387904}'::bigint[])))::integer
$$;
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
