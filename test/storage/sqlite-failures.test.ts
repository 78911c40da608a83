import { randomBytes } from 'node:crypto';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Fault } from '../../src/domain/fault.ts';
import type { TraceAppend } from '../../src/domain/traces/trace.ts';
import { openReadHandle } from '../../src/storage/engine/sqlite/connection.ts';
import { openCore } from '../../src/storage/engine/sqlite/core.ts';
import { describeFailure } from '../../src/storage/engine/sqlite/failures.ts';
import { openFileStore } from '../../src/storage/engine/sqlite/open-file.ts';
import { createInlineStore } from '../../src/storage/engine/sqlite/store.ts';
import { spawnThread } from '../../src/storage/engine/sqlite/thread-calls.ts';
import { startThreadWriter } from '../../src/storage/engine/sqlite/thread-writer.ts';
import { temporaryFolder, until } from '../support/temp.ts';
import { PROJECT, sampleAppend, sampleEvaluator, sampleSpan } from './conformance/samples.ts';
import { quietLog } from './quiet-log.ts';

const options = { queueMaxBytes: 64 * 1024 * 1024, log: quietLog };

let folder: ReturnType<typeof temporaryFolder>;
let file: string;

beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder.path, 'spandrel.db');
});
afterEach(() => folder.remove());

async function faultOf(attempt: Promise<unknown>): Promise<Fault | null> {
  try {
    await attempt;
    return null;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return error;
  }
}

function largeAppend(): TraceAppend {
  return sampleAppend({ spans: [sampleSpan({ paramsJson: JSON.stringify({ filler: 'x'.repeat(20_000) }) })] });
}

it('D4: a full disk refuses writes, keeps reads and every acknowledged write, and heals without a restart', async () => {
  const opened = openCore({ file, clock: Date.now });
  const store = createInlineStore(opened, options);
  const acknowledged: TraceAppend[] = [];
  const pages = Number(opened.db.pragma('page_count', { simple: true }));
  opened.db.pragma(`max_page_count = ${pages + 40}`);
  let refused: Fault | null = null;
  let lost: TraceAppend | undefined;
  while (refused === null) {
    const batch = [largeAppend(), largeAppend(), largeAppend()];
    [refused = null] = (await Promise.all(batch.map((append) => faultOf(store.traces.append(append))))).filter(Boolean);
    if (refused === null) acknowledged.push(...batch);
    else [lost] = batch;
  }
  expect(refused).toMatchObject({ code: 'unavailable', retryAfterSeconds: 5 });
  expect(acknowledged.length).toBeGreaterThan(0);
  expect(await store.traces.find(PROJECT.number, lost?.traceId ?? '')).toBeNull();
  for (const { traceId } of acknowledged) expect(await store.traces.find(PROJECT.number, traceId)).not.toBeNull();
  expect(await faultOf(store.ready())).toMatchObject({ code: 'unavailable' });
  expect(
    await faultOf(store.evaluators.insert(sampleEvaluator({ configJson: `"${'x'.repeat(1_000_000)}"` }), 9)),
  ).toMatchObject({ code: 'unavailable' });

  opened.db.pragma('max_page_count = 1000000');
  await store.ready();
  expect(await store.evaluators.insert(sampleEvaluator(), 9)).toBe('stored');
  await store.traces.append(largeAppend());
  const again = await store.events.list({
    organization: { id: 'organization_1', number: 1 },
    fromMs: 0,
    toMs: Number.MAX_SAFE_INTEGER,
    type: null,
    after: null,
    limit: 1000,
  });
  expect(again).toHaveLength(acknowledged.length + 1);
  expect(opened.db.pragma('integrity_check', { simple: true })).toBe('ok');
  expect(opened.db.prepare('SELECT count(*) FROM write_probe').pluck().get()).toBe(0);
  await store.close();
});

it('names a full disk, for which SQLite says something else, and what to do about rights', () => {
  const error = (code: string) => Object.assign(new Error('disk I/O error'), { code });
  const describe = (code: string, freeBytes: number) => describeFailure(error(code), '/data/x.db', () => freeBytes);
  for (const code of ['SQLITE_IOERR_WRITE', 'SQLITE_IOERR_SHMSIZE', 'SQLITE_FULL', 'SQLITE_CANTOPEN']) {
    expect(describe(code, 0)).toBe('the disk of /data is full: disk I/O error; free some space');
    expect(describe(code, 100_000_000)).toBe('disk I/O error');
  }
  expect(describe('SQLITE_BUSY', 0)).toBe('disk I/O error');
  expect(describe('SQLITE_READONLY', 0)).toContain('give the folder and its files to the user');
  expect(describe('SQLITE_READONLY_DBMOVED', 0)).toBe('disk I/O error');
});

