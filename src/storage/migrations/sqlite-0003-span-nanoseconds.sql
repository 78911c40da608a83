-- Older processes may run.
ALTER TABLE spans ADD COLUMN started_ns integer;
ALTER TABLE spans ADD COLUMN finished_ns integer;
