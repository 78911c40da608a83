-- Older processes may run.
-- How many traces of a day have a duration in a bucket: of src/domain/number-buckets.ts. The database counts what is indexed.
create table "indexed_durations" ("project_number" int not null, "day" int not null, "name" text collate "C" not null, "bucket" int not null, "traces" bigint not null, "inserted_from" bigint not null, primary key ("project_number", "day", "name", "bucket"));
CREATE FUNCTION bucket_of(value bigint) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
  SELECT (octaves * 64 + (greatest(value, 0) >> octaves))::integer
  FROM (SELECT greatest(0, length(ltrim(greatest(value, 0)::bit(64)::text, '0')) - 7) AS octaves) AS of_value
$$;
CREATE FUNCTION count_durations() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO indexed_durations AS known (project_number, day, name, bucket, traces, inserted_from)
    SELECT project_number, floor(started_at / 86400000.0)::integer, name, bucket_of(value), count(*) * TG_ARGV[0]::integer, min(inserted_at)
    FROM changed CROSS JOIN LATERAL (VALUES ('total_time_ms', total_time_ms), ('first_token_ms', first_token_ms)) AS durations (name, value)
    WHERE value IS NOT NULL GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
    ON CONFLICT (project_number, day, name, bucket) DO UPDATE
      SET traces = known.traces + excluded.traces, inserted_from = least(known.inserted_from, excluded.inserted_from);
  IF TG_ARGV[0]::integer < 0 THEN
    DELETE FROM indexed_durations AS known USING (
      SELECT DISTINCT project_number, floor(started_at / 86400000.0)::integer AS day FROM changed) AS days
    WHERE known.project_number = days.project_number AND known.day = days.day AND known.traces = 0;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER count_added AFTER INSERT ON indexed_traces
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_durations('1');
CREATE TRIGGER count_removed AFTER DELETE ON indexed_traces
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_durations('-1');
CREATE TRIGGER count_replaced AFTER UPDATE ON indexed_traces
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_durations('-1');
CREATE TRIGGER count_replacing AFTER UPDATE ON indexed_traces
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_durations('1');
INSERT INTO indexed_durations (project_number, day, name, bucket, traces, inserted_from)
  SELECT project_number, floor(started_at / 86400000.0)::integer, name, bucket_of(value), count(*), min(inserted_at)
  FROM indexed_traces CROSS JOIN LATERAL (VALUES ('total_time_ms', total_time_ms), ('first_token_ms', first_token_ms)) AS durations (name, value)
  WHERE value IS NOT NULL GROUP BY 1, 2, 3, 4;
