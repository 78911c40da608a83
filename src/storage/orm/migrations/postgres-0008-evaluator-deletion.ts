/** Evaluators that are deleted: kept, while their slugs are free again. */

import type { SqlMigration } from './sql-migration.ts';

export const evaluatorDeletion: SqlMigration = {
  name: 'postgres-0008-evaluator-deletion',
  // Processes of the version before know of no deletion: they go on seeing what is deleted, and never take its slug, for
  // they count before they insert. What keeps slugs unique among the living is there before the wider index goes.
  statements: [
    'ALTER TABLE evaluators ADD COLUMN deleted_at bigint',
    'CREATE UNIQUE INDEX evaluators_by_live_slug ON evaluators (project_id, slug) WHERE deleted_at IS NULL',
    'DROP INDEX evaluators_by_slug',
  ],
};
