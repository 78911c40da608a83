/** The first schema on PostgreSQL. */

import { APPEND_STATEMENTS } from './postgres-0001-append.ts';
import { ORGANIZATION_STATEMENTS } from './postgres-0001-organization.ts';
import { TRACE_STATEMENTS } from './postgres-0001-traces.ts';
import type { SqlMigration } from './sql-migration.ts';

export const initial: SqlMigration = {
  name: 'postgres-0001-initial',
  statements: [...ORGANIZATION_STATEMENTS, ...TRACE_STATEMENTS, ...APPEND_STATEMENTS],
};
