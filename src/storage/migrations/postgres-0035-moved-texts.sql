-- Older processes may run.
-- The random name of this database in the ClickHouse that has its texts, and how often it told that what may go; in its only
-- row, once texts were copied.
create table "text_owner" ("owner" text collate "C" not null, "step" bigint not null, primary key ("owner"));
-- How far the texts of a project were copied to ClickHouse and moved there, in the order of the last change of their traces.
create table "text_moves" ("project_number" int not null, "copied_to" bigint not null, "copied_id" text collate "C" not null, "moved_to" bigint not null, "moved_id" text collate "C" not null, primary key ("project_number"));
-- What may go in ClickHouse: a text at a place to which no span refers any more (rows/moved-text.ts), or all texts of a trace.
create table "removed_texts" ("id" bigserial primary key, "place" text null, "project_number" int null, "trace_sequence" bigint null);
CREATE FUNCTION moved_place(stored text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN octet_length(stored) < 513 AND stored LIKE E'\x06%' THEN substring(split_part(stored, E'\n', 1) FROM ' (.*)$') END
$$;
CREATE FUNCTION note_replaced_texts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO removed_texts (place)
    SELECT before FROM (VALUES (moved_place(OLD.input), moved_place(NEW.input)), (moved_place(OLD.output), moved_place(NEW.output)),
      (moved_place(OLD.contexts), moved_place(NEW.contexts))) AS texts (before, after)
    WHERE before IS NOT NULL AND before IS DISTINCT FROM after;
  RETURN NULL;
END $$;
CREATE TRIGGER texts_replaced AFTER UPDATE ON spans FOR EACH ROW
  WHEN (moved_place(OLD.input) IS NOT NULL OR moved_place(OLD.output) IS NOT NULL OR moved_place(OLD.contexts) IS NOT NULL)
  EXECUTE FUNCTION note_replaced_texts();
-- A hidden trace has the negative number of its project.
CREATE FUNCTION note_removed_traces() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO removed_texts (project_number, trace_sequence)
    SELECT abs(gone.project_number), gone.sequence FROM gone JOIN text_moves ON text_moves.project_number = abs(gone.project_number);
  RETURN NULL;
END $$;
CREATE TRIGGER texts_of_removed AFTER DELETE ON traces
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION note_removed_traces();
