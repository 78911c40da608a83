/** Valid SQL is what one of three dialects can read. */

import mysql from 'node-sql-parser/build/mysql.js';
import postgresql from 'node-sql-parser/build/postgresql.js';
import sqlite from 'node-sql-parser/build/sqlite.js';
import type { EvaluationOutcome } from '../../domain/evaluations/outcome.ts';
import { verdictOf } from './outcomes.ts';

const PARSERS = [new postgresql.Parser(), new mysql.Parser(), new sqlite.Parser()];

export function judgeSql(output: string): EvaluationOutcome {
  if (isJson(output)) return verdictOf(false, 'Invalid SQL: Detected JSON instead of SQL string');
  let problem = '';
  for (const parser of PARSERS) {
    try {
      parser.parse(output);
      return verdictOf(true);
    } catch (error) {
      // What PostgreSQL says, which is asked first, stands for all.
      problem ||= tellProblem(error);
    }
  }
  return verdictOf(false, `Invalid SQL: ${problem}`);
}

function isJson(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
}

type Located = { readonly start: { readonly line: number; readonly column: number } };

function tellProblem(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A text that nests too deeply for the parser is not one that it read and refused.
  if (error instanceof RangeError) throw error;
  const { location } = error as Error & { readonly location?: Located };
  return location ? `line ${location.start.line}, column ${location.start.column}: ${error.message}` : error.message;
}
