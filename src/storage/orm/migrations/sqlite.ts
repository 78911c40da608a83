/** Every migration of the SQLite schema, oldest first. */

import type { SqlMigration } from './sql-migration.ts';
import { initial } from './sqlite-0001-initial.ts';
import { traceRetention } from './sqlite-0002-trace-retention.ts';
import { management } from './sqlite-0003-management.ts';
import { gateway } from './sqlite-0005-gateway.ts';
import { webhooks } from './sqlite-0006-webhooks.ts';
import { traceAggregates } from './sqlite-0007-trace-aggregates.ts';
import { corrections } from './sqlite-0008-corrections.ts';
import { evaluatorDeletion } from './sqlite-0009-evaluator-deletion.ts';

export { APPLICATION_ID } from './sqlite-0001-initial.ts';

export const SQLITE_MIGRATIONS: readonly SqlMigration[] = [
  initial,
  traceRetention,
  management,
  gateway,
  webhooks,
  traceAggregates,
  corrections,
  evaluatorDeletion,
];
