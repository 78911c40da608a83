/** What a database knows of its own schema. */

import { bigInteger, flag, instant, integer, table, text } from './kinds.ts';

/** One row for each migration that was applied, in the order of their numbers. */
export const SchemaVersion = table('SchemaVersion', 'schema_versions', {
  number: integer().primary().autoincrement(false),
  name: text(),
  // SHA-256 of what the migration did.
  textHash: text(),
  // The whole schema right after it, one line for each part, and the SHA-256 of these lines.
  description: text(),
  fingerprint: text(),
  // The lowest number of a schema whose processes may use the database from here on.
  servesFrom: integer(),
  // False while indexes that are built after the script are missing.
  isComplete: flag(),
});

/** One row for each rewriting of stored data that a migration has begun and that runs in the background. */
export const BackfillRow = table('Backfill', 'backfills', {
  name: text().primary(),
  // Where it goes on; empty at its beginning.
  cursor: text(),
  rowsDone: bigInteger(),
  finishedAtMs: instant('finished_at').strictNullable(),
  // Until then no other process takes it. The fence makes late results of an earlier claim void.
  leasedUntilMs: instant('leased_until'),
  fence: bigInteger(),
});
