/** Queries of many traces at once, for lists. */

import { sql } from 'kysely';
import { rowsOf } from '../plain-queries.ts';
import { query } from '../queries.ts';
import { type OfTraces, rowOf, type TextNamed } from './columns.ts';
import { EVALUATION_TEXTS, namesOf } from './text-columns.ts';

/** Traces by id, without large texts. */
export const findRows = query<{ readonly projectNumber: number; readonly ids: readonly string[] }>()(
  (db, { projectNumber, ids }, dialect) =>
    rowsOf(db, 'Trace', { projectNumber })
      .where(dialect.isOneOf('traceId', ids))
      .select((column) => rowOf(column, dialect)),
);

/** All evaluations of several traces, up to a limit and trace by trace; the texts of those that have many bytes are null. */
export const listRowEvaluations = query<OfTraces & { readonly bytesMax: number; readonly limit: number }>()(
  (db, { projectNumber, sequences, bytesMax, limit }, dialect) => {
    const texts = namesOf(EVALUATION_TEXTS);
    const bytes = dialect.textBytes(texts);
    const short = texts.map((name) =>
      sql<string | null>`case when ${bytes} <= ${bytesMax} then ${dialect.textOf(name)} end`.as(name),
    );
    return rowsOf(db, 'Evaluation', { projectNumber })
      .where(dialect.isAmong('traceSequence', sequences))
      .select('traceSequence as traceSequence')
      .select(dialect.allOf('Evaluation', 'projectNumber', 'traceSequence', ...texts))
      .select(short as readonly TextNamed<(typeof texts)[number]>[])
      .select(bytes.as('textBytes'))
      .orderBy('traceSequence')
      .limit(limit);
  },
);
