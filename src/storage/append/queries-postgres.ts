/**
 * Append queries of PostgreSQL alone. An append there learns the instant of its commit and its position in the log only
 * once it has locked the end of the log. Until then 0 stands for that instant.
 */

import { sql } from 'kysely';
import type { BucketKey } from '../../domain/budgets/budget.ts';
import { insertMany, ofRows, pick, remove, replaceMany } from '../plain-queries.ts';
import { changeRows, lookup, type PostgresDb, type PostgresTables } from '../queries.ts';

// `head` holds the new ends of the logs, computed in the same statement: see postgres/write-batch.ts.
const FROM_HEAD = 'join head on head.organization_number = "given".organization_number';
const INSTANT = 'head.created_at';
// The row holds minus the number of events of the batch that follow it.
const SEQ = 'head.seq + "given".seq';
// Requests must outlive their events, whose instants come from the database: a process whose clock is behind has no
// influence.
const CHANGED_AT = 'greatest("given".changed_at, (select floor(extract(epoch from now()) * 1000)::bigint))';

const ofInstant = (column: string) => `case "given".${column} when 0 then ${INSTANT} else "given".${column} end`;

/** Locks the keys while their requests may move to another month. */
export const lockRequestKeys = lookup<{ readonly organizationNumber: number; readonly key: string }>()(
  (db, { organizationNumber, key }, { keyed }) =>
    keyed(
      (db as unknown as PostgresDb).selectFrom('RequestKey'),
      'RequestKey',
      { organizationNumber, key },
      'lock',
    ).select(['RequestKey.organizationNumber as organizationNumber', 'RequestKey.key as key']),
);

export const insertRequestKeys = insertMany<'RequestKey', PostgresTables>('RequestKey', {
  made: { changedAtMs: CHANGED_AT },
});
export const replaceRequestKeys = replaceMany<'RequestKey', PostgresTables>('RequestKey', {
  made: { changedAtMs: CHANGED_AT },
});

export const insertRequests = insertMany<'Request', PostgresTables>('Request', {
  from: FROM_HEAD,
  made: {
    changedAtMs: CHANGED_AT,
    completedEvent: ofInstant('completed_at'),
    settledEvent: ofInstant('settled_at'),
    correctionEvent: ofInstant('correction_at'),
    earlierCorrections: `regexp_replace("given".earlier_corrections, '\\y0\\y', ${INSTANT}::text, 'g')`,
  },
});

export const insertEvents = insertMany<'Event', PostgresTables>('Event', {
  from: FROM_HEAD,
  made: {
    createdAtMs: INSTANT,
    seq: SEQ,
    // No JSON text contains the placeholder of the instant.
    envelope: `replace("given".envelope, E'\\x01', head.created)`,
  },
});

export const insertGovernanceEvents = insertMany<'GovernanceEvent', PostgresTables>('GovernanceEvent', {
  from: FROM_HEAD,
  made: { createdAtMs: INSTANT, seq: SEQ },
});

export const deleteRequests = changeRows<{
  readonly organizationNumber: number;
  readonly changedAtMs: number;
  readonly key: string;
}>((db, { organizationNumber, changedAtMs, key }, { remove }) =>
  remove(db, 'Request', { organizationNumber, changedAtMs, key } as never),
);

/** Buckets are locked before anything is known of them: of a new one, too, only one transaction at a time may count. */
export const makeBuckets = changeRows<BucketKey & { readonly organizationNumber: number }>((db, params) =>
  db
    .insertInto('BudgetBucket')
    .values({
      ...pick(params, 'organizationNumber', 'budgetId', 'periodStartedAtMs', 'subject'),
      ...{ spentNanoUsd: sql.lit(0), leasedNanoUsd: sql.lit(0), marks: sql.lit(0) },
    })
    .onConflict((known) => known.doNothing()),
);

type OfTrace = { readonly projectNumber: number; readonly sequence: number };

export const deleteTraces = ofRows(remove('Trace', ['projectNumber', 'traceId']));
export const deleteSpans = changeRows<OfTrace>((db, { projectNumber, sequence }) =>
  db.deleteFrom('Span').where('projectNumber', '=', projectNumber).where('traceSequence', '=', sequence),
);
export const deleteTexts = changeRows<OfTrace>((db, { projectNumber, sequence }) =>
  db.deleteFrom('TraceText').where('projectNumber', '=', projectNumber).where('traceSequence', '=', sequence),
);
export const deleteUsageNodes = changeRows<OfTrace>((db, { projectNumber, sequence }) =>
  db.deleteFrom('UsageNode').where('projectNumber', '=', projectNumber).where('traceSequence', '=', sequence),
);
export const deleteEvaluations = changeRows<OfTrace>((db, { projectNumber, sequence }) =>
  db.deleteFrom('Evaluation').where('projectNumber', '=', projectNumber).where('traceSequence', '=', sequence),
);
