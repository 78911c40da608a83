import { copyFileSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../src/domain/store.ts';
import { ALL_TRACES } from '../../src/domain/traces/search/trace-search-store.ts';
import { backupFile } from '../../src/storage/engine/sqlite/backup.ts';
import { compactFile } from '../../src/storage/engine/sqlite/compact.ts';
import { openStore } from '../../src/storage/open.ts';
import { temporaryFolder } from '../support/temp.ts';
import { PROJECT, sampleAppend } from './conformance/samples.ts';
import { keepUp } from './conformance/subject.ts';
import { quietLog } from './quiet-log.ts';

const SOME = 40;

let folder: ReturnType<typeof temporaryFolder>;
let file: string;
let searchFile: string;

beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder.path, 'spandrel.db');
  searchFile = `${file}.search`;
});
afterEach(() => folder.remove());

/** Opens the store, runs the body, and closes it. Without threads it opens sooner. */
async function withOpen<T>(body: (store: Store) => Promise<T>, writer: 'in its thread' | 'here' = 'here'): Promise<T> {
  const store = await openStore({ url: `sqlite:${file}`, queueMaxBytes: 1024 * 1024, log: quietLog, writer });
  try {
    return await body(store);
  } finally {
    await store.close();
  }
}

async function append(store: Store, user: string, names: readonly string[]): Promise<void> {
  await Promise.all(
    names.map((traceId) => store.traces.append(sampleAppend({ traceId, metadataJson: `{"user_id":"${user}"}` }))),
  );
}

function namesOf(prefix: string, count = SOME): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
}

async function find(store: Store, user: string): Promise<string[]> {
  const { traces } = await store.search.find({
    ...ALL_TRACES,
    ...{ projectNumber: PROJECT.number, sort: 'started_at', isAscending: true, limit: 1_000 },
    filter: { conditions: [{ name: 'metadata.user_id', of: '', values: [user] }], isNegated: false, text: '' },
  });
  return traces.map(({ traceId }) => traceId).sort();
}

/** The ids of the traces that the index has. */
function indexed(): string[] {
  const db = new Database(searchFile, { readonly: true });
  const ids = db.prepare<[], string>('SELECT trace_id FROM indexed_traces ORDER BY 1').pluck().all();
  db.close();
  return ids;
}

const stepOf = (path: string, table: string) => {
  const db = new Database(path, { readonly: true });
  const step = db.prepare(`SELECT step FROM ${table}`).pluck().get();
  db.close();
  return step;
};

/** Everything is found before the index is complete, and then by the index. */
async function expectFound(expected: Readonly<Record<string, readonly string[]>>, unindexed?: number): Promise<void> {
  await withOpen(async (store) => {
    for (const [user, names] of Object.entries(expected)) expect(await find(store, user)).toEqual([...names].sort());
    if (unindexed !== undefined) expect(await store.search.countUnindexed()).toBe(unindexed);
    await keepUp(store);
    expect(await store.search.countUnindexed()).toBe(0);
    for (const [user, names] of Object.entries(expected)) expect(await find(store, user)).toEqual([...names].sort());
  });
  expect(indexed()).toEqual(Object.values(expected).flat().sort());
  expect(stepOf(searchFile, 'state')).toBe(stepOf(file, 'search_state'));
}

