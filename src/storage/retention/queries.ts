/** Queries and removals of rows that are past their term. */

import { sql } from 'kysely';
import { GROUPINGS } from '../analytics/groupings.ts';
import { deleteBatch, rowsOf } from '../plain-queries.ts';
import { change, type Db, query } from '../queries.ts';
import { type OfTraces, ownBytes } from '../traces/columns.ts';
import { EVALUATION_TEXTS, SPAN_TEXTS } from '../traces/text-columns.ts';

// Removed traces are subtracted from the hourly sums of analytics.
export { addHour, listCounted, listSpans as listCountedSpans } from '../analytics/queries.ts';
export { dropAnnotationsOf } from '../annotations/queries.ts';
export { dropItemsOf } from '../annotations/queries-queues.ts';
export { addBytes, listExpired as listExpiredAnswers, lockBytes, removeAnswer } from '../answers/queries.ts';
export { dropEventsOf, dropOrphans, endWaiting } from '../feedback/queries.ts';
export { dropFiringsOf } from '../monitors/queries.ts';
export { markStored } from '../search/queries-index.ts';
export { listOldBlocks, removeBlock, removeParts } from '../spend/queries.ts';
export { dropOldJoined, dropOldWaiting, dropRecordsOf } from '../traces/queries-log-records.ts';

type Old = { readonly beforeMs: number; readonly limit: number };
type Hidden = {
  readonly projectNumber: number;
  readonly sequence: number;
  readonly traceId: string;
  readonly hiddenProjectNumber: number;
  readonly hiddenTraceId: string;
};

export const listTraceTerms = query<Record<never, never>>()((db) =>
  db.selectFrom('Project').distinct().select('traceRetentionDays as storedDays'),
);

type BacklogOfTerm = {
  readonly storedDays: number | null;
  readonly fromHour: number;
  readonly beforeHour: number;
  /** Projects up to this number are done. */
  readonly after: number;
  readonly limit: number;
};

/** For each project with this term, how many traces it received before an hour; see entities/analytics.ts. */
export const listBacklog = query<BacklogOfTerm>()((db, { storedDays, fromHour, beforeHour, after, limit }) =>
  db
    .selectFrom('Project')
    .where('number', '>', after)
    .where('traceRetentionDays', 'is not distinct from', storedDays)
    .select('number as projectNumber')
    .select(({ selectFrom }) => {
      const received = selectFrom('AnalyticsHour')
        .whereRef('AnalyticsHour.projectNumber', '=', 'Project.number')
        .where('grouping', '=', sql.lit(GROUPINGS.traces))
        .where('hour', '>=', fromHour)
        .where('hour', '<', beforeHour)
        .where('receivedHour', '<', beforeHour);
      const traces = received.select(sql<number>`cast(coalesce(sum(traces), 0) as bigint)`.as('traces'));
      return sql<number>`${traces}`.as('traces');
    })
    .orderBy('number')
    .limit(limit),
);

/** Frees the ids of the oldest events that belong to no request. */
export const removeOldGovernance = change<Old>((db, { beforeMs, limit }) =>
  db.deleteFrom('GovernanceEvent').where(({ eb, refTuple }) => {
    const old = db
      .selectFrom('GovernanceEvent')
      .select(['organizationNumber', 'id'])
      .where('createdAtMs', '<', beforeMs);
    const oldest = old.orderBy('createdAtMs').orderBy('organizationNumber').orderBy('id').limit(limit);
    return eb(refTuple('organizationNumber', 'id'), 'in', oldest.$asTuple('organizationNumber', 'id'));
  }),
);

export const removeOldBuckets = change<Old>((db, { beforeMs, limit }) =>
  db.deleteFrom('BudgetBucket').where(({ eb, refTuple }) => {
    const old = db
      .selectFrom('BudgetBucket')
      .select(['organizationNumber', 'budgetId', 'periodStartedAtMs', 'subject'])
      .where('periodEndsAtMs', '<', beforeMs);
    const key = refTuple('organizationNumber', 'budgetId', 'periodStartedAtMs', 'subject');
    const oldest = old.orderBy('periodEndsAtMs').limit(limit);
    return eb(key, 'in', oldest.$asTuple('organizationNumber', 'budgetId', 'periodStartedAtMs', 'subject'));
  }),
);

/** Removes entries of at most `limit` organizations after one. */
export const removeOldAudit = change<Old & { readonly after: number }>((db, { after, beforeMs, limit }) =>
  db.deleteFrom('AuditEntry').where(({ eb, refTuple }) => {
    const old = db
      .selectFrom(organizationsAfter(db, after).select('id as organizationId').limit(limit).as('part'))
      .crossJoin('AuditEntry as old')
      .whereRef('old.organizationId', '=', 'part.organizationId')
      .where('old.createdAtMs', '<', beforeMs)
      .select(['old.organizationId', 'old.createdAtMs', 'old.id'])
      .limit(limit);
    // With the instant, so that the database finds an entry by a key, for any statistics.
    const key = refTuple('organizationId', 'createdAtMs', 'id');
    return eb(key, 'in', old.$asTuple('organizationId', 'createdAtMs', 'id'));
  }),
);

