import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { QueueItem } from '../../src/domain/annotations/queue.ts';
import type { AuditRecord } from '../../src/domain/management/management.ts';
import type { Bootstrap } from '../../src/domain/management/management-port.ts';
import type { Store } from '../../src/domain/store.ts';
import { openStore } from '../../src/storage/open.ts';
import { until } from '../support/temp.ts';
import { createPostgresTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { PROJECT, RECEIVED_AT_MS, randomHex, sampleAppend, samplePlan } from './conformance/samples.ts';
import { quietLog } from './quiet-log.ts';

const QUEUE = {
  ...{ id: 'queue_1', name: 'q', description: '', scoreIds: [] },
  ...{ createdAtMs: RECEIVED_AT_MS, updatedAtMs: RECEIVED_AT_MS },
};
const TRACES = 40;
const projectNumber = PROJECT.number;

let database: TestDatabase;
/** Stores of two processes. */
let stores: readonly [Store, Store];
let plan: Bootstrap;

beforeEach(async () => {
  database = await createPostgresTestDatabase();
  const open = () => openStore({ url: database.url, queueMaxBytes: 1024 * 1024, log: quietLog });
  stores = [await open(), await open()];
  plan = samplePlan();
  await stores[0].installation.bootstrap(plan);
});
afterEach(async () => {
  for (const store of stores) await store.close();
  await database.remove();
});

function audited(): AuditRecord {
  const of = { actorUserId: null, actorKeyId: null, requestId: null, traceId: null, targetId: null, code: null };
  return {
    ...{ ...of, id: randomHex(16), createdAtMs: RECEIVED_AT_MS, organizationId: plan.organization.id },
    ...{ actorKind: 'project_key', action: 'annotationQueue.create', targetType: 'annotationQueue', ip: null },
    ...{ userAgent: null, outcome: 'success', status: 200, fields: [], count: 1 },
  };
}

it('reviewers of two processes never hold the same item, and both get through the queue', async () => {
  const traceIds = Array.from({ length: TRACES }, () => randomHex(32));
  for (const traceId of traceIds) await stores[0].traces.append(sampleAppend({ traceId }));
  await stores[0].annotationQueues.insert(projectNumber, QUEUE, { liveMax: 1, audited: audited() });
  const items = {
    ...{ projectNumber, queueId: QUEUE.id, nowMs: RECEIVED_AT_MS, expiredBeforeMs: null, itemsMax: TRACES },
    traces: traceIds.map((traceId) => ({ itemId: randomHex(16), forms: [traceId] })),
  };
  const added = await Promise.all(stores.map((store) => store.annotationQueues.addItems(items)));
  expect(added.map((each) => (each as { added: number }).added).toSorted()).toEqual([0, TRACES]);

  /** Claims and completes until nothing is left. */
  async function review({ annotationQueues }: Store, reviewer: string): Promise<readonly QueueItem[]> {
    const reviewed: QueueItem[] = [];
    const at = { nowMs: RECEIVED_AT_MS, expiredBeforeMs: null };
    const claiming = { projectNumber, queueId: QUEUE.id, reviewer, ...at, isResuming: false };
    for (;;) {
      const item = await annotationQueues.claim({ ...claiming, untilMs: RECEIVED_AT_MS + 600_000 });
      if (item === null) return reviewed;
      reviewed.push(item);
      const named = { projectNumber, queueId: QUEUE.id, itemId: item.id, reviewer, ...at };
      expect(await annotationQueues.end(named, 'complete')).toMatchObject({ doneBy: reviewer });
    }
  }
  const all = await Promise.all(
    Array.from({ length: 6 }, (_, index) => review(stores[index % 2 === 0 ? 0 : 1], `reviewer ${index}`)),
  );
  const reviewed = all.flat().map(({ traceId }) => traceId);
  expect(reviewed.toSorted()).toEqual(traceIds.toSorted());
  expect(all.filter((items) => items.length > 0).length).toBeGreaterThan(1);
});

it('a trace that another process is removing is not added', async () => {
  const [store] = stores;
  await store.annotationQueues.insert(projectNumber, QUEUE, { liveMax: 1, audited: audited() });
  const traceId = randomHex(32);
  await store.traces.append(sampleAppend({ traceId }));
  const remover = new pg.Client({ connectionString: database.url });
  await remover.connect();
  try {
    await remover.query('BEGIN; SELECT FROM traces FOR UPDATE; DELETE FROM annotation_queue_items');
    const adding = store.annotationQueues.addItems({
      ...{ projectNumber, queueId: QUEUE.id, nowMs: RECEIVED_AT_MS, expiredBeforeMs: null, itemsMax: TRACES },
      traces: [{ itemId: randomHex(16), forms: [traceId] }],
    });
    const waiting = `FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    let isAdded = false;
    void adding.then(() => {
      isAdded = true;
    });
    await until(async () => isAdded || (await remover.query(`SELECT 1 ${waiting}`)).rowCount === 1);
    await remover.query('DELETE FROM traces; COMMIT');
    expect(await adding).toEqual({ added: 0, known: 0, unknown: 1 });
  } finally {
    await remover.end();
  }
});

it('feedback that is sent at once to two processes counts once', async () => {
  const traceId = randomHex(32);
  const record = (store: Store, contentId: string | null, eventId: string) =>
    store.feedback.record({
      projectNumber,
      event: {
        ...{ eventId, traceId, type: 'opened', metricsJson: '{}', detailsJson: '{}' },
        ...{ occurredAtMs: RECEIVED_AT_MS, receivedAtMs: RECEIVED_AT_MS },
      },
      ...{ contentId, bytes: 1, room: { eventsMax: 100, bytesMax: 100 }, alikeWithinMs: 1_000 },
    });
  const twice = await Promise.all(
    stores.flatMap((store) => [record(store, null, 'named'), record(store, 'content', randomHex(16))]),
  );
  expect(twice.toSorted()).toEqual(['known', 'known', 'stored', 'stored']);
  expect(await stores[1].feedback.listOf(projectNumber, [traceId])).toHaveLength(2);
});
