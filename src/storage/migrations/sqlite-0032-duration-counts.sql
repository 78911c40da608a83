-- Older processes may run.
-- The file of the index counts durations; this database has nothing to change.
SELECT 1;
