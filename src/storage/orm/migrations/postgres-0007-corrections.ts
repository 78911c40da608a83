/** Of requests whose outcome was told anew more than once. */

import type { SqlMigration } from './sql-migration.ts';

export const corrections: SqlMigration = {
  name: 'postgres-0007-corrections',
  // When all corrections before the last were created, as numbers joined by
  // commas, oldest first; null when there are none. append_batch knows
  // nothing of it: it is set after, in the same transaction.
  statements: ['ALTER TABLE requests ADD COLUMN earlier_corrections text'],
};
