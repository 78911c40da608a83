/** The group commit: everything that came while the last commit ran becomes one transaction. */

import type { Clock } from '../../domain/clock.ts';
import type { TraceAppend } from '../../domain/trace.ts';
import type { Database } from './connection.ts';
import { isStorageFailure } from './failures.ts';
import { prepareLogHeads } from './log-heads.ts';
import { prepareTraceWriter } from './trace-writer.ts';

/** What became of one append: null when all is said with that it is stored, notes of the merge, or why it failed. */
export type AppendOutcome = null | readonly string[] | Error;

export type AppendBatch = (appends: readonly TraceAppend[]) => readonly AppendOutcome[];

/** Throws when the storage fails, and then nothing of the batch is stored. */
export function prepareAppendBatch(db: Database, clock: Clock): AppendBatch {
  const writer = prepareTraceWriter(db);
  const beginHeads = prepareLogHeads(db, clock);
  const applyTogether = db.transaction((appends: readonly TraceAppend[]): AppendOutcome[] => {
    const heads = beginHeads();
    const outcomes = appends.map((append) => toOutcome(writer.apply(append, heads)));
    heads.flush();
    return outcomes;
  });
  // Inside another transaction this becomes a savepoint: what fails is undone alone.
  const applyAlone = db.transaction((append: TraceAppend): AppendOutcome => {
    const heads = beginHeads();
    const outcome = toOutcome(writer.apply(append, heads));
    heads.flush();
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

function toOutcome(notes: readonly string[]): AppendOutcome {
  return notes.length === 0 ? null : notes;
}
