import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { beginWalk, type RetentionCounts } from '../../src/domain/retention-walk.ts';
import type { Store } from '../../src/domain/store.ts';
import { RETENTION_LOCK } from '../../src/storage/engine/postgres/retention.ts';
import { openStore } from '../../src/storage/open.ts';
import { insertOldEvents } from '../support/old-events.ts';
import { query } from '../support/postgres-databases.ts';
import { createPostgresTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { sampleAudit } from './conformance/management-samples.ts';
import { NO_LOG_CUTS, NO_TELEMETRY_CUTS } from './conformance/retention-walk.ts';
import { bareSpan, ORGANIZATION, RECEIVED_AT_MS, sampleAppend, samplePlan } from './conformance/samples.ts';
import { quietLog } from './quiet-log.ts';

const ROWS = 100;

let database: TestDatabase;
let store: Store;
beforeEach(async () => {
  database = await createPostgresTestDatabase();
  store = await openStore({ url: database.url, queueMaxBytes: 1024 * 1024, log: quietLog });
});
afterEach(async () => {
  await store.close();
  await database.remove();
});

/** The start of the month `months` months ago. */
function monthAgoMs(months: number): number {
  const now = new Date();
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months);
}

function suffix(months: number): string {
  return new Date(monthAgoMs(months)).toISOString().slice(0, 7).replace('-', '_');
}

async function tables(): Promise<readonly string[]> {
  const rows = await query(
    database.url,
    "SELECT relname FROM pg_class WHERE relname ~ '_\\d{4}_\\d{2}$' AND relkind = 'r'",
  );
  return rows.map((row) => row.relname);
}

async function count(table: string): Promise<number> {
  return Number((await query(database.url, `SELECT count(*) AS count FROM ${table}`))[0]?.count);
}

/** Runs what PostgreSQL does with months: those of the log, and then those of telemetry. */
async function finish(eventsBeforeMs = 0) {
  const log = store.logRetention.begin({ ...NO_LOG_CUTS, eventsBeforeMs });
  const takeStep = beginWalk([...log, ...store.telemetryRetention.begin(NO_TELEMETRY_CUTS)]);
  const removed: RetentionCounts[] = [];
  const outcomes: string[] = [];
  const heldMs: number[] = [];
  do {
    const step = await takeStep(ROWS);
    removed.push(step.removed);
    outcomes.push(step.outcome);
    heldMs.push(step.heldMs);
  } while (outcomes.at(-1) !== 'done' && outcomes.at(-1) !== 'busy');
  return { outcomes, heldMs, months: removed.reduce((sum, each) => sum + each.months, 0) };
}

const OLD = { organizationNumber: 1, projectNumber: 1, count: 250 };

describe('months', () => {
  it('of events are dropped whole, those of requests a month later, with the keys that lead to them', async () => {
    // Removes old months that exist already.
    await finish(monthAgoMs(16));
    await insertOldEvents(database, { ...OLD, firstAtMs: monthAgoMs(16) });
    // The empty partitions: spans and evaluations of both months, and events of the first.
    expect(await finish(monthAgoMs(16))).toMatchObject({ months: 5 });
    expect([await count('events'), await count('requests'), await count('request_keys')]).toEqual([250, 250, 250]);
    await finish(monthAgoMs(15));
    expect(await tables()).not.toContain(`events_${suffix(16)}`);
    expect([await count('events'), await count('requests'), await count('request_keys')]).toEqual([0, 250, 250]);
    await finish(monthAgoMs(14));
    expect(await tables()).not.toContain(`requests_${suffix(16)}`);
    expect([await count('requests'), await count('request_keys')]).toEqual([0, 0]);
  });

  it('of requests follow the clock of the database, like those of events, not that of a process', async () => {
    const append = sampleAppend({ receivedAtMs: monthAgoMs(20) });
    await store.traces.append(append);
    await finish(monthAgoMs(13));
    const id = `${append.requests[0]?.gatewayRequestId}:completed`;
    expect(await store.events.find(ORGANIZATION, id, 0)).not.toBeNull();
    await store.traces.append({ ...append, receivedAtMs: Date.now() });
    expect(await count('events')).toBe(1);
  });

  it('to come are made ahead of time', async () => {
    await query(database.url, `DROP TABLE IF EXISTS events_${suffix(-2)}, spans_${suffix(-1)}, requests_${suffix(0)}`);
    await finish();
    for (const months of [0, -1, -2]) {
      for (const parent of ['events', 'requests', 'spans', 'evaluations']) {
        expect(await tables()).toContain(`${parent}_${suffix(months)}`);
      }
    }
  });

  it('without spans are dropped once they are over, and created again when needed', async () => {
    const old = { receivedAtMs: monthAgoMs(3), requests: [], evaluations: [] };
    const bare = sampleAppend({ ...old, spans: [] });
    const full = sampleAppend({ ...old, receivedAtMs: monthAgoMs(5) });
    await store.traces.append(bare);
    await store.traces.append(full);
    await store.traces.append(sampleAppend({ receivedAtMs: Date.now() }));
    await finish();
    expect(await tables()).not.toContain(`spans_${suffix(3)}`);
    expect(await tables()).toEqual(expect.arrayContaining([`spans_${suffix(5)}`, `evaluations_${suffix(0)}`]));
    const late = { receivedAtMs: Date.now(), spans: [bareSpan()] };
    await Promise.all([
      store.traces.append({ ...bare, ...late }),
      store.traces.append(sampleAppend({ receivedAtMs: Date.now() })),
    ]);
    expect(await store.traces.find(bare.projectNumber, bare.traceId)).toMatchObject({ spanCount: 1 });
    expect(await store.traces.find(full.projectNumber, full.traceId)).toMatchObject({ spanCount: 1 });
  });
});

