-- Older processes may run.
DROP INDEX traces_by_any_start;
DROP INDEX traces_by_any_update;
ALTER TABLE traces ADD COLUMN anchor_at bigint;
ALTER TABLE spans ADD COLUMN version int;
