import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Database } from '../../src/storage/engine/sqlite/connection.ts';
import { openSearchFile } from '../../src/storage/engine/sqlite/search-file.ts';
import { prepareMerge } from '../../src/storage/engine/sqlite/search-merges.ts';
import { prepareSearchWriter } from '../../src/storage/engine/sqlite/search-writer.ts';
import type { IndexedTrace } from '../../src/storage/search/trace-index.ts';
import { seeded } from '../support/scenario.ts';
import { temporaryFolder } from '../support/temp.ts';

const TRACES = 2_000;
const TRACES_PER_COMMIT = 100;
const WORDS = 60;
/** Rows that FTS5 writes at the end of a commit: its own part has about twenty, and those of all traces hundreds. */
const CHANGES_MAX = 100;
const MERGES_MIN = 50;
/** Of 25 commits, each of which adds a part. */
const PARTS_MAX = 16;

let folder: ReturnType<typeof temporaryFolder>;
let db: Database;

beforeEach(() => {
  folder = temporaryFolder();
  db = openSearchFile(join(folder.path, 'x.search'));
});
afterEach(() => {
  db.close();
  folder.remove();
});

const random = seeded(7);

function traceOf(sequence: number): IndexedTrace<string> {
  const word = () => Math.floor(random() * 2 ** 30).toString(36);
  return {
    ...{ projectNumber: 1, sequence, traceId: `trace-${sequence}`, startMs: 1, updatedAtMs: 1, insertedAtMs: 1 },
    ...{ totalTimeMs: 5, totalCostNanoUsd: 5, totalTokens: 5, firstTokenMs: null, facets: [], names: [] },
    text: Array.from({ length: WORDS }, word).join(' '),
    sums: {
      ...{ spanCount: 1, hasError: false, promptTokens: 1, completionTokens: 1 },
      ...{ user: null, customer: null, thread: null, labels: [], prompts: null, models: [] },
    },
  };
}

const changes = () => Number(db.prepare('SELECT total_changes()').pluck().get());

/** Writes the traces of these sequences in commits, and merges after each. */
function writeAll(from: number, to: number) {
  const [writer, merge] = [prepareSearchWriter(db), prepareMerge(db)];
  let [changesMax, merges] = [0, 0];
  for (let first = from; first < to; first += TRACES_PER_COMMIT) {
    db.exec('BEGIN IMMEDIATE');
    for (let sequence = first; sequence < first + TRACES_PER_COMMIT; sequence += 1) writer.put(traceOf(sequence));
    writer.end(true);
    const before = changes();
    db.exec('COMMIT');
    changesMax = Math.max(changesMax, changes() - before);
    while (merge()) merges += 1;
  }
  return { changesMax, merges };
}

const countParts = () => Number(db.prepare('SELECT count(DISTINCT segid) FROM texts_idx').pluck().get());

it('no commit merges, also when a quarter of a large part is replaced; many small merges do', () => {
  const [written, replaced] = [writeAll(0, TRACES), writeAll(0, TRACES / 4)];
  expect(Math.max(written.changesMax, replaced.changesMax)).toBeLessThan(CHANGES_MAX);
  expect(written.merges + replaced.merges).toBeGreaterThan(MERGES_MIN);
  expect(countParts()).toBeLessThan(PARTS_MAX);
});
