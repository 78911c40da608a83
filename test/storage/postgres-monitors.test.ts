import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ClaimedJob } from '../../src/domain/evaluations/jobs.ts';
import type { Bootstrap } from '../../src/domain/management/management-port.ts';
import type { Monitor } from '../../src/domain/monitors/monitor.ts';
import type { Store } from '../../src/domain/store.ts';
import type { TraceAppend } from '../../src/domain/traces/trace.ts';
import { openStore } from '../../src/storage/open.ts';
import { query } from '../support/postgres-databases.ts';
import { until } from '../support/temp.ts';
import { createPostgresTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { expectBoundedBacklog, SMALL_BACKLOG } from './conformance/bounded-backlog.ts';
import {
  RECEIVED_AT_MS,
  sampleAppend,
  sampleEvaluation,
  sampleEvaluator,
  sampleMonitor,
  samplePlan,
  sampleSpan,
} from './conformance/samples.ts';
import { quietLog } from './quiet-log.ts';

const LATER_MS = RECEIVED_AT_MS + 3_600_000;
const LEASE_MS = 60_000;
/** The connections of the test's database. */
const HERE = 'datname = current_database()';

let database: TestDatabase;
/** Stores of two processes. */
let stores: readonly [Store, Store];
let plan: Bootstrap;
let monitors: readonly [Monitor, Monitor];
let fence = 0;

beforeEach(async () => {
  database = await createPostgresTestDatabase();
  const open = () => openStore({ url: database.url, queueMaxBytes: 1024 * 1024, log: quietLog });
  stores = [await open(), await open()];
  plan = samplePlan();
  await stores[0].installation.bootstrap(plan);
  const evaluator = sampleEvaluator({ projectId: plan.project.id });
  await stores[0].evaluators.insert(evaluator, 10);
  monitors = [sampleMonitor(evaluator, { slug: 'a' }), sampleMonitor(evaluator, { slug: 'b' })];
  for (const monitor of monitors) expect(await stores[0].monitors.insert(monitor, { liveMax: 100 })).toBe('stored');
});
afterEach(async () => {
  for (const store of stores) await store.close();
  await database.remove();
});

async function findProject() {
  const project = await stores[0].keys.findProject(plan.project.id);
  if (project === null) throw new Error('the project is not there');
  return project;
}

async function createAppend() {
  const { id: projectId, number: projectNumber, organizationId, organizationNumber } = await findProject();
  const project = { projectId, projectNumber, organizationId, organizationNumber };
  return (changes: Partial<TraceAppend> = {}) =>
    sampleAppend({ ...project, requests: [], spans: [sampleSpan({ parentId: null })], ...changes });
}

async function claim(store: Store, limit = 100): Promise<readonly ClaimedJob[]> {
  fence += 1;
  const shares = [
    { projectNumber: (await findProject()).number, limits: { monitors: limit, triggers: limit, calls: limit } },
  ];
  return await store.evaluationJobs.claim({ shares, nowMs: LATER_MS, leaseMs: LEASE_MS, fence });
}

async function claimAll(store: Store): Promise<readonly ClaimedJob[]> {
  const claimed: ClaimedJob[] = [];
  for (;;) {
    const some = await claim(store, 10);
    if (some.length === 0) return claimed;
    claimed.push(...some);
  }
}

/** Closes the stores: connections report their deadlocks at their end. */
async function expectNoDeadlock(): Promise<void> {
  for (const store of stores) await store.close();
  const found = await query(database.url, 'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()');
  expect(Number(found[0]?.deadlocks)).toBe(0);
}

const numberOfChanges = async () => (await query(database.url, 'SELECT max(number) AS n FROM monitor_changes'))[0]?.n;

it('a change that no append depends on is none to them', async () => {
  const [monitor] = monitors;
  const before = await numberOfChanges();
  const changed = {
    ...monitor,
    name: 'Other',
    parametersJson: '{"a":1}',
    preconditions: [{ field: 'label', value: 'x' }],
    updatedAtMs: monitor.updatedAtMs + 1,
  };
  expect(await stores[0].monitors.replace(changed, monitor.updatedAtMs)).toBe('stored');
  expect(await numberOfChanges()).toBe(before);
  const sampled = { ...changed, sample: 0.5, updatedAtMs: changed.updatedAtMs + 1 };
  expect(await stores[0].monitors.replace(sampled, changed.updatedAtMs)).toBe('stored');
  expect(await numberOfChanges()).not.toBe(before);
});

it('appends are stored, and seen by every monitor, however often another process changes monitors', async () => {
  const append = await createAppend();
  let [changing] = monitors;
  let changes = 0;
  let isOver = false;
  const change = async () => {
    while (!isOver) {
      const next = { ...changing, sample: changing.sample === 1 ? 0.5 : 1, updatedAtMs: changing.updatedAtMs + 1 };
      expect(await stores[1].monitors.replace(next, changing.updatedAtMs)).toBe('stored');
      changing = next;
      changes += 1;
    }
  };
  const changed = change();
  const appends = Array.from({ length: 150 }, () => append());
  try {
    for (const each of appends) await stores[0].traces.append(each);
  } finally {
    isOver = true;
    await changed;
  }
  expect(changes).toBeGreaterThan(20);
  const seen = (await claimAll(stores[0])).filter(({ sourceId }) => sourceId === monitors[1].id);
  expect(new Set(seen.map(({ traceId }) => traceId))).toEqual(new Set(appends.map(({ traceId }) => traceId)));
  expect(seen).toHaveLength(appends.length);
});

it('two processes that claim and end jobs, while their traces change, give each once without a deadlock', async () => {
  const append = await createAppend();
  const appends = Array.from({ length: 60 }, () => append());
  for (const each of appends) await stores[0].traces.append(each);
  const given: string[] = [];
  const work = async (store: Store) => {
    for (let empty = 0; empty < 3; ) {
      const jobs = await claim(store, 7);
      empty = jobs.length === 0 ? empty + 1 : 0;
      const ends = jobs.map(async (job) => {
        given.push(`${job.traceId} ${job.sourceId}`);
        const evaluations = [sampleEvaluation({ evaluationId: `eval_mon_${job.sourceId}` })];
        const result = append({ traceId: job.traceId, spans: [], metadataJson: null, evaluations });
        return await store.evaluationJobs.end({
          ...job,
          kind: 'evaluation',
          outcome: { kind: 'store', append: result },
        });
      });
      for (const ended of await Promise.all(ends)) expect(ended).toBe('recorded');
    }
  };
  // Due only after all claims, so that no job is claimed twice.
  const receivedAtMs = LATER_MS + 1_000;
  const change = Promise.all(
    appends.map(({ traceId }, index) =>
      stores[index % 2 === 0 ? 0 : 1].traces.append(append({ traceId, receivedAtMs })),
    ),
  );
  await Promise.all([work(stores[0]), work(stores[1]), change]);
  // Jobs whose trace changed before the claim wait until it settles.
  expect(new Set(given).size).toBe(given.length);
  const { depth } = await stores[0].evaluationJobs.counts(1_000);
  expect(given.length + 2 * depth).toBeGreaterThanOrEqual(2 * appends.length);
  await expectNoDeadlock();
});

it('jobs are put back in the order in which others take them', async () => {
  const append = await createAppend();
  for (let count = 0; count < 2; count += 1) await stores[0].traces.append(append());
  const jobs = (await claimAll(stores[0])).toSorted((one, other) => other.traceSequence - one.traceSequence);
  const keys = jobs.map(({ traceSequence }) => traceSequence);
  const lock = (sequence: number) => `SELECT 1 FROM evaluation_jobs WHERE trace_sequence = ${sequence} FOR UPDATE`;
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    await client.query(`BEGIN; ${lock(Math.min(...keys))}`);
    const released = stores[0].evaluationJobs.release(jobs, LATER_MS);
    const waits = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await until(async () => (await query(database.url, waits)).length > 0);
    await client.query(`${lock(Math.max(...keys))} NOWAIT`);
    await client.query('COMMIT');
    await released;
  } finally {
    await client.end();
  }
  expect(await claimAll(stores[0])).toHaveLength(jobs.length);
});

