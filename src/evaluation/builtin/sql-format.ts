/** Checks that the output parses as PostgreSQL, MySQL or SQLite. */

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
      // The message of PostgreSQL, the first parser, is reported.
      problem ||= describeProblem(error);
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

function describeProblem(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A stack overflow does not mean that the text is invalid.
  if (error instanceof RangeError) throw error;
  const { location } = error as Error & { readonly location?: Located };
  return location ? `line ${location.start.line}, column ${location.start.column}: ${error.message}` : error.message;
}
