/** Every migration of the PostgreSQL schema, oldest first. */

import { readBaseline } from './baseline.ts';
import type { KnownSchemas } from './check-schema.ts';
import { readMigrations } from './migration.ts';

export const POSTGRES_SCHEMAS: KnownSchemas = {
  migrations: readMigrations('postgres'),
  readBaseline: () => readBaseline('postgres'),
  unsupported: new Map([
    ['8a879fb92390e4f2c361af6a4215d7d76b864b7c81855c21fc1a478900cecfe1', '538dc640 of 22 November 2026'],
    ['faec067817489faf98e1eb3c6be4c07b4763f6aa215db66084289fa02d306f4c', 'd647df24 of 23 November 2026'],
  ]),
};

/** The number of the newest migration: the schema that this build uses. */
export const POSTGRES_SCHEMA_NUMBER = POSTGRES_SCHEMAS.migrations.length;