describe('the file of the index of traces', () => {
  const names = namesOf('trace');
  const before = { user: names };

  beforeEach(() =>
    withOpen(async (store) => {
      await append(store, 'user', names);
      await keepUp(store);
    }),
  );

  it('is private to its owner, and closing leaves no other files of it', async () => {
    await withOpen(async (store) => {
      expect(await find(store, 'user')).toEqual([...names].sort());
      await append(store, 'user', ['another']);
      await keepUp(store);
    }, 'in its thread');
    expect(readdirSync(folder.path).sort()).toEqual(['spandrel.db', 'spandrel.db.lock', 'spandrel.db.search']);
    expect((statSync(searchFile).mode & 0o777).toString(8)).toBe('600');
    expect(indexed()).toEqual([...names, 'another'].sort());
  });

  it('is kept by the next start', async () => {
    const step = stepOf(searchFile, 'state');
    await expectFound(before, 0);
    expect(stepOf(searchFile, 'state')).toBe(step);
  });

  it('is made anew where it is missing, damaged, of another program or of another layout', async () => {
    const spoil: Readonly<Record<string, () => void>> = {
      missing: () => rmSync(searchFile),
      empty: () => truncateSync(searchFile),
      'cut off': () => truncateSync(searchFile, 8_192),
      'no database': () => writeFileSync(searchFile, 'hello '.repeat(2_000)),
      'of the layout before': () => execute(searchFile, 'PRAGMA user_version = 130003'),
      'of another layout': () => execute(searchFile, 'PRAGMA user_version = 1'),
      'of another database': () => execute(searchFile, "UPDATE state SET step = 'other', previous = NULL"),
      'without its state': () => execute(searchFile, 'DELETE FROM state'),
    };
    for (const [how, run] of Object.entries(spoil)) {
      run();
      await expectFound(before, SOME).catch((error: unknown) => {
        throw new Error(how, { cause: error });
      });
    }
  });

  it('is made anew when it turns out to be damaged while it is used, and no search fails', async () => {
    await withOpen(async (store) => {
      expect(await find(store, 'user')).toEqual([...names].sort());
      execute(searchFile, 'DELETE FROM facets_data WHERE id > 10');
      expect(await find(store, 'user')).toEqual([...names].sort());
    });
    execute(searchFile, 'DELETE FROM facets_data WHERE id > 10');
    await withOpen(async (store) => {
      expect(await find(store, 'user')).toEqual([...names].sort());
      await append(store, 'user', ['another']);
      await keepUp(store);
      await keepUp(store);
      expect(await find(store, 'user')).toEqual([...names, 'another'].sort());
    });
    expect(indexed()).toEqual([...names, 'another'].sort());
  });

  it('repeats the last step when the process ended before the database knew of it', async () => {
    await withOpen(async (store) => {
      await append(store, 'other', names.slice(0, 5));
      await append(store, 'other', ['new']);
    });
    copyFileSync(file, `${file}.before`);
    await withOpen(keepUp);
    copyFileSync(`${file}.before`, file);
    const step = stepOf(searchFile, 'state');
    await withOpen(async (store) => {
      await store.upkeep[0]?.step();
    });
    // The file was not made anew.
    expect(stepOf(searchFile, 'state')).toBe(step);
    await expectFound({ user: names.slice(5), other: [...names.slice(0, 5), 'new'] });
  });

  it('has what a restored backup has, of one step before or of many', async () => {
    for (const steps of [1, 3]) {
      const backup = join(folder.path, `backup-${steps}.db`);
      backupFile(file, backup);
      for (let step = 0; step < steps; step += 1) {
        await withOpen(async (store) => {
          await append(store, 'later', [...names.slice(step, step + 9), `later-${step}`]);
          await keepUp(store);
        });
      }
      copyFileSync(backup, file);
      await expectFound({ ...before, later: [] });
    }
  });

  it('gives its free pages back with those of the database', async () => {
    execute(searchFile, 'CREATE TABLE filler AS SELECT randomblob(200000) AS bytes; DROP TABLE filler');
    const { bytesBefore, bytesAfter } = await compactFile(file, { pause: async () => undefined, nowMs: () => 0 });
    expect(bytesBefore - bytesAfter).toBeGreaterThan(150_000);
    await expectFound(before, 0);
  });

  it('of one course of events does not answer for another', async () => {
    const fork = join(folder.path, 'fork.db');
    const other = join(folder.path, 'other.db');
    copyFileSync(file, fork);
    await withOpen(async (store) => {
      await append(store, 'one', namesOf('one'));
      await keepUp(store);
    });
    copyFileSync(file, other);
    copyFileSync(fork, file);
    await withOpen(async (store) => {
      await append(store, 'two', namesOf('two'));
      await keepUp(store);
    });
    copyFileSync(other, file);
    await expectFound({ ...before, one: namesOf('one'), two: [] });
  });
});

it('a new file is given each trace once, also those that are marked as changed', async () => {
  const names = namesOf('trace', 600);
  await withOpen(async (store) => {
    await append(store, 'user', names);
    let steps = 1;
    while ((await store.upkeep[0]?.step()) === 'more') steps += 1;
    // One makes the file; 512 traces are a step.
    expect(steps).toBe(3);
    expect(await store.search.countUnindexed()).toBe(0);
  });
  expect(indexed()).toEqual(names.toSorted());
});

it('a database without traces has no index', async () => {
  await withOpen(keepUp, 'in its thread');
  expect(readdirSync(folder.path).sort()).toEqual(['spandrel.db', 'spandrel.db.lock']);
});

function execute(path: string, sql: string): void {
  const db = new Database(path, { timeout: 5_000 }).unsafeMode();
  db.exec(sql);
  db.close();
}
