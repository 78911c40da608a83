/** Every migration of the SQLite schema, oldest first. */

import { SCHEMA } from '../../../gen/storage/sqlite/schema.ts';
import type { SqlMigration } from './sql-migration.ts';

/** "SPND": marks a file as a Spandrel database, so that files of other programs are never touched. */
export const APPLICATION_ID = 0x53504e44;

export const SQLITE_MIGRATIONS: readonly SqlMigration[] = [
  {
    name: 'sqlite-0001-initial',
    statements: [
      `PRAGMA application_id = ${APPLICATION_ID}`,
      ...SCHEMA,
      'INSERT INTO webhook_changes (id, number) VALUES (1, 0)',
      'INSERT INTO indexed_requests (id, sequence) VALUES (1, 0)',
    ],
  },
  {
    name: 'sqlite-0002-shares',
    statements: [
      'ALTER TABLE spans ADD COLUMN call_row bigint',
      'ALTER TABLE spans ADD COLUMN total_input bigint',
      'ALTER TABLE spans ADD COLUMN total_output bigint',
      'ALTER TABLE spans ADD COLUMN share_rates text',
      'ALTER TABLE spans ADD COLUMN shared_request_id text',
      'create table "usage_nodes" ("project_number" integer not null, "trace_sequence" bigint not null, "span_id" blob not null, "node" text not null, primary key ("project_number", "trace_sequence", "span_id")) without rowid',
    ],
  },
];
