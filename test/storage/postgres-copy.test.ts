import { execFile } from 'node:child_process';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Store } from '../../src/domain/store.ts';
import { type CopyStep, copyDatabase } from '../../src/storage/copy/copy.ts';
import { TABLES } from '../../src/storage/copy/tables.ts';
import { openStore } from '../../src/storage/open.ts';
import { createDatabases, query } from '../support/postgres-databases.ts';
import { temporaryFolder } from '../support/temp.ts';
import { createPostgresTestDatabase, type TestDatabase } from '../support/test-database.ts';
import {
  ORGANIZATION,
  PROJECT,
  RECEIVED_AT_MS,
  sampleAppend,
  sampleEvaluation,
  samplePlan,
  sampleSpan,
} from './conformance/samples.ts';
import { readAllEvaluations, readSpanIds } from './conformance/trace-reading.ts';
import { type CopySource, fillCopySource, SECOND_ORGANIZATION } from './copy-source.ts';
import { quietLog } from './quiet-log.ts';

const KILLED = new URL('copy-process.ts', import.meta.url).pathname;
const FOR_EVER = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, type: null, after: null, limit: 1000 };

const folder = temporaryFolder();
const file = join(folder.path, 'spandrel.db');
const from = `sqlite:${file}`;
let source: CopySource;
const databases: Pick<TestDatabase, 'url' | 'remove'>[] = [];

beforeAll(async () => {
  source = await fillCopySource(file);
});
afterEach(async () => {
  for (const database of databases.splice(0)) await database.remove();
});
afterAll(() => folder.remove());

async function newDatabase(): Promise<TestDatabase> {
  const database = await createPostgresTestDatabase();
  databases.push(database);
  return database;
}

async function copyTo(to: string, report: (step: CopyStep) => void = () => undefined): Promise<number> {
  return await copyDatabase({ from, to, report });
}

/** Kills a copying process within an action on a table. */
async function copyAndKill(to: string, action: CopyStep['action'], table: string): Promise<void> {
  const signal = await new Promise((resolve) => {
    execFile(process.execPath, [KILLED, from, to, action, table], (error) => resolve(error?.signal));
  });
  expect(signal).toBe('SIGKILL');
}

async function refusalOf(copying: Promise<unknown>): Promise<string> {
  const text = await copying.then(
    () => 'done',
    (error: Error) => error.message,
  );
  expect(text.split('\n')).toHaveLength(1);
  return text;
}

function open(url: string): Promise<Store> {
  return openStore({ url, queueMaxBytes: 1024 * 1024, log: quietLog });
}

/** All answers of the store about the source's content. */
async function answersOf(store: Store) {
  const traces = [];
  for (const { projectNumber, traceId } of source.appends) {
    const trace = await store.traces.find(projectNumber, traceId);
    if (trace === null) throw new Error(`the trace ${traceId} is missing`);
    // Each store numbers traces itself.
    const { sequence, ...record } = trace;
    const stored = { ...trace, projectNumber };
    const ids = await readSpanIds(store.traces, stored);
    traces.push({
      record,
      ids,
      outline: await store.traces.outline(stored),
      spans: await store.traces.spans(stored, ids.slice(0, 100)),
      evaluations: await readAllEvaluations(store.traces, stored),
    });
  }
  const events = [];
  for (const organization of [ORGANIZATION, SECOND_ORGANIZATION]) {
    const listed = await store.events.list({ organization, ...FOR_EVER });
    events.push(listed, await Promise.all(listed.map((event) => store.events.find(organization, event.id, 0))));
  }
  return {
    traces,
    events,
    settled: await store.events.list({ organization: ORGANIZATION, ...FOR_EVER, type: 'gateway.request.settled' }),
    secret: await store.installation.readSecret(),
    keys: await Promise.all(source.keys.map((key) => store.keys.findApiKey(key.id))),
    projects: await Promise.all(source.projectIds.map((id) => store.keys.findProject(id))),
    byKey: await Promise.all(
      source.projectKeyHashes.map((hash) => store.keys.findProjectByKeyHash(hash, RECEIVED_AT_MS)),
    ),
    hasImported: await store.keys.hasImportedCredentials(),
    evaluators: await Promise.all(source.evaluators.map(({ projectId, id }) => store.evaluators.find(projectId, id))),
  };
}

