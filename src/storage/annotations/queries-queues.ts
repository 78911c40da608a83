/** Queries of queues of traces to review. */

import { sql } from 'kysely';
import { columns, insert, remove, rowsOf, update } from '../plain-queries.ts';
import { change, changeRows, type NewRow, query } from '../queries.ts';
import { hasTrace } from './has-trace.ts';

type InProject = { readonly projectNumber: number };
type Named = InProject & { readonly id: string };
type InQueue = InProject & { readonly queueId: string };
type NamedItem = InQueue & { readonly id: string };

export const insertQueue = insert('AnnotationQueue');
export const replaceQueue = update(
  'AnnotationQueue',
  ['projectNumber', 'id'],
  ['name', 'description', 'scoreIds', 'updatedAtMs'],
);
export const removeQueue = remove('AnnotationQueue', ['projectNumber', 'id']);
export const removeItems = remove('AnnotationQueueItem', ['projectNumber', 'queueId']);

const QUEUE = ['id', 'name', 'description', 'scoreIds', 'createdAtMs', 'updatedAtMs'] as const;

/** The oldest first. */
export const listQueues = query<InProject>()((db, { projectNumber }) =>
  rowsOf(db, 'AnnotationQueue', { projectNumber })
    .select(columns('AnnotationQueue', ...QUEUE))
    .orderBy('createdAtMs')
    .orderBy('id'),
);

export const findQueue = query<Named>()((db, { projectNumber, id }) =>
  rowsOf(db, 'AnnotationQueue', { projectNumber, id }).select(columns('AnnotationQueue', ...QUEUE)),
);

/** Until the transaction ends the queue is not removed, and no other transaction adds items. */
export const lockQueue = query<Named>()((db, { projectNumber, id }, { lock }) =>
  lock(rowsOf(db, 'AnnotationQueue', { projectNumber, id }).select(columns('AnnotationQueue', ...QUEUE))),
);

/** Traces first received before `receivedFromMs` are not there. */
type At = { readonly nowMs: number; readonly receivedFromMs: number };
type Counting = InProject & At;

/** For each queue with items. */
export const countItems = query<Counting>()((db, { projectNumber, nowMs, receivedFromMs }) =>
  rowsOf(db, 'AnnotationQueueItem', { projectNumber })
    .where(hasTrace('AnnotationQueueItem', receivedFromMs))
    .select(countsOf(nowMs))
    .groupBy('queueId'),
);

export const countItemsOf = query<Counting & { readonly queueId: string }>()(
  (db, { projectNumber, queueId, nowMs, receivedFromMs }) =>
    rowsOf(db, 'AnnotationQueueItem', { projectNumber, queueId })
      .where(hasTrace('AnnotationQueueItem', receivedFromMs))
      .select(countsOf(nowMs))
      .groupBy('queueId'),
);

function countsOf(nowMs: number) {
  const [done, until] = [sql.ref('doneAtMs'), sql.ref('claimedUntilMs')];
  const sum = (condition: ReturnType<typeof sql>) =>
    sql<number>`cast(sum(case when ${condition} then 1 else 0 end) as bigint)`;
  return [
    'queueId as queueId',
    sum(sql`${done} is null and ${until} <= ${nowMs}`).as('pending'),
    sum(sql`${done} is null and ${until} > ${nowMs}`).as('claimed'),
    sum(sql`${done} is not null`).as('done'),
  ] as const;
}

/** Which traces a queue has. */
export const listTracesOf = query<InQueue & { readonly traceIds: readonly string[] }>()(
  (db, { projectNumber, queueId, traceIds }, { isOneOf, idText }) =>
    rowsOf(db, 'AnnotationQueueItem', { projectNumber, queueId })
      .where(isOneOf('traceId', traceIds))
      .select(idText('traceId').as('traceId')),
);

