/** Queues of traces to review. */

import type {
  Claiming,
  CountedQueue,
  ItemsAdded,
  NewItems,
  QueueCounts,
  QueueItem,
  QueueStore,
} from '../../domain/annotations/queue.ts';
import { type Queries, type QueryRunner, queryInBatches, type Transact, type Transaction } from '../transaction.ts';
import { receivedFrom } from './annotations.ts';

/** What an engine writes. */
export type QueueWriter = {
  insertQueue: QueueStore['insert'];
  replaceQueue: QueueStore['replace'];
  removeQueue: QueueStore['remove'];
  addQueueItems: QueueStore['addItems'];
  claimQueueItem: QueueStore['claim'];
  endQueueItem: QueueStore['end'];
};

/** As many as one query takes on any store. */
const TRACES_AT_ONCE = 50;
const NO_ITEMS: QueueCounts = { pending: 0, claimed: 0, done: 0 };

export function createQueueWriter(transact: Transact): QueueWriter {
  return {
    insertQueue: (projectNumber, queue, { liveMax, audited }) =>
      transact(async (tx) => {
        const known = await lockQueues(tx, projectNumber);
        if (known.some(({ name }) => name === queue.name)) return 'name_taken';
        if (known.length >= liveMax) return 'limit_reached';
        await tx.change(tx.queries.annotationQueues.insertQueue, { ...queue, projectNumber });
        await tx.change(tx.queries.annotations.addAuditEntry, audited);
        return 'stored';
      }),
    replaceQueue: (projectNumber, queue, { expectedUpdatedAtMs, audited }) =>
      transact(async (tx) => {
        const known = await lockQueues(tx, projectNumber);
        const { id, name } = queue;
        if (known.find((each) => each.id === id)?.updatedAtMs !== expectedUpdatedAtMs) return 'stale';
        if (known.some((each) => each.name === name && each.id !== id)) return 'name_taken';
        await tx.change(tx.queries.annotationQueues.replaceQueue, { ...queue, projectNumber });
        await tx.change(tx.queries.annotations.addAuditEntry, audited);
        return 'stored';
      }),
    removeQueue: (projectNumber, id, audited) =>
      transact(async (tx) => {
        const { lockQueue, removeQueue, removeItems } = tx.queries.annotationQueues;
        if ((await tx.runQuery(lockQueue, { projectNumber, id })).length === 0) return false;
        await tx.change(removeItems, { projectNumber, queueId: id });
        await tx.change(removeQueue, { projectNumber, id });
        await tx.change(tx.queries.annotations.addAuditEntry, audited);
        return true;
      }),
    addQueueItems: (items) => transact((tx) => addItems(tx, items)),
    claimQueueItem: (claiming) => transact((tx) => claim(tx, claiming)),
    endQueueItem: ({ projectNumber, queueId, itemId, reviewer, nowMs, expiredBeforeMs }, end) =>
      transact(async (tx) => {
        const { lockItem, changeItem } = tx.queries.annotationQueues;
        const receivedFromMs = receivedFrom(expiredBeforeMs);
        const [item] = await tx.runQuery(lockItem, { projectNumber, queueId, id: itemId, receivedFromMs });
        if (item === undefined) return 'not_found';
        // A call that is sent again.
        if (item.doneAtMs !== null) return end === 'complete' && item.doneBy === reviewer ? item : 'not_claimed';
        // Once its claim has expired, the item is back in the queue.
        if (item.claimedBy !== reviewer || item.claimedUntilMs <= nowMs) return 'not_claimed';
        const free = { ...item, claimedBy: null, claimedUntilMs: 0 };
        const ended = end === 'release' ? free : { ...free, doneBy: reviewer, doneAtMs: nowMs };
        await tx.change(changeItem, { ...ended, projectNumber });
        return ended;
      }),
  };
}

type QueueRunner = QueryRunner<Pick<Queries, 'annotationQueues'>>;

