/** Every migration of the SQLite schema, oldest first. */

import { readBaseline } from './baseline.ts';
import type { KnownSchemas } from './check-schema.ts';
import { readMigration } from './migration.ts';

/** "SPND": marks a file as a Spandrel database, so that files of other programs are never touched. */
export const APPLICATION_ID = 0x53504e44;

export const SQLITE_SCHEMAS: KnownSchemas = {
  migrations: [
    readMigration('sqlite-0001-initial'),
    readMigration('sqlite-0002-schema-versions', { olderProcesses: 'may run' }),
    readMigration('sqlite-0003-span-nanoseconds', { olderProcesses: 'may run' }),
    // A process of before would store spans without their shares.
    readMigration('sqlite-0004-shares', { olderProcesses: 'must be stopped' }),
    readMigration('sqlite-0005-share-backfill', { olderProcesses: 'may run' }),
    // A process of before would take a large text for an empty one.
    readMigration('sqlite-0006-trace-texts', { olderProcesses: 'must be stopped' }),
    readMigration('sqlite-0007-judge-spending', { olderProcesses: 'may run' }),
    readMigration('sqlite-0008-clock', { olderProcesses: 'may run' }),
    readMigration('sqlite-0009-narrow-indexes', { olderProcesses: 'may run' }),
    readMigration('sqlite-0010-anchor', { olderProcesses: 'may run' }),
    // A process of before would take the number of a large text for the text.
    readMigration('sqlite-0011-large-texts', { olderProcesses: 'must be stopped' }),
  ],
  readBaseline: () => readBaseline('sqlite'),
  unsupported: new Map([
    ['4aa4efb02d509ad9e33142c0edc4971c8bd9edf29b63d314817373f9b224d610', '538dc640 of 22 November 2026'],
    ['e10d8a88aa3441314c077f39cc9626665407be387c330e6241d777cbb25f56d7', 'd647df24 of 23 November 2026'],
  ]),
};