it('refuses writes while another program holds the database, and continues when it is released', async () => {
  const store = await openFileStore(file, options);
  const intruder = new Database(file);
  intruder.exec('BEGIN IMMEDIATE');
  const append = sampleAppend();
  expect(await faultOf(store.traces.append(append))).toMatchObject({ code: 'unavailable', retryAfterSeconds: 5 });
  expect(await store.traces.find(PROJECT.number, append.traceId)).toBeNull();
  intruder.exec('ROLLBACK');
  intruder.close();
  expect(await store.evaluators.insert(sampleEvaluator(), 9)).toBe('stored');
  await store.traces.append(append);
  await store.ready();
  await store.close();
});

it('says that an operator must act once the file is destroyed, to reads, to writes and to readiness', async () => {
  const store = await openFileStore(file, options);
  const append = sampleAppend();
  await store.traces.append(append);
  await store.close();
  const again = await openFileStore(file, options);
  const { size } = statSync(file);
  writeFileSync(file, randomBytes(size));
  const damaged = { code: 'unavailable', message: expect.stringContaining('an operator must stop the server') };
  expect(await faultOf(again.traces.append(sampleAppend()))).toMatchObject(damaged);
  expect(await faultOf(again.traces.find(PROJECT.number, append.traceId))).toMatchObject(damaged);
  expect(await faultOf(again.ready())).toMatchObject(damaged);
  await again.close().catch(() => {});
});

it('waits for a backup tool that holds the database for a moment, while reads go on', async () => {
  const store = await openFileStore(file, options);
  const earlier = sampleAppend();
  await store.traces.append(earlier);
  const intruder = new Database(file);
  intruder.exec('BEGIN IMMEDIATE');
  const append = sampleAppend();
  const sinceMs = performance.now();
  const stored = faultOf(store.traces.append(append));
  await until(async () => {
    expect(await store.traces.find(PROJECT.number, earlier.traceId)).not.toBeNull();
    return performance.now() - sinceMs > 600;
  });
  intruder.exec('COMMIT');
  intruder.close();
  expect(await stored).toBeNull();
  expect(await store.traces.find(PROJECT.number, append.traceId)).not.toBeNull();
  await store.close();
});

it('a writer thread that dies fails what waits, leaves nothing half done, and is started again', async () => {
  const threads: Worker[] = [];
  const writer = await startThreadWriter({
    log: quietLog,
    spawn: () => {
      const thread = spawnThread({ thread: 'writer', file });
      threads.push(thread);
      return thread;
    },
  });
  const before = sampleAppend();
  await writer.call('append', [before]);
  for (let death = 1; death <= 3; death += 1) {
    // Large enough that the kill interrupts it.
    const batch = Array.from({ length: 3000 }, () => sampleAppend());
    const lost = faultOf(writer.call('append', batch));
    await threads.at(-1)?.terminate();
    expect(await lost).toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 });
    expect(await faultOf(writer.call('check'))).toMatchObject({ code: 'unavailable' });
    await until(async () => (await faultOf(writer.call('check'))) === null);
    expect(threads).toHaveLength(death + 1);
    const reader = openReadHandle(file);
    // The batch is stored whole or not at all, wherever the thread died.
    expect((Number(reader.prepare('SELECT count(*) FROM traces').pluck().get()) - death) % 3000).toBe(0);
    reader.close();
    await writer.call('append', [sampleAppend()]);
  }
  await writer.close();
});

it('a read that takes long does not hold up the writer', async () => {
  const store = await openFileStore(file, options);
  await Promise.all(Array.from({ length: 20 }, () => store.traces.append(sampleAppend())));
  const slow = openReadHandle(file);
  const rows = slow.prepare('SELECT * FROM spans').iterate();
  rows.next();
  const append = sampleAppend();
  await store.traces.append(append);
  expect(await store.traces.find(PROJECT.number, append.traceId)).not.toBeNull();
  rows.return?.();
  slow.close();
  await store.close();
});

it('a bug in one verb is reported as such and does not affect the next', async () => {
  const store = await openFileStore(file, options);
  const evaluator = sampleEvaluator();
  await store.evaluators.insert(evaluator, 9);
  await expect(store.evaluators.insert({ ...evaluator, slug: 'b' }, 9)).rejects.toThrow(
    'the id in evaluators is taken',
  );
  await expect(store.evaluators.insert({ ...evaluator, slug: 'b' }, 9)).rejects.not.toBeInstanceOf(Fault);
  await store.traces.append(sampleAppend());
  await store.ready();
  await store.close();
});
