/** Every migration of the PostgreSQL schema, oldest first. */

import { readBaseline } from './baseline.ts';
import type { KnownSchemas } from './check-schema.ts';
import { readMigration } from './migration.ts';

export const POSTGRES_SCHEMAS: KnownSchemas = {
  migrations: [
    readMigration('postgres-0001-initial'),
    readMigration('postgres-0002-schema-versions', { olderProcesses: 'may run' }),
    readMigration('postgres-0003-span-nanoseconds', { olderProcesses: 'may run' }),
    // A process of before would store spans without their shares.
    readMigration('postgres-0004-shares', { olderProcesses: 'must be stopped' }),
    readMigration('postgres-0005-share-backfill', { olderProcesses: 'may run' }),
    // A process of before would take a large text for an empty one.
    readMigration('postgres-0006-trace-texts', { olderProcesses: 'must be stopped' }),
    readMigration('postgres-0007-judge-spending', { olderProcesses: 'may run' }),
    readMigration('postgres-0008-clock', { olderProcesses: 'may run' }),
    readMigration('postgres-0009-narrow-indexes', {
      olderProcesses: 'may run',
      laterIndexes: {
        traces_by_start:
          'CREATE INDEX CONCURRENTLY traces_by_start ON traces (project_number, coalesce(started_at, inserted_at)) WHERE coalesce(started_at, inserted_at) IS NOT NULL',
        traces_by_update:
          'CREATE INDEX CONCURRENTLY traces_by_update ON traces (project_number, updated_at) WHERE updated_at IS NOT NULL',
      },
    }),
    readMigration('postgres-0010-anchor', { olderProcesses: 'may run' }),
    readMigration('postgres-0011-large-texts', { olderProcesses: 'may run' }),
  ],
  readBaseline: () => readBaseline('postgres'),
  unsupported: new Map([
    ['8a879fb92390e4f2c361af6a4215d7d76b864b7c81855c21fc1a478900cecfe1', '538dc640 of 22 November 2026'],
    ['faec067817489faf98e1eb3c6be4c07b4763f6aa215db66084289fa02d306f4c', 'd647df24 of 23 November 2026'],
  ]),
};

/** The number of the newest migration: the schema that this build uses. */
export const POSTGRES_SCHEMA_NUMBER = POSTGRES_SCHEMAS.migrations.length;
