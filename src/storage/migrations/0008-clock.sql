-- Older processes may run.
-- How often the end of the log was ahead of the clock, and went back to it.
ALTER TABLE log_heads ADD COLUMN resets integer NOT NULL DEFAULT 0;
-- The newest instant that was certain to have come.
ALTER TABLE installation ADD COLUMN trusted_at bigint;
