import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Database, openReadHandle } from '../../src/storage/engine/sqlite/connection.ts';
import { openCore } from '../../src/storage/engine/sqlite/core.ts';
import { createInlineStore } from '../../src/storage/engine/sqlite/store.ts';
import { temporaryFolder } from '../support/temp.ts';
import { sampleAppend, sampleEvaluator } from './conformance/samples.ts';
import { quietLog } from './quiet-log.ts';

let folder: ReturnType<typeof temporaryFolder>;
let file: string;

beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder.path, 'spandrel.db');
});
afterEach(() => folder.remove());

function promises(db: Database) {
  const read = (pragma: string) => db.pragma(pragma, { simple: true });
  return { journal: read('journal_mode'), synchronous: read('synchronous'), foreignKeys: read('foreign_keys') };
}

it('every handle syncs each commit, before and after it was used, also by management', async () => {
  const full = { journal: 'wal', synchronous: 2, foreignKeys: 1 };
  const opened = openCore({ file, clock: Date.now });
  const store = createInlineStore(opened, { queueMaxBytes: 1024, log: quietLog });
  expect(promises(opened.db)).toEqual(full);
  await store.evaluators.insert(sampleEvaluator(), 9);
  await store.traces.append(sampleAppend());
  expect(promises(opened.db)).toEqual(full);
  const reader = openReadHandle(file);
  expect(promises(reader)).toEqual(full);
  reader.prepare('SELECT count(*) FROM traces').get();
  expect(promises(reader)).toEqual(full);
  expect(() => reader.exec('DELETE FROM traces')).toThrow(/readonly/);
  reader.close();
  await store.close();
});

it('created never runs backwards when the clock does, and the sequence has no gaps', async () => {
  const clocks = [5000, 7000, 6000, 1000, 7001];
  let turn = 0;
  const opened = openCore({ file, clock: () => clocks[turn] ?? 0 });
  const store = createInlineStore(opened, { queueMaxBytes: 1024 * 1024, log: quietLog });
  for (turn = 0; turn < clocks.length; turn += 1) {
    const append = sampleAppend();
    // Repetitions use no numbers.
    await Promise.all([store.traces.append(append), store.traces.append(append)]);
  }
  const rows = opened.db.prepare('SELECT seq, created_at FROM events ORDER BY seq').raw().all();
  expect(rows).toEqual([
    [1, 5000],
    [2, 7000],
    [3, 7000],
    [4, 7000],
    [5, 7001],
  ]);
  expect(opened.db.prepare('SELECT seq, created_at FROM log_heads').raw().all()).toEqual([[5, 7001]]);
  await store.close();
});
