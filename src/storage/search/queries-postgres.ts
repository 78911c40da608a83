/** Queries of the index of traces on PostgreSQL alone. */

import { replaceMany } from '../plain-queries.ts';
import { changeRows, type PostgresDb, type PostgresTables } from '../queries.ts';

export const replaceIndexed = replaceMany<'IndexedTrace', PostgresTables>('IndexedTrace');

export const removeIndexed = changeRows<{ readonly projectNumber: number; readonly sequence: number }>(
  (db, { projectNumber, sequence }) =>
    (db as unknown as PostgresDb)
      .deleteFrom('IndexedTrace')
      .where('projectNumber', '=', projectNumber)
      .where('traceSequence', '=', sequence),
);