describe('a copy from SQLite to PostgreSQL', () => {
  it('answers all that the source does, also when it was killed twice on the way', async () => {
    const database = await newDatabase();
    await copyAndKill(database.url, 'copy', 'spans');
    const [progress] = await query(database.url, 'SELECT table_name, row_count::integer AS rows FROM copy_progress');
    expect(progress).toEqual({ table_name: 'spans', rows: expect.any(Number) });
    expect(await refusalOf(open(database.url))).toMatch(/a copy into this database was begun and not ended/);
    await copyAndKill(database.url, 'verify', 'spans');
    const steps: CopyStep[] = [];
    const rows = await copyTo(database.url, (step) => steps.push(step));
    expect(rows).toBeGreaterThan(2_500);
    expect(steps.filter((step) => step.action === 'copy').map((step) => step.table)).not.toContain('spans');
    expect(await query(database.url, `SELECT to_regclass('copy_progress') AS left`)).toEqual([{ left: null }]);
    const [before, after] = [await open(from), await open(database.url)];
    try {
      const expected = await answersOf(before);
      expect(expected.events.flat()).not.toContain(null);
      expect(expected.settled).toHaveLength(1);
      expect(expected.keys).not.toContain(null);
      expect(expected.byKey).not.toContain(null);
      expect(await answersOf(after)).toEqual(expected);
      // Requests without an outcome still wait, and governance events are not emitted again.
      expect(await after.requests.reportGovernance(source.governance)).toEqual(['duplicate', 'duplicate']);
      const overdue = { kind: 'settlement', admittedByMs: RECEIVED_AT_MS, countMax: 10 } as const;
      expect(await after.requests.settle(overdue)).toEqual({ count: 1, hasMore: false });
      const settled = await after.events.find(ORGANIZATION, 'gw-admitted:settled', 0);
      expect(JSON.parse(settled?.envelope ?? '').data).toMatchObject({ model: 'gpt-5', metadata: { é: 1 } });
    } finally {
      await before.close();
      await after.close();
    }
  });

  it('continues with the row after the last stored one', async () => {
    const database = await newDatabase();
    await copyAndKill(database.url, 'copy', 'spans');
    const [stored] = await query(database.url, 'SELECT count(*)::integer AS rows FROM spans');
    expect(stored?.rows).toBeGreaterThan(0);
    const steps: CopyStep[] = [];
    await copyTo(database.url, (step) => steps.push(step));
    expect(steps[0]).toMatchObject({ action: 'copy', table: 'spans', rows: stored?.rows });
  });

  it('can be used further: nothing counts twice and no number is given again', async () => {
    const database = await newDatabase();
    await copyTo(database.url);
    const store = await open(database.url);
    try {
      const [known] = source.appends;
      if (known === undefined) throw new Error('the source is empty');
      const { length } = await store.events.list({ organization: ORGANIZATION, ...FOR_EVER });
      await store.traces.append(known);
      const fresh = sampleAppend();
      await store.traces.append(fresh);
      expect(await store.events.list({ organization: ORGANIZATION, ...FOR_EVER })).toHaveLength(length + 1);
      const sequences = await query(database.url, 'SELECT sequence FROM traces');
      expect(new Set(sequences.map((row) => row.sequence)).size).toBe(sequences.length);
      expect(await store.traces.find(PROJECT.number, fresh.traceId)).toMatchObject({ spanCount: 1 });
    } finally {
      await store.close();
    }
    const inserted = await query(
      database.url,
      `INSERT INTO organizations (id, name, slug, created_at, updated_at) VALUES ('third', '', '', 0, 0) RETURNING number`,
    );
    expect(inserted).toEqual([{ number: 3 }]);
    const numbers = await query(
      database.url,
      `SELECT nextval('webhook_endpoints_number_seq')::integer AS endpoint, nextval('webhook_replays_number_seq')::integer
         AS replay, nextval('webhook_deliveries_number_seq')::integer AS delivery, number::integer AS change FROM webhook_changes`,
    );
    expect(numbers).toEqual([{ endpoint: 8, replay: 4, delivery: 12, change: 21 }]);
  });

  it('brings a database without a schema up to date itself, and leaves out what retention is removing', async () => {
    const database = await newDatabase();
    await query(database.url, 'DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    await copyTo(database.url);
    expect(await query(database.url, `SELECT 1 FROM spans WHERE span_id = 'forgotten'`)).toEqual([]);
    expect(await query(database.url, 'SELECT 1 FROM traces WHERE project_number < 0')).toEqual([]);
  });

  it('begins an unfinished backfill again, and knows the finished ones', async () => {
    const folder = temporaryFolder();
    const file = join(folder.path, 'rewritten.db');
    try {
      const store = await open(`sqlite:${file}`);
      await store.installation.bootstrap(samplePlan());
      await store.close();
      const db = new Database(file);
      db.exec("INSERT INTO backfills VALUES ('begun', '70', 7, NULL, 9, 3), ('ended', '50', 5, 8, 9, 2)");
      db.close();
      const database = await newDatabase();
      await copyDatabase({ from: `sqlite:${file}`, to: database.url, report: () => undefined });
      expect(await query(database.url, 'SELECT name, cursor, finished_at FROM backfills ORDER BY name')).toMatchObject([
        { name: 'begun', cursor: '', finished_at: null },
        { name: 'ended', cursor: '' },
      ]);
      expect(await query(database.url, 'SELECT name FROM backfills WHERE finished_at = 8')).toEqual([
        { name: 'ended' },
      ]);
    } finally {
      folder.remove();
    }
  });

  it('takes totals larger than any column, and a target that prints values in its own way', async () => {
    const huge = temporaryFolder();
    const url = `sqlite:${join(huge.path, 'huge.db')}`;
    try {
      const store = await open(url);
      const append = sampleAppend({ spans: Array.from({ length: 1100 }, () => sampleSpan()), requests: [] });
      await store.traces.append({ ...append, evaluations: [sampleEvaluation({ score: 0.1 + 0.2 })] });
      await store.installation.bootstrap(samplePlan());
      await store.close();
      const database = await newDatabase();
      const name = new URL(database.url).pathname.slice(1);
      await query(
        database.url,
        `ALTER DATABASE ${name} SET bytea_output = 'escape'; ALTER DATABASE ${name} SET extra_float_digits = 0`,
      );
      const report = () => undefined;
      expect(await copyDatabase({ from: url, to: database.url, report })).toBeGreaterThan(1100);
    } finally {
      huge.remove();
    }
  });
});

describe('a copy that is not as the source is', () => {
  let unfinished: TestDatabase;
  beforeAll(async () => {
    unfinished = await createPostgresTestDatabase();
    await copyAndKill(unfinished.url, 'verify', 'installation');
  });
  afterAll(() => unfinished.remove());

  /** A new copy of the unfinished target for each test. */
  async function copyOfUnfinished(): Promise<string> {
    const { address, template } = inject('postgres');
    const name = new URL(unfinished.url).pathname.slice(1);
    const url = await createDatabases(address).createDatabase({ ...template, name });
    databases.push({ url, remove: () => createDatabases(address).dropDatabase(url) });
    return url;
  }

  it.each([
    ['events', `UPDATE events SET envelope = replace(envelope, 'é', 'e')`],
    ['spans', `DELETE FROM spans WHERE span_id = 'the span'`],
    ['api_keys', `UPDATE api_keys SET imported = NOT imported`],
    ['evaluations', 'UPDATE evaluations SET score = 2e-7 WHERE score < 1e-6'],
  ])('a row of %s that is not as it was makes the verification fail', async (table, sql) => {
    const url = await copyOfUnfinished();
    await query(url, sql);
    const text = await refusalOf(copyTo(url));
    expect(text).toContain(`not equal to the source in ${table};`);
    // A second run refuses it too.
    expect(await refusalOf(copyTo(url))).toBe(text);
  });
});

describe('a copy is refused', () => {
  it('into a database that has an organization', async () => {
    const database = await newDatabase();
    await copyTo(database.url);
    expect(await refusalOf(copyTo(database.url))).toBe(
      'the target is not empty: it has an organization; name an empty database',
    );
  });

  it('into the unfinished copy of another database', async () => {
    const database = await newDatabase();
    await copyAndKill(database.url, 'copy', 'spans');
    const other = temporaryFolder();
    try {
      await fillCopySource(join(other.path, 'spandrel.db'));
      const copying = copyDatabase({
        from: `sqlite:${join(other.path, 'spandrel.db')}`,
        to: database.url,
        report: () => undefined,
      });
      expect(await refusalOf(copying)).toMatch(/unfinished copy of another database/);
    } finally {
      other.remove();
    }
  });

  it('from a database that is in use', async () => {
    const database = await newDatabase();
    const running = await open(from);
    try {
      expect(await refusalOf(copyTo(database.url))).toMatch(/another process is using the database/);
    } finally {
      await running.close();
    }
    expect(await query(database.url, 'SELECT 1 FROM organizations')).toEqual([]);
  });

  it('from a database that is not up to date', async () => {
    const old = temporaryFolder();
    const oldFile = join(old.path, 'old.db');
    try {
      new Database(oldFile).close();
      const copying = copyDatabase({
        from: `sqlite:${oldFile}`,
        to: (await newDatabase()).url,
        report: () => undefined,
      });
      expect(await refusalOf(copying)).toMatch(/migrate it first/);
    } finally {
      old.remove();
    }
  });
});

it('every column of SQLite has one in PostgreSQL', async () => {
  const database = await newDatabase();
  const db = new Database(file, { readonly: true });
  const tables = db
    .prepare<[], string>(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
    )
    .pluck()
    .all();
  // The target has a record of its own schema. PostgreSQL keeps envelopes with events, large texts with their rows and the change number in a sequence, and
  // indexes traces anew; the gateway asks providers again for the answers it kept; the other tables hold no content.
  const elsewhere = [
    ...['cached_answers', 'cached_bytes'],
    'schema_versions',
    'envelopes',
    'large_texts',
    'unused_texts',
    'indexed_requests',
    'request_keys',
    'webhook_changes',
    'write_probe',
    'mikro_orm_migrations',
    'search_pending',
    'search_state',
  ];
  expect(tables.filter((name) => !elsewhere.includes(name)).sort()).toEqual(
    [...new Set(TABLES.map((table) => table.source))].sort(),
  );
  for (const { name, source: given } of TABLES.filter(
    ({ name }) => !['request_keys', 'search_pending'].includes(name),
  )) {
    const columns = db.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck().all(given);
    const stored = await query(database.url, `SELECT attname FROM pg_attribute WHERE attrelid = '${name}'::regclass`);
    const kept = new Set(stored.map((row) => row.attname));
    // The place of a request in its table on SQLite says nothing about the request.
    const missing = columns.filter((column) => !kept.has(column));
    expect(missing).toEqual(name === 'requests' ? ['sequence'] : []);
  }
  db.close();
});

it('is not ended by limits of the database that are meant for requests', async () => {
  const { url } = await newDatabase();
  const name = new URL(url).pathname.slice(1);
  const limits = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];
  for (const limit of limits) await query(url, `ALTER DATABASE ${name} SET ${limit} = '10ms'`);
  expect(await copyTo(url)).toBeGreaterThan(0);
});
