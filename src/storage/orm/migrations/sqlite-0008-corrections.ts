/** Of requests whose outcome was told anew more than once. */

import type { SqlMigration } from './sql-migration.ts';

export const corrections: SqlMigration = {
  name: 'sqlite-0008-corrections',
  // The places in the log of all corrections before the last, as a JSON list, oldest first; null when there are none.
  statements: ['ALTER TABLE requests ADD COLUMN earlier_corrections TEXT'],
};
