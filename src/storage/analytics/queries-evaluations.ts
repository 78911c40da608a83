/** Queries of evaluation analytics: evaluations ordered by the start of their traces. */

import { sql } from 'kysely';
import { columns } from '../plain-queries.ts';
import { query } from '../queries.ts';

type ScanPosition = {
  /** After the trace with this start and sequence. */
  readonly afterMs: number;
  readonly afterSequence: number;
};

/** The database index has the same expression. */
const START = sql<number>`coalesce(${sql.ref('Trace.startedAtMs')}, ${sql.ref('Trace.insertedAtMs')})`;

/** The trace at which a range ends: `count` traces further, with or without evaluations. */
export const findTraceBehind = query<
  ScanPosition & { readonly projectNumber: number; readonly toMs: number; readonly count: number }
>()((db, { projectNumber, toMs, afterMs, afterSequence, count }) =>
  db
    .selectFrom('Trace')
    .where('Trace.projectNumber', '=', projectNumber)
    .where(START, '<=', toMs)
    // Redundant, but the planner needs it to use the index.
    .where(START, '>=', afterMs)
    .where(sql<boolean>`(${START}, ${sql.ref('Trace.sequence')}) > (${afterMs}, ${afterSequence})`)
    .select([START.as('startMs'), 'Trace.sequence as sequence'])
    .orderBy(START)
    .orderBy('Trace.sequence')
    .limit(1)
    .offset(count),
);

type OfPart = ScanPosition & {
  readonly projectNumber: number;
  readonly receivedFromMs: number;
  /** Up to and including this trace. */
  readonly lastMs: number;
  readonly lastSequence: number;
  /** Of the first trace, only evaluations after this id. */
  readonly afterId: string;
  readonly limit: number;
};

export const listEvaluations = query<OfPart>()((db, params) =>
  db
    .selectFrom('Trace')
    // A cross join keeps the traces outermost, in the order of their index.
    .crossJoin('Evaluation')
    .whereRef('Evaluation.projectNumber', '=', 'Trace.projectNumber')
    .whereRef('Evaluation.traceSequence', '=', 'Trace.sequence')
    .where('Trace.projectNumber', '=', params.projectNumber)
    .where(START, '>=', params.afterMs)
    .where(START, '<=', params.lastMs)
    .where(
      sql<boolean>`(${START}, ${sql.ref('Trace.sequence')}, ${sql.ref('Evaluation.evaluationId')}) > (${params.afterMs}, ${params.afterSequence}, ${params.afterId})`,
    )
    .where(sql<boolean>`(${START}, ${sql.ref('Trace.sequence')}) <= (${params.lastMs}, ${params.lastSequence})`)
    .where('Trace.insertedAtMs', '>=', params.receivedFromMs)
    .select([
      START.as('startMs'),
      'Trace.sequence as sequence',
      ...columns('Evaluation', 'evaluationId', 'evaluatorId', 'label', 'monitorId', 'status', 'passed', 'score'),
    ])
    .orderBy(START)
    .orderBy('Trace.sequence')
    .orderBy('Evaluation.evaluationId')
    .limit(params.limit),
);