/** The last organization of a page; `skipped` is the size of the page less one. */
export const findLastOrganization = query<{ readonly after: number; readonly skipped: number }>()(
  (db, { after, skipped }) => organizationsAfter(db, after).select('number as number').limit(1).offset(skipped),
);

function organizationsAfter(db: Db, after: number) {
  return db.selectFrom('Organization').where('number', '>', after).orderBy('number');
}

type Between = { readonly after: number; readonly before: number; readonly limit: number };

/** In the order in which they were received. */
export const listTracesAfter = query<Between>()((db, { after, before, limit }) =>
  db
    .selectFrom('Trace')
    .where('sequence', '>', after)
    .where('sequence', '<', before)
    .select(['sequence as sequence', 'projectNumber as projectNumber', 'insertedAtMs as insertedAtMs'])
    .orderBy('sequence')
    .limit(limit),
);

/** Locks the terms: a change of a project's term waits for the step. */
export const lockProjectTerms = query<{ readonly numbers: readonly number[] }>()((db, { numbers }, dialect) =>
  dialect.lock(
    db
      .selectFrom('Project')
      .where(dialect.isAmong('number', numbers))
      .select(['number as number', 'traceRetentionDays as storedDays']),
  ),
);

type OfSequences = { readonly sequences: readonly number[]; readonly partsMax: number };

/** Removing so many bytes of texts costs about as much as removing a row. */
const BYTES_PER_ROW = 16_384;

/**
 * With the weight of what belongs to the trace, in rows: its spans and evaluations and their texts. It is capped above what
 * a step may remove; of a trace with more spans than `partsMax` it is their number.
 */
export const lockTraces = query<OfSequences>()((db, { sequences, partsMax }, { lockAvailable, isAmong, ...dialect }) =>
  lockAvailable(
    db
      .selectFrom('Trace')
      .where(isAmong('sequence', sequences))
      .select(['projectNumber as projectNumber', dialect.idText('traceId').as('traceId'), 'sequence as sequence'])
      .select(({ ref, selectFrom }) => {
        const weightOf = (table: 'Span' | 'Evaluation', texts: { readonly [Name: string]: string }) => {
          const batch = selectFrom(table)
            .whereRef(`${table}.projectNumber`, '=', 'Trace.projectNumber')
            .whereRef(`${table}.traceSequence`, '=', 'Trace.sequence')
            .select(sql<number>`1 + (${ownBytes(texts)}) / ${sql.lit(BYTES_PER_ROW)}`.as('rows'))
            .limit(partsMax);
          return selectFrom(batch.as('some')).select(sql<number>`coalesce(sum(rows), 0)`.as('rows'));
        };
        const spans = weightOf('Span', SPAN_TEXTS);
        const evaluations = weightOf('Evaluation', EVALUATION_TEXTS);
        const ofSpans = sql`case when ${ref('spanCount')} > ${partsMax} then ${ref('spanCount')} else ${spans} end`;
        return sql<number>`${ofSpans} + ${evaluations}`.as('parts');
      })
      .orderBy('sequence'),
  ),
);

/** A hidden trace that is not removed yet. */
export const findHiddenTrace = query<Record<never, never>>()((db) =>
  db
    .selectFrom('Trace')
    .where('projectNumber', '<', 0)
    .select(['projectNumber as projectNumber', 'sequence as sequence'])
    .limit(1),
);

/** Hides a trace: no query finds it under the negative number of its project. */
export const hideTrace = change<Hidden>(
  (db, { projectNumber, sequence, traceId, hiddenProjectNumber, hiddenTraceId }, { storedId, update }) =>
    update(db, 'Trace', { projectNumber, traceId: storedId(traceId), sequence }).set({
      projectNumber: hiddenProjectNumber,
      traceId: hiddenTraceId,
    }),
);

export const removeTraces = change<{ readonly projectNumber: number; readonly traceIds: readonly string[] }>(
  (db, { projectNumber, traceIds }, { isOneOf }) =>
    db.deleteFrom('Trace').where('projectNumber', '=', projectNumber).where(isOneOf('traceId', traceIds)),
);

export const removeSpans = removeAll('Span');
export const removeUsageNodes = removeAll('UsageNode');
export const removeTexts = removeAll('TraceText');
export const removeEvaluations = removeAll('Evaluation');
export const removeJobs = removeAll('EvaluationJob');

/** Locks the jobs of traces in the order of their keys. */
export const lockJobs = query<OfTraces>()((db, { projectNumber, sequences }, { lock, isOneOf }) =>
  lock(
    rowsOf(db, 'EvaluationJob', { projectNumber })
      .where(isOneOf('traceSequence', sequences))
      .select('sourceId as sourceId')
      .orderBy('traceSequence')
      .orderBy('sourceId'),
  ),
);

function removeAll(table: 'Span' | 'UsageNode' | 'TraceText' | 'Evaluation' | 'EvaluationJob') {
  return change<OfTraces>((db, { projectNumber, sequences }, { isOneOf }) =>
    db.deleteFrom(table).where('projectNumber', '=', projectNumber).where(isOneOf('traceSequence', sequences)),
  );
}

export const deleteSpanBatch = deleteBatch('Span', 'spanId');
export const deleteUsageNodeBatch = deleteBatch('UsageNode', 'spanId');
export const deleteEvaluationBatch = deleteBatch('Evaluation', 'evaluationId');
