/** The group commit: everything that came while the last commit ran becomes one transaction. */

import type { Clock } from '../../domain/clock.ts';
import type { TraceAppend } from '../../domain/trace.ts';
import { applyAppend } from '../append/apply-append.ts';
import { type AppendOutcome, outcomeOf } from '../append/commit-queue.ts';
import { prepareAppendTables } from './append-tables.ts';
import type { Database } from './connection.ts';
import { isStorageFailure } from './failures.ts';

export type AppendBatch = (appends: readonly TraceAppend[]) => readonly AppendOutcome[];

/** Throws when the storage fails, and then nothing of the batch is stored. */
export function prepareAppendBatch(db: Database, clock: Clock): AppendBatch {
  const begin = prepareAppendTables(db, clock);
  const applyTogether = db.transaction((appends: readonly TraceAppend[]): AppendOutcome[] => {
    const tables = begin();
    const outcomes = appends.map((append) => outcomeOf(applyAppend(tables, append)));
    tables.flush();
    return outcomes;
  });
  // Inside another transaction this becomes a savepoint: what fails is undone alone.
  const applyAlone = db.transaction((append: TraceAppend): AppendOutcome => {
    const tables = begin();
    const outcome = outcomeOf(applyAppend(tables, append));
    tables.flush();
    return outcome;
  });
  const applyEach = db.transaction((appends: readonly TraceAppend[]): AppendOutcome[] =>
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
