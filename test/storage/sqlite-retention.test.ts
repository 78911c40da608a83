import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { beginWalk } from '../../src/domain/retention-walk.ts';
import { packRequestKey } from '../../src/storage/engine/sqlite/compact-ids.ts';
import { createTransact, openCore } from '../../src/storage/engine/sqlite/core.ts';
import { prepareLargeTexts } from '../../src/storage/engine/sqlite/large-texts.ts';
import { connectTo, openMapper } from '../../src/storage/engine/sqlite/mapper.ts';
import { prepareRequestKeys } from '../../src/storage/engine/sqlite/request-keys.ts';
import {
  createRetention,
  prepareRemoval,
  type Removal,
  type RemovalDone,
} from '../../src/storage/engine/sqlite/retention.ts';
import { createQueryRunner } from '../../src/storage/engine/sqlite/run-query.ts';
import { NO_LOG_CUTS, NO_TELEMETRY_CUTS } from './conformance/retention-walk.ts';
import { bareSpan, RECEIVED_AT_MS, randomHex, sampleAppend, samplePlan } from './conformance/samples.ts';

let opened: ReturnType<typeof openCore>;
beforeEach(async () => {
  opened = openCore({ file: ':memory:', clock: () => RECEIVED_AT_MS });
});
afterEach(() => opened.core.close());

type Seqs = { readonly completed?: number; readonly settled?: number; readonly correction?: number };

/** Adds a request and events; `seq` is also their time. */
function insertRequest(key: string, { completed, settled, correction }: Seqs, organization = 1): void {
  const { db } = opened;
  const events = [
    [`${key}:completed`, completed],
    [`${key}:settled`, settled],
    [`${key}:completed:2`, correction],
  ] as const;
  for (const [id, seq] of events) {
    if (seq === undefined) continue;
    db.prepare('INSERT INTO envelopes VALUES (?, ?, ?)').run(organization, seq, `{"id":"${id}"}`);
    const type = id.endsWith(':settled') ? 2 : 1;
    db.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?)').run(organization, seq, id, type, seq);
  }
  db.prepare(
    `INSERT INTO requests (organization_number, request_key, project_number, state, completed_by, completed_at,
       settled_at, correction_at, received_at) VALUES (?, ?, 1, 0, 0, ?, ?, ?, 0)`,
  ).run(organization, packRequestKey(key), completed ?? null, settled ?? null, correction ?? null);
  db.exec('INSERT OR REPLACE INTO request_keys SELECT organization_number, request_key, sequence FROM requests');
  db.prepare('INSERT OR REPLACE INTO log_heads VALUES (?, 1000, 1000, 0, 0)').run(organization);
}

function rows(sql: string): unknown[] {
  return opened.db.prepare(sql).pluck().all();
}

function eventsBefore(eventsBeforeMs: number): Removal {
  return { port: 'log', part: 'events', cuts: { ...NO_LOG_CUTS, eventsBeforeMs }, after: 0 };
}

function removalAt(nowMs: () => number) {
  const { db } = opened;
  const parts = { requests: prepareRequestKeys(db), largeTexts: prepareLargeTexts(db) };
  return prepareRemoval({ db, transact: createTransact(db, openMapper(), connectTo(db)), ...parts, nowMs });
}

function removeEvents(beforeMs: number, rowsMax = 1000): Promise<RemovalDone> {
  // The clock stands still, so only `rowsMax` ends a step.
  return removalAt(() => 0)({ removal: eventsBefore(beforeMs), rowsMax });
}

describe('the requests of old events', () => {
  it('stay until their last event is removed, with any keys', async () => {
    const hashed = `req_${randomHex(30)}`;
    insertRequest(hashed, { settled: 1, completed: 5, correction: 9 });
    insertRequest('gw-1', { completed: 2, correction: 6 });
    insertRequest('gw-2', { settled: 3 });
    const left = async (beforeMs: number) => {
      await removeEvents(beforeMs);
      return [rows('SELECT id FROM events').length, rows('SELECT 1 FROM requests').length];
    };
    expect(await left(2)).toEqual([5, 3]);
    expect(await left(4)).toEqual([3, 2]);
    expect(await left(6)).toEqual([2, 2]);
    expect(await left(7)).toEqual([1, 1]);
    expect(rows('SELECT seq FROM envelopes')).toEqual([9]);
    expect(await left(10)).toEqual([0, 0]);
    expect(rows('SELECT 1 FROM envelopes')).toEqual([]);
  });

  it('go when all of their events are of one millisecond', async () => {
    insertRequest('gw-1', { settled: 1, completed: 2, correction: 3 });
    opened.db.exec(`UPDATE events SET created_at = 7;
      UPDATE requests SET completed_at = 7, settled_at = 7, correction_at = 7`);
    await removeEvents(8);
    expect(
      rows('SELECT 1 FROM requests UNION ALL SELECT 1 FROM request_keys UNION ALL SELECT 1 FROM envelopes'),
    ).toEqual([]);
  });
});