it('PostgreSQL stores no more jobs than may wait', async () => {
  const other = await createPostgresTestDatabase();
  const limits = { queueMaxBytes: 1024 * 1024, log: quietLog, jobQueue: SMALL_BACKLOG };
  const store = await openStore({ url: other.url, ...limits });
  try {
    await expectBoundedBacklog(store);
  } finally {
    await store.close();
    await other.remove();
  }
});

it('the jobs of a removed trace are locked in the order of their keys', async () => {
  const [store] = stores;
  const append = await createAppend();
  const { traceId, projectNumber } = append();
  await store.traces.append(append({ traceId }));
  expect(await claim(store)).toHaveLength(2);
  const first = '(SELECT min(source_id) FROM evaluation_jobs)';
  await query(database.url, `UPDATE evaluation_jobs SET failures = 0 WHERE source_id = ${first}`);
  // New connections then read rows in the order of the file, in which the first key is now the last one.
  const name = new URL(database.url).pathname.slice(1);
  for (const setting of ['enable_indexscan', 'enable_bitmapscan']) {
    await query(database.url, `ALTER DATABASE ${name} SET ${setting} = off`);
  }
  await query(
    database.url,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${HERE} AND pid <> pg_backend_pid()`,
  );
  await until(() =>
    store.ready().then(
      () => true,
      () => false,
    ),
  );
  const other = new pg.Client({ connectionString: database.url });
  await other.connect();
  try {
    await other.query('BEGIN');
    await other.query(`SELECT FROM evaluation_jobs WHERE source_id = ${first} FOR UPDATE`);
    const removed = store.traceChanges.removeTrace({ projectNumber, traceId, expiredBeforeMs: null });
    const waiting = `SELECT FROM pg_stat_activity WHERE ${HERE} AND wait_event_type = 'Lock'`;
    await until(async () => (await query(database.url, waiting)).length === 1);
    await other.query('SELECT FROM evaluation_jobs FOR UPDATE');
    await other.query('COMMIT');
    expect(await removed).toBe(true);
  } finally {
    await other.end();
  }
  await expectNoDeadlock();
});
