-- Older processes may run.
ALTER TABLE traces ADD COLUMN anchor_at bigint;
ALTER TABLE spans ADD COLUMN version integer;
