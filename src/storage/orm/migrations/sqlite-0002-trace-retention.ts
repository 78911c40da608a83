/** How long projects keep their traces. */

import type { SqlMigration } from './sql-migration.ts';

export const traceRetention: SqlMigration = {
  name: 'sqlite-0002-trace-retention',
  // Null: the project never chose. 0: it keeps them for ever.
  statements: ['ALTER TABLE projects ADD COLUMN trace_retention_days INTEGER'],
};