describe('what others hold', () => {
  async function holding<T>(sql: string, body: () => Promise<T>): Promise<T> {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      await client.query(`BEGIN; ${sql}`);
      return await body();
    } finally {
      await client.end();
    }
  }

  it('a month that is being read is left to the next walk, and appends hardly wait', async () => {
    await insertOldEvents(database, { ...OLD, firstAtMs: monthAgoMs(16) });
    await store.traces.append(sampleAppend({ receivedAtMs: Date.now() }));
    const { outcomes, waits } = await holding(`SELECT FROM events_${suffix(16)} LIMIT 1`, async () => {
      let isOver = false;
      const times: number[] = [];
      const appending = (async () => {
        while (!isOver) {
          const startedAtMs = performance.now();
          await store.traces.append(sampleAppend({ receivedAtMs: Date.now() }));
          times.push(performance.now() - startedAtMs);
        }
      })();
      const finished = await finish(monthAgoMs(14));
      isOver = true;
      await appending;
      return { ...finished, waits: times };
    });
    expect(outcomes).toContain('locked');
    expect(outcomes.at(-1)).toBe('done');
    expect(await tables()).toContain(`events_${suffix(16)}`);
    expect(await tables()).not.toContain(`requests_${suffix(16)}`);
    expect(waits.length).toBeGreaterThan(3);
    // A drop waits at most 50 ms; the rest allows for a busy machine.
    expect(waits.toSorted((a, b) => a - b)[Math.floor(waits.length / 2)]).toBeLessThan(100);
    await finish(monthAgoMs(14));
    expect(await tables()).not.toContain(`events_${suffix(16)}`);
  });

  it('a walk ends where another process is at it', async () => {
    await holding(`SELECT pg_advisory_xact_lock(${RETENTION_LOCK})`, async () => {
      expect(await finish()).toMatchObject({ outcomes: ['busy'], months: 0 });
    });
    expect((await finish()).outcomes.at(-1)).toBe('done');
  });

  it('a project that chooses a longer term waits for the step, and nothing goes after the answer', async () => {
    const plan = samplePlan();
    await store.installation.bootstrap(plan);
    const { number: projectNumber = 0 } = (await store.keys.findProject(plan.project.id)) ?? {};
    const traces = Array.from({ length: 500 }, () => sampleAppend({ projectNumber, spans: [], requests: [] }));
    await Promise.all(traces.map((append) => store.traces.append(append)));
    await store.projects.updateSettings(
      plan.project.id,
      { traceRetentionDays: 1 },
      sampleAudit(plan.organization.id, { createdAtMs: 0 }),
    );
    const cuts = { ...NO_TELEMETRY_CUTS, traces: [{ storedDays: 1, expiredBeforeMs: RECEIVED_AT_MS + 1 }] };
    const takeStep = beginWalk(store.telemetryRetention.begin(cuts));
    await takeStep(ROWS);
    const step = takeStep(ROWS);
    await store.projects.updateSettings(
      plan.project.id,
      { traceRetentionDays: 0 },
      sampleAudit(plan.organization.id, { createdAtMs: 0 }),
    );
    const left = await count('traces');
    await step;
    for (let outcome = ''; outcome !== 'done'; ) ({ outcome } = await takeStep(ROWS));
    expect(await count('traces')).toBe(left);
    expect(left).toBeGreaterThanOrEqual(400);
  });
});