/** Which of some traces there are. None of them is removed until the transaction ends. */
export const listExisting = query<InProject & { readonly ids: readonly string[]; readonly receivedFromMs: number }>()(
  (db, { projectNumber, ids, receivedFromMs }, { isOneOf, idText, keep }) =>
    keep(
      rowsOf(db, 'Trace', { projectNumber })
        .where(isOneOf('traceId', ids))
        .where('insertedAtMs', '>=', receivedFromMs)
        .select(idText('traceId').as('traceId'))
        .orderBy('Trace.traceId'),
    ),
);

export const insertItems = changeRows<NewRow<'AnnotationQueueItem'>>((db, item, dialect) =>
  dialect.insert(db, 'AnnotationQueueItem', item as never),
);

const ITEM = ['id', 'queueId', 'addedAtMs', 'claimedBy', 'claimedUntilMs', 'doneBy', 'doneAtMs'] as const;

/** The free item that was added first; skips those that other transactions claim. */
export const lockNext = query<InQueue & At>()(
  (db, { projectNumber, queueId, nowMs, receivedFromMs }, { lockAvailable, idText }) =>
    lockAvailable(
      rowsOf(db, 'AnnotationQueueItem', { projectNumber, queueId })
        .where('doneAtMs', 'is', null)
        .where('claimedUntilMs', '<=', nowMs)
        .where(hasTrace('AnnotationQueueItem', receivedFromMs))
        .select([...columns('AnnotationQueueItem', ...ITEM), idText('traceId').as('traceId')])
        .orderBy('addedAtMs')
        .orderBy('id')
        .limit(1),
    ),
);

/** An item that a reviewer holds. */
export const lockHeld = query<InQueue & At & { readonly reviewer: string }>()(
  (db, { projectNumber, queueId, reviewer, nowMs, receivedFromMs }, { lock, idText }) =>
    lock(
      rowsOf(db, 'AnnotationQueueItem', { projectNumber, queueId, claimedBy: reviewer })
        .where('doneAtMs', 'is', null)
        .where('claimedUntilMs', '>', nowMs)
        .where(hasTrace('AnnotationQueueItem', receivedFromMs))
        .select([...columns('AnnotationQueueItem', ...ITEM), idText('traceId').as('traceId')])
        .orderBy('addedAtMs')
        .orderBy('id')
        .limit(1),
    ),
);

export const lockItem = query<NamedItem & Pick<At, 'receivedFromMs'>>()(
  (db, { projectNumber, queueId, id, receivedFromMs }, { lock, idText }) =>
    lock(
      rowsOf(db, 'AnnotationQueueItem', { projectNumber, queueId, id })
        .where(hasTrace('AnnotationQueueItem', receivedFromMs))
        .select([...columns('AnnotationQueueItem', ...ITEM), idText('traceId').as('traceId')]),
    ),
);

export const changeItem = update(
  'AnnotationQueueItem',
  ['projectNumber', 'queueId', 'id'],
  ['claimedBy', 'claimedUntilMs', 'doneBy', 'doneAtMs'],
);

type Extending = InProject & {
  readonly traceId: string;
  readonly reviewer: string;
  readonly nowMs: number;
  readonly untilMs: number;
};

/** Of items that a reviewer holds, in all queues. */
export const extendClaims = change<Extending>(
  (db, { projectNumber, traceId, reviewer, nowMs, untilMs }, { update, storedId }) =>
    update(db, 'AnnotationQueueItem', { projectNumber, traceId: storedId(traceId), claimedBy: reviewer })
      .where('doneAtMs', 'is', null)
      .where('claimedUntilMs', '>', nowMs)
      .set({ claimedUntilMs: untilMs }),
);

/** The items of some traces, in all queues. */
export const dropItemsOf = change<InProject & { readonly traceIds: readonly string[] }>(
  (db, { projectNumber, traceIds }, { isOneOf }) =>
    db.deleteFrom('AnnotationQueueItem').where('projectNumber', '=', projectNumber).where(isOneOf('traceId', traceIds)),
);
