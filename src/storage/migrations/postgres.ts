/** Every migration of the PostgreSQL schema, oldest first. */

import { initial } from './postgres-0001-initial.ts';
import type { SqlMigration } from './sql-migration.ts';

export const POSTGRES_MIGRATIONS: readonly SqlMigration[] = [initial];
