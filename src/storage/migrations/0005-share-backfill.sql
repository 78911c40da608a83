-- Older processes may run.
-- Spans that were stored before shares existed get what shares need in the background.
INSERT INTO backfills (name, cursor, rows_done, finished_at, leased_until, fence)
SELECT 'trace-shares', '', 0, NULL, 0, 0 WHERE EXISTS (SELECT 1 FROM traces);
