/** What large traces keep of their spans. */

import type { SqlMigration } from './sql-migration.ts';

export const traceAggregates: SqlMigration = {
  name: 'sqlite-0007-trace-aggregates',
  // JSON as trace-aggregates.ts has it. Null: the trace is small, or the next append to it computes them.
  statements: ['ALTER TABLE traces ADD COLUMN aggregates TEXT'],
};
