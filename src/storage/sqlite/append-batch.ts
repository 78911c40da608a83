/** The group commit: everything that came while the last commit ran becomes one transaction. */

import type { Clock } from '../../domain/clock.ts';
import { type Append, type AppendOutcome, apply } from '../append/apply.ts';
import { prepareAppendTables } from './append-tables.ts';
import type { Database } from './connection.ts';
import { isStorageFailure } from './failures.ts';

export type AppendBatch = (appends: readonly Append[]) => readonly AppendOutcome[];

/** Throws when the storage fails, and then nothing of the batch is stored. */
export function prepareAppendBatch(db: Database, clock: Clock): AppendBatch {
  const begin = prepareAppendTables(db, clock);
  const applyTogether = db.transaction((appends: readonly Append[]): AppendOutcome[] => {
    const tables = begin();
    const outcomes = appends.map((append) => apply(tables, append));
    tables.flush();
    return outcomes;
  });
  // Inside another transaction this becomes a savepoint: what fails is undone alone.
  const applyAlone = db.transaction((append: Append): AppendOutcome => {
    const tables = begin();
    const outcome = apply(tables, append);
    tables.flush();
    return outcome;
  });
  const applyEach = db.transaction((appends: readonly Append[]): AppendOutcome[] =>
    appends.map((append) => {
      try {
        return applyAlone(append);
      } catch (error) {
        if (isStorageFailure(error)) throw error;
        return error instanceof Error ? error : new Error(String(error));
      }
    }),
  );
  return (appends) => {
    try {
      return applyTogether.immediate(appends);
    } catch (error) {
      if (isStorageFailure(error)) throw error;
      // One of them cannot be stored; the others must not pay for it.
      return applyEach.immediate(appends);
    }
  };
}
