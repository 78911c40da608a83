/** What large traces keep of their spans. */

import { APPEND_STATEMENTS } from './postgres-0001-append.ts';
import type { SqlMigration } from './sql-migration.ts';

// Processes of the version before append with this function and know nothing of aggregates: what they change is
// computed anew when it is next needed. Whoever knows of them sets them after it, in the same transaction.
const appendBatch = APPEND_STATEMENTS.filter((statement) => statement.startsWith('CREATE FUNCTION append_batch(')).map(
  (statement) =>
    statement
      .replace('CREATE FUNCTION', 'CREATE OR REPLACE FUNCTION')
      .replace('metadata = changed.metadata,', 'metadata = changed.metadata, aggregates = NULL,'),
);

export const traceAggregates: SqlMigration = {
  name: 'postgres-0006-trace-aggregates',
  // JSON as trace-aggregates.ts has it. Null: the trace is small, or the next append to it computes them.
  statements: ['ALTER TABLE traces ADD COLUMN aggregates text', ...appendBatch],
};
