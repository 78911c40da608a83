-- The indexes that take their place are built while others write; the next migration drops these.
ALTER INDEX traces_by_start RENAME TO traces_by_any_start;
ALTER INDEX traces_by_update RENAME TO traces_by_any_update;
