/** Append queries, the same for every store. */

import { sql } from 'kysely';
import type { BucketKey } from '../../domain/budgets/budget.ts';
import type { SpanChange } from '../../domain/events/append-tables.ts';
import type { LeaseKey } from '../../domain/gateway/lease-store.ts';
import { REQUEST_ID_MEMBER } from '../../domain/traces/request-ids.ts';
import { columns, findByKey, insertMany, ofRows, pick, remove, replaceMany } from '../plain-queries.ts';
import { change, changeRows, lookup, query } from '../queries.ts';
import { ADMITTED } from '../rows/codes.ts';
import { largeText, metadataOf, ownBytes, rowOf, summaryOf } from '../traces/columns.ts';
import { SPAN_TEXTS } from '../traces/text-columns.ts';

type OfSpan = { readonly projectNumber: number; readonly traceSequence: number; readonly spanId: string };
type OfRequest = { readonly organizationNumber: number; readonly key: string };

type OfTrace = { readonly projectNumber: number; readonly traceId: string };

/** Without large texts, which the two queries below read once the trace is locked. */
export const findTrace = lookup<OfTrace>()((db, { projectNumber, traceId }, dialect) =>
  dialect
    .keyed(db.selectFrom('Trace'), 'Trace', { projectNumber, traceId }, 'lock')
    .select('projectNumber as projectNumber')
    .select((column) => rowOf(column, dialect)),
);

export const findMetadata = lookup<OfTrace>()((db, { projectNumber, traceId }, { keyed, idText }) =>
  keyed(db.selectFrom('Trace'), 'Trace', { projectNumber, traceId })
    .select(['projectNumber as projectNumber', idText('traceId').as('traceId')])
    .select((column) => metadataOf(column).as('metadataJson')),
);

/** The large texts that the row of a trace has itself; see trace-texts.ts. */
export const findLargeTexts = lookup<OfTrace>()((db, { projectNumber, traceId }, { keyed, idText }) =>
  keyed(db.selectFrom('Trace'), 'Trace', { projectNumber, traceId })
    .select(['projectNumber as projectNumber', idText('traceId').as('traceId')])
    .select([largeText('metadataJson').as('metadataJson'), largeText('expectedOutput').as('expectedOutput')]),
);

/**
 * Larger parameters name no request, unless the span was stored before requests were noted beside it; it holds its parameters
 * itself.
 */
const PARAMS_SEARCHED_MAX_BYTES = 16_384;
const NAMING_PARAMS = sql<string | null>`case when ${sql.ref('emittedRequestId')} is null
  and (${sql.ref('callRow')} is null or octet_length(${sql.ref('paramsJson')}) <= ${sql.lit(PARAMS_SEARCHED_MAX_BYTES)})
  and ${sql.ref('paramsJson')} like ${sql.lit(`%${REQUEST_ID_MEMBER}%`)} then ${sql.ref('paramsJson')} end`;

/** Parameters only where they may name the request of the span. */
export const findSpan = lookup<OfSpan>()((db, { projectNumber, traceSequence, spanId }, dialect) =>
  dialect
    .keyed(db.selectFrom('Span'), 'Span', { projectNumber, traceSequence, spanId })
    .select(['projectNumber as projectNumber', 'traceSequence as traceSequence'])
    .select((column) => summaryOf(column, dialect))
    .select(NAMING_PARAMS.as('paramsJson'))
    .select(ownBytes(SPAN_TEXTS).as('ownBytes'))
    .select(columns('Span', 'emittedRequestId', 'sharedRequestId', 'version')),
);

/** What prices depend on. */
export const findPricedSpan = lookup<OfSpan>()(
  (db, { projectNumber, traceSequence, spanId }, { keyed, idText, textOf }) =>
    keyed(db.selectFrom('Span'), 'Span', { projectNumber, traceSequence, spanId })
      .select(['projectNumber as projectNumber', 'traceSequence as traceSequence'])
      .select(idText('spanId').as('spanId'))
      .select(columns('Span', 'vendor', 'cachedTokensInPrompt'))
      .select(textOf('otherMetricsJson').as('otherMetricsJson')),
);

