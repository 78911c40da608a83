/** Every migration of the SQLite schema, oldest first. */

import { readBaseline } from './baseline.ts';
import type { KnownSchemas } from './check-schema.ts';
import { readMigrations } from './migration.ts';

/** "SPND": marks a file as a Spandrel database, so that files of other programs are never touched. */
export const APPLICATION_ID = 0x53504e44;

export const SQLITE_SCHEMAS: KnownSchemas = {
  migrations: readMigrations('sqlite'),
  readBaseline: () => readBaseline('sqlite'),
  unsupported: new Map([
    ['4aa4efb02d509ad9e33142c0edc4971c8bd9edf29b63d314817373f9b224d610', '538dc640 of 22 November 2026'],
    ['e10d8a88aa3441314c077f39cc9626665407be387c330e6241d777cbb25f56d7', 'd647df24 of 23 November 2026'],
  ]),
};
