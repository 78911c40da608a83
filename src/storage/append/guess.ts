/**
 * Guesses that a batch holds only new rows. The guess is nearly always right and saves all reads; when it is wrong, the
 * database refuses the batch.
 */

import { type Append, tracesOf } from './apply.ts';

export type Guess = {
  /** Whether to write a batch without reading first. */
  isNew(appends: readonly Append[]): boolean;
  /** Call when the database refused such a batch. */
  noteConflict(): void;
};

// Re-sent and continued traces come in clusters: after one, the next batches read first.
const CAUTIOUS_BATCHES = 32;

export function createGuess(): Guess {
  let cautiousBatches = 0;
  return {
    isNew(appends) {
      const isCautious = cautiousBatches > 0;
      if (isCautious) cautiousBatches -= 1;
      // Reports of gateways are mostly about requests that exist.
      return !isCautious && appends.every((append) => tracesOf(append).length > 0);
    },
    noteConflict() {
      cautiousBatches = CAUTIOUS_BATCHES;
    },
  };
}