// A longer text says less about a call than it costs a settlement of many.
const TELEMETRY_MAX_BYTES = 65_536;
/** Of what the column has: a reference begins with where the text lies. */
const INPUT_START_CHARACTERS = 128;

/** What the kind of a call follows from. */
export const findCallTexts = lookup<OfSpan>()((db, { projectNumber, traceSequence, spanId }, dialect) => {
  const { keyed, idText, bytesOf, textOf } = dialect;
  const isShort = sql`${bytesOf('telemetryJson')} <= ${sql.lit(TELEMETRY_MAX_BYTES)}`;
  const inputStart = sql<string | null>`substr(${textOf('inputJson')}, 1, ${sql.lit(INPUT_START_CHARACTERS)})`;
  return keyed(db.selectFrom('Span'), 'Span', { projectNumber, traceSequence, spanId })
    .select(['projectNumber as projectNumber', 'traceSequence as traceSequence'])
    .select(idText('spanId').as('spanId'))
    .select(sql<string | null>`case when ${isShort} then ${textOf('telemetryJson')} end`.as('telemetryJson'))
    .select(inputStart.as('inputStart'));
});

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
    .select(['Project.id as projectId', 'Project.organizationId as organizationId', 'Project.teamId as teamId'])
    .select(['Organization.number as organizationNumber', 'Project.emitRequestEvents as emitRequestEvents']),
);

/** Caches of an organization's budgets are valid for one version. */
export const findBudgetVersion = findByKey('Organization', ['number'], ['budgetVersion']);

/** With the version that they are of; an organization without budgets has a row without one. */
export const listActiveBudgets = query<{ readonly organizationNumber: number }>()((db, { organizationNumber }) =>
  db
    .selectFrom('Organization as organization')
    .leftJoin('Budget as budget', (join) =>
      join.onRef('budget.organizationId', '=', 'organization.id').on('budget.archivedAtMs', 'is', null),
    )
    .where('organization.number', '=', organizationNumber)
    .select('organization.budgetVersion as version')
    .select(columns('budget', 'organizationId', 'id', 'name', 'scopeKind', 'scopeId', 'template', 'window'))
    .select(columns('budget', 'limitNanoUsd', 'onBreach', 'providerId', 'reserve', 'cycleAnchorAtMs', 'resetAtMs'))
    .select(columns('budget', 'resetReason', 'archivedAtMs', 'createdAtMs', 'updatedAtMs')),
);

type OfBucket = BucketKey & { readonly organizationNumber: number };

export const findBucket = lookup<OfBucket>()((db, key, { keyed }) => {
  const { organizationNumber, budgetId, periodStartedAtMs, subject } = key;
  const own = { organizationNumber, budgetId, periodStartedAtMs, subject };
  return keyed(db.selectFrom('BudgetBucket'), 'BudgetBucket', own, 'lock')
    .select(columns('BudgetBucket', 'organizationNumber', 'budgetId', 'periodStartedAtMs', 'subject'))
    .select(columns('BudgetBucket', 'periodEndsAtMs', 'marks'))
    .select([amountText('spentNanoUsd').as('spent'), amountText('leasedNanoUsd').as('leased')]);
});

/** A double would round large amounts. */
function amountText(column: 'spentNanoUsd' | 'leasedNanoUsd') {
  return sql<string>`cast(${sql.ref(column)} as text)`;
}

const TWO_TO_32 = sql.lit(2 ** 32);

/** Casts, because SQLite is given larger numbers as doubles. */
function joined(high: number, low: number) {
  return sql<number>`cast(${high} as bigint) * ${TWO_TO_32} + cast(${low} as bigint)`;
}

/** An amount in parts, each of which a double holds: of more than 2^53 nano-USD. */
type Parts<Name extends string> = { readonly [Part in `${Name}${'High' | 'Low'}`]: number };
export type AddedToBucket = OfBucket &
  Parts<'spent'> &
  Parts<'leased'> & { readonly periodEndsAtMs: number | null; readonly marks: number };

