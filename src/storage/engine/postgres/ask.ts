/** Compiled questions as prepared statements of a lane. */

import type { Ask, Asking, Question } from '../../questions.ts';
import type { Lane } from './connection.ts';
import { isGivenUp, isStorageFailure, storageFault } from './failures.ts';

// PostgreSQL refuses it in text, so nothing that is stored has it.
const NUL = '\u0000';
const IDS_AT_ONCE = 250;
const ROWS_PER_PART = 2000;

export function createAsk(lane: Lane): Ask {
  return async ({ name, text, cells, row }, given) => {
    const values = knowableCells(cells(given));
    return values === null ? [] : (await lane.ask<never>({ name, text }, values)).map(row);
  };
}

export function createAsking<Questions>(lane: Lane, questions: Questions): Asking<Questions> {
  return {
    questions,
    ask: createAsk(lane),
    idsAtOnce: IDS_AT_ONCE,
    pointsAtOnce: IDS_AT_ONCE,
  };
}

export type PartsOf<Params, Row> = {
  readonly question: Question<Params, Row>;
  readonly given: Params;
  readonly take: (row: Row) => void;
};

/** Where there may be very many rows: found once, then handed over in parts, with room for others in between. */
export async function askInParts<Params, Row>(
  lane: Lane,
  { question, given, take }: PartsOf<Params, Row>,
): Promise<void> {
  const values = knowableCells(question.cells(given));
  if (values === null) return;
  try {
    await lane.hold(async (client) => {
      await client.query('BEGIN READ ONLY');
      await client.query({ text: `DECLARE parts CURSOR FOR ${question.text}`, values });
      for (;;) {
        const { rows } = await client.query<never>(`FETCH ${ROWS_PER_PART} FROM parts`);
        for (const row of rows) take(question.row(row));
        if (rows.length < ROWS_PER_PART) break;
      }
      await client.query('COMMIT');
    });
  } catch (error) {
    throw isStorageFailure(error) || isGivenUp(error) ? storageFault(error) : error;
  }
}

/** Of what is looked for; null when nothing can be found. */
export function knowableCells(cells: readonly unknown[]): unknown[] | null {
  if (cells.some(holdsNul)) return null;
  return cells.map((cell) => (Array.isArray(cell) ? cell.filter((one) => !holdsNul(one)) : cell));
}

function holdsNul(cell: unknown): boolean {
  return typeof cell === 'string' && cell.includes(NUL);
}

/** PostgreSQL refuses it, and what one receiver says must not keep the results of others from being stored. */
export function dropNul(text: string | null): string | null {
  return text?.replaceAll(NUL, '') ?? null;
}
