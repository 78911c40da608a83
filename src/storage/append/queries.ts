/** Append queries, the same for every store. */

import { sql } from 'kysely';
import { columns, findByKey, insertMany, ofRows, remove, replaceMany } from '../plain-queries.ts';
import { change, changeRows, lookup, query } from '../queries.ts';
import { ADMITTED } from '../rows/codes.ts';
import { spanOf, summaryOf, traceOf } from '../traces/columns.ts';

type OfSpan = { readonly projectNumber: number; readonly traceSequence: number; readonly spanId: string };
type OfRequest = { readonly organizationNumber: number; readonly key: string };

export const findTrace = lookup<{ readonly projectNumber: number; readonly traceId: string }>()(
  (db, { projectNumber, traceId }, dialect) =>
    dialect
      .keyed(db.selectFrom('Trace'), 'Trace', { projectNumber, traceId }, 'lock')
      .select('projectNumber as projectNumber')
      .select((column) => traceOf(column, dialect)),
);

export const findSpan = lookup<OfSpan>()((db, { projectNumber, traceSequence, spanId }, dialect) =>
  dialect
    .keyed(db.selectFrom('Span'), 'Span', { projectNumber, traceSequence, spanId })
    .select(['projectNumber as projectNumber', 'traceSequence as traceSequence'])
    .select((column) => summaryOf(column, dialect))
    .select(columns('Span', 'paramsJson', 'emittedRequestId', 'sharedRequestId')),
);

export const findWholeSpan = lookup<OfSpan>()((db, { projectNumber, traceSequence, spanId }, dialect) =>
  dialect
    .keyed(db.selectFrom('Span'), 'Span', { projectNumber, traceSequence, spanId })
    .select(['projectNumber as projectNumber', 'traceSequence as traceSequence'])
    .select((column) => spanOf(column, dialect))
    .select(columns('Span', 'emittedRequestId', 'sharedRequestId')),
);

export const findUsageNode = lookup<OfSpan>()((db, { projectNumber, traceSequence, spanId }, { keyed, idText }) =>
  keyed(db.selectFrom('UsageNode'), 'UsageNode', { projectNumber, traceSequence, spanId })
    .select(['projectNumber as projectNumber', 'traceSequence as traceSequence', 'nodeJson as nodeJson'])
    .select(idText('spanId').as('spanId')),
);

/** For the check whether a span exists. */
export const findSpanId = lookup<OfSpan>()((db, { projectNumber, traceSequence, spanId }, { keyed, idText }) =>
  keyed(db.selectFrom('Span'), 'Span', { projectNumber, traceSequence, spanId })
    .select(['projectNumber as projectNumber', 'traceSequence as traceSequence'])
    .select(idText('spanId').as('spanId')),
);

export const findRequest = lookup<OfRequest>()((db, { organizationNumber, key }, { requestsOf, allOf }) =>
  requestsOf(db, { organizationNumber, key }).select(allOf('Request', 'sequence')),
);

/** The oldest first. */
export const listOverdue = query<{ readonly admittedByMs: number; readonly countMax: number }>()(
  (db, { admittedByMs, countMax }) =>
    db
      .selectFrom('Request')
      .where('state', '=', sql.lit(ADMITTED))
      .where('receivedAtMs', '<=', admittedByMs)
      .select(['organizationNumber as organizationNumber', 'key as key'])
      .orderBy('receivedAtMs')
      .limit(countMax),
);

export const findGovernanceEvent = findByKey('GovernanceEvent', ['organizationNumber', 'id'], []);

/** An event by its creation instant and id. */
export const findEvent = lookup<{
  readonly organizationNumber: number;
  readonly createdAtMs: number;
  readonly id: string;
}>()((db, { organizationNumber, createdAtMs, id }, { keyed, withEnvelope }) =>
  keyed(withEnvelope(db.selectFrom('Event')), 'Event', { organizationNumber, createdAtMs, id }).select([
    ...columns('Event', 'organizationNumber', 'createdAtMs', 'id'),
    'envelope as envelope',
  ]),
);

export const findEventPosition = findByKey('Event', ['organizationNumber', 'createdAtMs', 'id'], ['seq']);

export const findLogHead = findByKey('LogHead', ['organizationNumber']);

/** The owner of a project. */
export const findOwner = query<{ readonly projectNumber: number }>()((db, { projectNumber }) =>
  db
    .selectFrom('Project')
    .innerJoin('Organization', 'Organization.id', 'Project.organizationId')
    .where('Project.number', '=', projectNumber)
    .select(['Project.id as projectId', 'Project.organizationId as organizationId'])
    .select(['Organization.number as organizationNumber', 'Project.emitRequestEvents as emitRequestEvents']),
);

/** The evaluation job of a trace. */
export const findJob = lookup<{
  readonly projectNumber: number;
  readonly traceSequence: number;
  readonly sourceId: string;
}>()((db, { projectNumber, traceSequence, sourceId }, { keyed, allOf, idText }) =>
  keyed(db.selectFrom('EvaluationJob'), 'EvaluationJob', { projectNumber, traceSequence, sourceId }, 'lock')
    .select(allOf('EvaluationJob', 'traceId'))
    .select(idText('traceId').as('traceId')),
);

/** Checks whether writing works: the row is so large that the database has to grow. */
export const fillProbe = change<{ readonly filler: Buffer }>((db, { filler }) =>
  db.insertInto('WriteProbe').values({ filler }),
);
export const emptyProbe = change<Record<never, never>>((db) => db.deleteFrom('WriteProbe'));

export const insertTraces = insertMany('Trace');
export const replaceTraces = replaceMany('Trace');
export const insertSpans = insertMany('Span');
export const replaceSpans = replaceMany('Span');
export const replaceUsageNodes = replaceMany('UsageNode');
/** A later result of an evaluation replaces the earlier one but keeps when the first was received. */
export const replaceEvaluations = replaceMany('Evaluation', { keeps: ['insertedAtMs'] });

export const storeJobs = replaceMany('EvaluationJob');
export const removeJobs = ofRows(remove('EvaluationJob', ['projectNumber', 'traceSequence', 'sourceId']));
/** Removes the jobs of removed traces. */
export const removeJobsOfTraces = changeRows<{ readonly projectNumber: number; readonly sequence: number }>(
  (db, { projectNumber, sequence }) =>
    db.deleteFrom('EvaluationJob').where('projectNumber', '=', projectNumber).where('traceSequence', '=', sequence),
);
