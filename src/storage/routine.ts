/**
 * Work inside of a transaction that is written once for both stores: a generator that says what it asks and is handed
 * the answer, at once on SQLite and later on PostgreSQL.
 */

import type { Change, Question } from './questions.ts';

export type Routine<Result> = Generator<Said, Result, Answer>;

export type Said = { readonly text: string; readonly cells: unknown[]; readonly isQuestion: boolean };

/** The rows of a question as the store hands them over, or how many a change has changed. */
export type Answer = { readonly rows: readonly never[]; readonly changes: number };

export function* ask<Params, Row>({ text, cells, row }: Question<Params, Row>, given: Params): Routine<readonly Row[]> {
  const { rows } = yield { text, cells: cells(given), isQuestion: true };
  return rows.map(row);
}

/** Answers how many rows it changed. */
export function* change<Params>({ text, cells }: Change<Params>, given: Params): Routine<number> {
  const { changes } = yield { text, cells: cells(given), isQuestion: false };
  return changes;
}
