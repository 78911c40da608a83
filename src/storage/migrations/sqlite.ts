/** Every migration of the SQLite schema, oldest first. */

import type { SqlMigration } from './sql-migration.ts';
import { initial } from './sqlite-0001-initial.ts';

export { APPLICATION_ID } from './sqlite-0001-initial.ts';

export const SQLITE_MIGRATIONS: readonly SqlMigration[] = [initial];
