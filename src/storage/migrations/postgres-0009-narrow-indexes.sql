-- Older processes may run.
-- The indexes that take their place are built while others write; the next migration drops these.
ALTER INDEX traces_by_start RENAME TO traces_by_any_start;
ALTER INDEX traces_by_update RENAME TO traces_by_any_update;
CREATE INDEX CONCURRENTLY traces_by_start ON traces (project_number, coalesce(started_at, inserted_at)) WHERE coalesce(started_at, inserted_at) IS NOT NULL;
CREATE INDEX CONCURRENTLY traces_by_update ON traces (project_number, updated_at) WHERE updated_at IS NOT NULL;
