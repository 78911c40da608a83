/** What analytics ask of evaluations: they are gone through in the order in which their traces began. */

import { sql } from 'kysely';
import { question } from '../questions.ts';

type Place = {
  /** Behind the trace that began then and has this sequence. */
  readonly afterMs: number;
  readonly afterSequence: number;
};

/** As the index of traces has it. */
const START = sql<number>`coalesce(${sql.ref('Trace.startedAtMs')}, ${sql.ref('Trace.insertedAtMs')})`;

/** Where a part of the traces ends: so many further on, whether they have evaluations or not. */
export const findTraceBehind = question<
  Place & { readonly projectNumber: number; readonly toMs: number; readonly count: number }
>()((db, { projectNumber, toMs, afterMs, afterSequence, count }) =>
  db
    .selectFrom('Trace')
    .where('Trace.projectNumber', '=', projectNumber)
    .where(START, '<=', toMs)
    // It says nothing new, but is where the index is entered.
    .where(START, '>=', afterMs)
    .where(sql<boolean>`(${START}, ${sql.ref('Trace.sequence')}) > (${afterMs}, ${afterSequence})`)
    .select([START.as('startMs'), 'Trace.sequence as sequence'])
    .orderBy(START)
    .orderBy('Trace.sequence')
    .limit(1)
    .offset(count),
);

type OfPart = Place & {
  readonly projectNumber: number;
  readonly receivedFromMs: number;
  /** Up to this trace, which belongs to the part. */
  readonly lastMs: number;
  readonly lastSequence: number;
  /** Of the first trace behind the place, those behind this one. */
  readonly afterId: string;
  readonly limit: number;
};

export const listEvaluations = question<OfPart>()((db, given) =>
  db
    .selectFrom('Trace')
    // Traces come first in the order of the index, and of each its evaluations by their key.
    .crossJoin('Evaluation')
    .whereRef('Evaluation.projectNumber', '=', 'Trace.projectNumber')
    .whereRef('Evaluation.traceSequence', '=', 'Trace.sequence')
    .where('Trace.projectNumber', '=', given.projectNumber)
    .where(START, '>=', given.afterMs)
    .where(START, '<=', given.lastMs)
    .where(
      sql<boolean>`(${START}, ${sql.ref('Trace.sequence')}, ${sql.ref('Evaluation.evaluationId')}) > (${given.afterMs}, ${given.afterSequence}, ${given.afterId})`,
    )
    .where(sql<boolean>`(${START}, ${sql.ref('Trace.sequence')}) <= (${given.lastMs}, ${given.lastSequence})`)
    .where('Trace.insertedAtMs', '>=', given.receivedFromMs)
    .select([
      START.as('startMs'),
      'Trace.sequence as sequence',
      'Evaluation.evaluationId as evaluationId',
      'Evaluation.evaluatorId as evaluatorId',
      'Evaluation.label as label',
      'Evaluation.monitorId as monitorId',
      'Evaluation.status as status',
      'Evaluation.passed as passed',
      'Evaluation.score as score',
    ])
    .orderBy(START)
    .orderBy('Trace.sequence')
    .orderBy('Evaluation.evaluationId')
    .limit(given.limit),
);
