/** Compiled questions as prepared statements of a lane. */

import type { Question } from '../questions.ts';
import type { Lane } from './connection.ts';

// PostgreSQL refuses it in text, so nothing that is stored has it.
const NUL = '\u0000';

export async function askQuestion<Params, Row>(
  lane: Lane,
  { name, text, cells, row }: Question<Params, Row>,
  given: Params,
): Promise<readonly Row[]> {
  const values = knowableCells(cells(given));
  return values === null ? [] : (await lane.ask<never>({ name, text }, values)).map(row);
}

/** Of what is looked for; null when nothing can be found. */
export function knowableCells(cells: readonly unknown[]): unknown[] | null {
  if (cells.some(holdsNul)) return null;
  return cells.map((cell) => (Array.isArray(cell) ? cell.filter((one) => !holdsNul(one)) : cell));
}

function holdsNul(cell: unknown): boolean {
  return typeof cell === 'string' && cell.includes(NUL);
}
