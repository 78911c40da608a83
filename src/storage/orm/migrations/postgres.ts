/** Every migration of the PostgreSQL schema, oldest first. */

import { initial } from './postgres-0001-initial.ts';
import { management } from './postgres-0002-management.ts';
import { gateway } from './postgres-0004-gateway.ts';
import { webhooks } from './postgres-0005-webhooks.ts';
import { traceAggregates } from './postgres-0006-trace-aggregates.ts';
import { corrections } from './postgres-0007-corrections.ts';
import { evaluatorDeletion } from './postgres-0008-evaluator-deletion.ts';
import type { SqlMigration } from './sql-migration.ts';

export const POSTGRES_MIGRATIONS: readonly SqlMigration[] = [
  initial,
  management,
  gateway,
  webhooks,
  traceAggregates,
  corrections,
  evaluatorDeletion,
];
