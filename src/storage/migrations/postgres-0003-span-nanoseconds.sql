-- Older processes may run.
ALTER TABLE spans ADD COLUMN started_ns int;
ALTER TABLE spans ADD COLUMN finished_ns int;