export const addToBuckets = changeRows<AddedToBucket>((db, params) => {
  const { spentHigh, spentLow, leasedHigh, leasedLow } = params;
  const key = pick(params, 'organizationNumber', 'budgetId', 'periodStartedAtMs', 'subject');
  return db
    .insertInto('BudgetBucket')
    .values({
      ...key,
      ...pick(params, 'periodEndsAtMs', 'marks'),
      spentNanoUsd: joined(spentHigh, spentLow),
      leasedNanoUsd: joined(leasedHigh, leasedLow),
    })
    .onConflict((known) =>
      known.columns(['organizationNumber', 'budgetId', 'periodStartedAtMs', 'subject']).doUpdateSet(({ eb, ref }) => ({
        spentNanoUsd: eb('BudgetBucket.spentNanoUsd', '+', ref('excluded.spentNanoUsd')),
        leasedNanoUsd: eb('BudgetBucket.leasedNanoUsd', '+', ref('excluded.leasedNanoUsd')),
        marks: sql<number>`${sql.ref('BudgetBucket.marks')} | ${sql.ref('excluded.marks')}`,
        periodEndsAtMs: ref('excluded.periodEndsAtMs'),
      })),
    );
});

/** A lease of a budget, which an admission takes from. */
export const findLease = lookup<LeaseKey>()((db, key, { keyed }) => {
  const own = pick(key, ...LEASE_KEY);
  return keyed(db.selectFrom('BudgetLease'), 'BudgetLease', own, 'lock').select(
    columns('BudgetLease', ...LEASE_KEY, 'nanoUsd'),
  );
});

const LEASE_KEY = [
  ...(['organizationNumber', 'budgetId', 'periodStartedAtMs', 'subject', 'processId', 'fence'] as const),
] as const satisfies readonly (keyof LeaseKey)[];

export const changeLeases = changeRows<LeaseKey & { readonly nanoUsd: number }>((db, params, { update }) =>
  update(db, 'BudgetLease', pick(params, ...LEASE_KEY)).set(pick(params, 'nanoUsd')),
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

const CHANGED = [
  ...(['costNanoUsd', 'costSource', 'callRow', 'totalInput', 'totalOutput', 'shareRates'] as const),
  ...(['emittedRequestId', 'sharedRequestId', 'version'] as const),
] as const satisfies readonly (keyof ChangedSpan)[];
type ChangedSpan = OfSpan & SpanChange & { readonly version: number };
/** Leaves texts alone, which may be large. */
export const changeSpans = changeRows<ChangedSpan>((db, params, { update, storedId }) => {
  const { projectNumber, traceSequence, spanId } = params;
  return update(db, 'Span', { projectNumber, traceSequence, spanId: storedId(spanId) }).set(pick(params, ...CHANGED));
});
export const replaceTexts = replaceMany('TraceText');
export const removeTexts = ofRows(remove('TraceText', ['projectNumber', 'traceSequence', 'name']));
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

/** What people said about removed traces. */
export const removeFeedbackOf = ofTraceId('FeedbackEvent');
export const removeAnnotationsOf = ofTraceId('Annotation');
export const removeQueueItemsOf = ofTraceId('AnnotationQueueItem');

/** Which triggers fired for removed traces. */
export const removeFiringsOf = changeRows<{ readonly projectNumber: number; readonly traceId: string }>(
  (db, { projectNumber, traceId }) =>
    db
      .deleteFrom('TriggerFiring')
      .where('projectId', '=', ({ selectFrom }) =>
        selectFrom('Project as project').where('project.number', '=', projectNumber).select('project.id'),
      )
      .where('trace', '=', traceId),
);

function ofTraceId(table: 'FeedbackEvent' | 'Annotation' | 'AnnotationQueueItem') {
  return changeRows<{ readonly projectNumber: number; readonly traceId: string }>(
    (db, { projectNumber, traceId }, { remove, storedId }) =>
      remove(db, table, { projectNumber, traceId: storedId(traceId) }),
  );
}