export function createQueueStore(
  { queries, runQuery }: Pick<QueueRunner, 'queries' | 'runQuery'>,
  writer: QueueWriter,
): QueueStore {
  const { listQueues, findQueue, countItems, countItemsOf } = queries.annotationQueues;
  return {
    async list(projectNumber, { nowMs, expiredBeforeMs }) {
      const queues = await runQuery(listQueues, { projectNumber });
      const counts = await runQuery(countItems, {
        ...{ projectNumber, nowMs, receivedFromMs: receivedFrom(expiredBeforeMs) },
      });
      const byQueue = new Map(counts.map(({ queueId, ...each }) => [queueId, each]));
      return queues.map((queue): CountedQueue => ({ queue, counts: byQueue.get(queue.id) ?? NO_ITEMS }));
    },
    async find(projectNumber, id, { nowMs, expiredBeforeMs }) {
      const [queue] = await runQuery(findQueue, { projectNumber, id });
      if (queue === undefined) return null;
      const receivedFromMs = receivedFrom(expiredBeforeMs);
      const [counts] = await runQuery(countItemsOf, { projectNumber, queueId: id, nowMs, receivedFromMs });
      const { pending, claimed, done } = counts ?? NO_ITEMS;
      return { queue, counts: { pending, claimed, done } };
    },
    insert: writer.insertQueue,
    replace: writer.replaceQueue,
    remove: writer.removeQueue,
    addItems: writer.addQueueItems,
    claim: writer.claimQueueItem,
    end: writer.endQueueItem,
  };
}

/** The queues of a project; no other transaction adds or renames one until this one ends. */
async function lockQueues({ isSingleProcess, runQuery, queries }: Transaction, projectNumber: number) {
  if (!isSingleProcess) await runQuery(queries.feedback.lockTraceId, { name: `annotation queues ${projectNumber}` });
  return await runQuery(queries.annotationQueues.listQueues, { projectNumber });
}

async function addItems(
  { runQuery, changeRows, queries }: Transaction,
  { projectNumber, queueId, traces, nowMs, expiredBeforeMs, itemsMax }: NewItems,
): Promise<ItemsAdded | 'no_queue' | 'full'> {
  const { lockQueue, listExisting, listTracesOf, countItemsOf, insertItems } = queries.annotationQueues;
  const [queue] = await runQuery(lockQueue, { projectNumber, id: queueId });
  if (queue === undefined) return 'no_queue';
  const receivedFromMs = receivedFrom(expiredBeforeMs);
  const existing = await queryInBatches(
    // In one order, so that two transactions do not wait for each other.
    traces.flatMap(({ forms }) => forms).sort(),
    TRACES_AT_ONCE,
    (ids) => runQuery(listExisting, { projectNumber, ids, receivedFromMs }),
  );
  const isThere = new Set(existing.map(({ traceId }) => traceId));
  const found = new Map(
    traces.flatMap(({ itemId, forms }) => {
      const traceId = forms.find((form) => isThere.has(form));
      return traceId === undefined ? [] : [[traceId, itemId] as const];
    }),
  );
  const listed = await queryInBatches([...found.keys()], TRACES_AT_ONCE, (traceIds) =>
    runQuery(listTracesOf, { projectNumber, queueId, traceIds }),
  );
  const isKnown = new Set(listed.map(({ traceId }) => traceId));
  const added = [...found].filter(([traceId]) => !isKnown.has(traceId));
  const [counts = NO_ITEMS] = await runQuery(countItemsOf, { projectNumber, queueId, nowMs, receivedFromMs });
  if (added.length > 0 && counts.pending + counts.claimed + added.length > itemsMax) return 'full';
  const free = { claimedBy: null, claimedUntilMs: 0, doneBy: null, doneAtMs: null };
  changeRows(
    insertItems,
    added.map(([traceId, id]) => ({ projectNumber, queueId, id, traceId, addedAtMs: nowMs, ...free })),
  );
  return { added: added.length, known: isKnown.size, unknown: traces.length - found.size };
}

async function claim(
  { runQuery, change, queries }: Transaction,
  { projectNumber, queueId, reviewer, nowMs, untilMs, isResuming, expiredBeforeMs }: Claiming,
): Promise<QueueItem | null> {
  const { lockHeld, lockNext, changeItem } = queries.annotationQueues;
  const at = { projectNumber, queueId, nowMs, receivedFromMs: receivedFrom(expiredBeforeMs) };
  const [held] = isResuming ? await runQuery(lockHeld, { ...at, reviewer }) : [];
  const item = held ?? (await runQuery(lockNext, at))[0];
  if (item === undefined) return null;
  const claimed = { ...item, claimedBy: reviewer, claimedUntilMs: untilMs };
  await change(changeItem, { ...claimed, projectNumber });
  return claimed;
}
