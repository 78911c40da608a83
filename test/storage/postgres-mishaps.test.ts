import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../src/domain/store.ts';
import type { TraceAppend } from '../../src/domain/traces/trace.ts';
import { openStore } from '../../src/storage/open.ts';
import { query } from '../support/postgres-databases.ts';
import { startProxy } from '../support/proxy.ts';
import { isFullTier } from '../support/scenario.ts';
import { until } from '../support/temp.ts';
import { createPostgresTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { sampleAudit } from './conformance/management-samples.ts';
import {
  ORGANIZATION,
  PROJECT,
  sampleAppend,
  sampleEvaluator,
  samplePlan,
  sampleRequest,
  sampleSpan,
} from './conformance/samples.ts';
import { quietLog } from './quiet-log.ts';

let database: TestDatabase;
let stores: Store[];
beforeEach(async () => {
  database = await createPostgresTestDatabase();
  stores = [];
});
afterEach(async () => {
  for (const store of stores) await store.close();
  await database.remove();
});

async function open(url = database.url): Promise<Store> {
  const store = await openStore({ url, queueMaxBytes: 64 * 1024 * 1024, log: quietLog });
  stores.push(store);
  return store;
}

/** On a busy machine the time limit of a commit is too short for the largest. */
const LARGEST_APPEND = isFullTier ? 10_000 : 2_000;

const appendNow = (changes: Partial<TraceAppend> = {}) => sampleAppend({ receivedAtMs: Date.now(), ...changes });

const WHO_WAITS = `FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
const WAITING = `SELECT count(*) AS number ${WHO_WAITS}`;
const CUT_WHO_WAITS = `SELECT count(pg_terminate_backend(pid)) AS number ${WHO_WAITS}`;

async function numberIn(sql: string): Promise<number> {
  return Number((await query(database.url, sql))[0]?.number);
}

describe('a network that drops a connection silently', () => {
  it('fails one query, and the connection is not used again', async () => {
    const proxy = await startProxy(database.url);
    const store = await open(proxy.url);
    try {
      expect(await store.evaluators.find(PROJECT.id, 'any')).toBeNull();
      proxy.dropSilently();
      await expect(store.evaluators.find(PROJECT.id, 'any')).rejects.toMatchObject({ code: 'unavailable' });
      expect(await store.evaluators.insert(sampleEvaluator(), 10)).toBe('stored');
    } finally {
      await proxy.close();
    }
  });
});

describe('transactions of management that lose their connection half-way', () => {
  it('leave room for others, however many there were', async () => {
    const store = await open();
    const plan = samplePlan();
    await store.installation.bootstrap(plan);
    const choose = () =>
      store.projects.updateSettings(
        plan.project.id,
        { traceRetentionDays: 7 },
        sampleAudit(plan.organization.id, { createdAtMs: 0 }),
      );
    const holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
    await holder.query('BEGIN; SELECT FROM projects FOR UPDATE');
    for (let loss = 1; loss <= 3; loss += 1) {
      const outcome = expect(choose()).rejects.toMatchObject({ code: 'unavailable' });
      await until(async () => (await numberIn(CUT_WHO_WAITS)) === 1);
      await outcome;
    }
    await holder.end();
    expect(await choose()).toMatchObject({ traceRetentionDays: 7 });
  });
});

describe('a database that is younger than it was', () => {
  it('has a key revoked that was in use before, although as many changes were counted as before', async () => {
    const store = await open();
    const plan = samplePlan();
    await store.installation.bootstrap(plan);
    const generation = await numberIn('SELECT number FROM auth_generation');
    // A change that the restored database lacks.
    await query(database.url, `UPDATE projects SET slug = slug || '-2'`);
    expect(await store.keys.findApiKey(plan.apiKey.id)).toMatchObject({ revokedAtMs: null });
    await query(database.url, `UPDATE auth_generation SET number = ${generation}`);
    await query(database.url, 'UPDATE api_keys SET revoked_at = 1');
    expect(await store.keys.findApiKey(plan.apiKey.id)).toMatchObject({ revokedAtMs: 1 });
  });

  it('gives no number to two traces, although a process has numbers left from before', async () => {
    const [first, second] = [await open(), await open()];
    const before = await numberIn('SELECT last_value AS number FROM trace_numbers');
    await first.traces.append(appendNow());
    await query(database.url, `DELETE FROM traces; SELECT setval('trace_numbers', ${before}, false)`);
    await query(
      database.url,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    for (const store of [second, first, second, first]) await appendUntilStored(store);
    expect(await numberIn('SELECT count(*) AS number FROM traces')).toBe(4);
    expect(await numberIn('SELECT count(DISTINCT sequence) AS number FROM traces')).toBe(4);
  });

  /** Retries, because the first attempts use closed connections. */
  async function appendUntilStored(store: Store): Promise<void> {
    const append = appendNow();
    for (let tries = 1; ; tries += 1) {
      try {
        await store.traces.append(append);
        return;
      } catch (error) {
        if (tries === 10) throw error;
      }
    }
  }
});

describe('statistics that are out of date', () => {
  // With 400 rows the index of updates is smaller than that of ids, and only a little less exact.
  it.each([20, 400])('and plans made for %d rows keep no trace from being found by its key later', async (rows) => {
    await (await open()).traces.append(appendNow());
    const names = await query(
      database.url,
      "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
    );
    for (const { name } of names) await query(database.url, `ALTER TABLE ${name} SET (autovacuum_enabled = off)`);
    const store = await open();
    const appendAll = (appends: readonly TraceAppend[]) => Promise.all(appends.map(store.traces.append));
    const renamed = (append: TraceAppend, name: string) => ({
      ...append,
      spans: append.spans.map((span) => ({ ...span, name })),
    });
    // Sessions make their plans on small tables and keep them.
    const few = Array.from({ length: rows }, () => appendNow());
    for (let sent = 0; sent < rows; sent += 20) await appendAll(few.slice(sent, sent + 20));
    for (let round = 1; round <= 10; round += 1) {
      await appendAll(few.slice(0, 20).map((append) => renamed(append, `${round}`)));
    }
    const many = Array.from({ length: 4_000 }, () => appendNow());
    await appendAll(many);
    for (let round = 1; round <= 3; round += 1) {
      await appendAll(many.slice(0, 20).map((append) => renamed(append, `${round}`)));
    }
    expect(await rowsRead()).toBeLessThan(many.length * 5);
  });

  it('do not make the largest append take longer than it may when it is sent again', async () => {
    const store = await open();
    const ids = Array.from({ length: LARGEST_APPEND }, (_, index) => `gw-${index}`);
    const append = appendNow({
      spans: ids.map((id) => sampleSpan({ costNanoUsd: 1, paramsJson: `{"gateway_request_id":"${id}"}` })),
      requests: ids.map((gatewayRequestId, spanIndex) => sampleRequest({ spanIndex, gatewayRequestId })),
    });
    await store.traces.append(append);
    await store.traces.append(append);
    const events = { organization: ORGANIZATION, fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, type: null, after: null };
    expect(await store.events.list({ ...events, limit: 20_000 })).toHaveLength(ids.length);
  });

  async function rowsRead(): Promise<number> {
    // Sessions report their statistics when they end.
    for (const store of stores.splice(0)) await store.close();
    await until(async () => (await numberIn(SESSIONS)) === 0);
    return await numberIn(ROWS_READ);
  }

  const SESSIONS = `SELECT count(*) AS number FROM pg_stat_activity
    WHERE datname = current_database() AND application_name LIKE 'spandrel%'`;
  const ROWS_READ = `SELECT sum(seq_tup_read) + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes) AS number
    FROM pg_stat_user_tables`;
});

describe('a long read, as by a dump', () => {
  it('keeps no process from starting to append at the beginning of a month', async () => {
    await (await open()).traces.append(appendNow());
    const now = new Date();
    const later = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 2)).toISOString().slice(0, 7);
    const suffix = later.replace('-', '_');
    const ofMonth = ['events', 'requests', 'spans', 'evaluations'].map((parent) => `${parent}_${suffix}`);
    await query(database.url, `DROP TABLE IF EXISTS ${ofMonth.join(', ')}`);
    const reader = new pg.Client({ connectionString: database.url });
    await reader.connect();
    try {
      await reader.query('BEGIN; LOCK TABLE events, requests, spans, evaluations IN ACCESS SHARE MODE');
      await (await open()).traces.append(appendNow());
    } finally {
      await reader.end();
    }
  });
});

describe('a process of the next version that adds columns', () => {
  it('keeps those of this one that run from nothing, and its columns are left empty', async () => {
    const store = await open();
    await store.traces.append(appendNow());
    for (const table of ['traces', 'spans', 'requests', 'events']) {
      await query(database.url, `ALTER TABLE ${table} ADD COLUMN later text`);
    }
    const append = appendNow();
    await store.traces.append(append);
    await store.traces.append({ ...append, spans: append.spans.map((span) => ({ ...span, name: 'again' })) });
    expect(await numberIn('SELECT count(*) AS number FROM spans WHERE later IS NULL')).toBe(append.spans.length * 2);
    await expect(open()).rejects.toThrow(/changed by hand: it has column events\.later text/);
  });
});

describe('a question that the database gives up for the sake of others', () => {
  it('may be repeated', async () => {
    const name = new URL(database.url).pathname.slice(1);
    await query(database.url, `ALTER DATABASE ${name} SET deadlock_timeout = '2s'`);
    const store = await open();
    const append = appendNow();
    await store.traces.append(append);
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    try {
      // The read detects the deadlock first, so the database aborts the read.
      await other.query(`SET deadlock_timeout = '1min'`);
      const months = await other.query(
        `SELECT inhrelid::regclass AS name FROM pg_inherits WHERE inhparent = 'events'::regclass`,
      );
      const names = months.rows.map((month) => month.name).join(', ');
      await other.query(`BEGIN; LOCK TABLE ${names} IN ACCESS EXCLUSIVE MODE`);
      const id = `${append.requests[0]?.gatewayRequestId}:completed`;
      const answer = expect(store.events.find(ORGANIZATION, id, 0)).rejects.toMatchObject({ code: 'unavailable' });
      await until(async () => (await numberIn(WAITING)) === 1);
      // The read locks the table and waits for its partitions: this lock makes a deadlock.
      await other.query('LOCK TABLE ONLY events IN ACCESS EXCLUSIVE MODE');
      await answer;
    } finally {
      await other.end();
    }
  });
});

describe('a store whose last write failed', () => {
  it('is ready again only once its tables may grow', async () => {
    const store = await open();
    await store.traces.append(appendNow());
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    await other.query('BEGIN; LOCK TABLE traces');
    const lost = expect(store.traces.append(appendNow())).rejects.toMatchObject({ code: 'unavailable' });
    await until(async () => (await numberIn(CUT_WHO_WAITS)) === 1);
    await lost;
    await other.end();
    const sizeBytes = () => numberIn(`SELECT pg_total_relation_size('write_probe') AS number`);
    const before = await sizeBytes();
    await store.ready();
    expect((await sizeBytes()) - before).toBeGreaterThanOrEqual(65_536);
    expect(await numberIn('SELECT count(*) AS number FROM write_probe')).toBe(0);
  });
});
