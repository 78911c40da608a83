/**
 * A batch is first taken to hold nothing that is stored already: that is nearly always right, spares all reads, and the
 * database refuses the whole of it when it is not.
 */

import { type Append, tracesOf } from './apply.ts';

export type Guess = {
  /** Whether a batch is to be taken so. */
  isNew(appends: readonly Append[]): boolean;
  /** To be called when one was refused. */
  wasWrong(): void;
};

// Re-sent and continued traces come in company: after one it pays to look first for a while.
const CAUTIOUS_BATCHES = 32;

export function createGuess(): Guess {
  let cautiousBatches = 0;
  return {
    isNew(appends) {
      const isCautious = cautiousBatches > 0;
      if (isCautious) cautiousBatches -= 1;
      // What gateways report is about requests that are there already, more often than not.
      return !isCautious && appends.every((append) => tracesOf(append).length > 0);
    },
    wasWrong() {
      cautiousBatches = CAUTIOUS_BATCHES;
    },
  };
}
