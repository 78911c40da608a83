/** Evaluators that are deleted: kept, while their slugs are free again. */

import type { SqlMigration } from './sql-migration.ts';

export const evaluatorDeletion: SqlMigration = {
  name: 'sqlite-0009-evaluator-deletion',
  statements: [
    'ALTER TABLE evaluators ADD COLUMN deleted_at INTEGER',
    'DROP INDEX evaluators_by_slug',
    'CREATE UNIQUE INDEX evaluators_by_live_slug ON evaluators (project_id, slug) WHERE deleted_at IS NULL',
  ],
};