describe('a step', () => {
  it('removes the oldest first, and not more than it may', async () => {
    for (let seq = 1; seq <= 100; seq += 1) insertRequest(`gw-${seq}`, { completed: seq });
    expect(await removeEvents(91, 30)).toMatchObject({ end: { removed: { events: 30 }, next: 0 } });
    expect(rows('SELECT min(seq) FROM envelopes')).toEqual([31]);
    expect(await removeEvents(91, 1000)).toMatchObject({ end: { removed: { events: 60 }, next: null } });
    expect(rows('SELECT min(seq) FROM envelopes')).toEqual([91]);
  });

  it('passes by organizations without anything old', async () => {
    for (const organization of [3, 5, 8]) insertRequest('gw-1', { completed: 50 }, organization);
    insertRequest('gw-2', { completed: 1 }, 8);
    expect(await removeEvents(10, 2)).toMatchObject({
      end: { removed: { events: 0 }, next: 5 },
    });
    expect(await removeEvents(10)).toMatchObject({ end: { removed: { events: 1 }, next: null } });
  });

  it('ends when it has taken its time, and always gets somewhere', async () => {
    const append = sampleAppend({ spans: Array.from({ length: 200 }, () => bareSpan()), requests: [] });
    await opened.core.verbs.append([append]);
    opened.db.exec('UPDATE traces SET project_number = -project_number');
    for (let seq = 1; seq <= 200; seq += 1) insertRequest(`gw-${seq}`, { completed: seq });
    let nowMs = 0;
    // Each read of the clock advances it by 6 ms.
    const remove = removalAt(() => (nowMs += 6));
    const { end, heldMs } = await remove({ removal: eventsBefore(1000), rowsMax: 500 });
    expect(end.removed?.events).toBeGreaterThan(0);
    expect(end.removed?.events).toBeLessThan(100);
    expect(end.next).toBe(0);
    expect(heldMs).toBeGreaterThan(0);
    const traces: Removal = { port: 'telemetry', part: 'traces', cuts: NO_TELEMETRY_CUTS, after: 0 };
    await remove({ removal: traces, rowsMax: 500 });
    const [left] = rows('SELECT count(*) FROM spans');
    expect(left).toBeGreaterThan(100);
    expect(left).toBeLessThan(200);
  });
});

it('a trace is erased by its keys, so it costs the same however many its project has', () => {
  const { listCounted, lockTraces, markStored } = opened.queries.retention;
  for (const { text, cells } of [listCounted, lockTraces, markStored]) {
    const given = { projectNumber: 1, sequences: [1, 2], partsMax: 10 };
    const plan = opened.db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`).all(...cells(given));
    const ofTraces = plan.map(({ detail }) => detail).filter((detail) => / traces\b/.test(detail));
    expect(ofTraces).toEqual(['SEARCH traces USING INTEGER PRIMARY KEY (rowid=?)']);
  }
});

it('a walk ends even when every step exceeds its time', async () => {
  const plan = samplePlan();
  await opened.core.verbs['installation.bootstrap'](plan);
  const append = sampleAppend({ spans: Array.from({ length: 20 }, () => bareSpan()), requests: [] });
  await opened.core.verbs.append([append, sampleAppend({ requests: [] })]);
  for (let seq = 1; seq <= 40; seq += 1) insertRequest(`gw-${seq}`, { completed: seq });
  let nowMs = 0;
  const remove = removalAt(() => (nowMs += 20));
  const beforeMs = RECEIVED_AT_MS + 1;
  const runner = createQueryRunner(opened.db, async (read) => read(), opened.queries);
  const { logRetention, telemetryRetention, managementRetention } = createRetention(runner, remove);
  const takeStep = beginWalk([
    ...logRetention.begin({ ...NO_LOG_CUTS, eventsBeforeMs: 1000 }),
    ...telemetryRetention.begin({ ...NO_TELEMETRY_CUTS, traces: [{ storedDays: null, expiredBeforeMs: beforeMs }] }),
    ...managementRetention.begin({ auditBeforeMs: beforeMs }),
  ]);
  for (let steps = 0; (await takeStep(500)).outcome !== 'done'; steps += 1) {
    if (steps === 100) throw new Error('the walk gets nowhere');
  }
  expect(rows('SELECT id FROM events')).toEqual([]);
  expect(rows('SELECT trace_id FROM traces')).toEqual([]);
  expect(rows('SELECT id FROM audit_log')).toEqual([]);
});
