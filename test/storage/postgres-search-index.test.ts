import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../src/domain/store.ts';
import type { FilterName } from '../../src/domain/traces/search/trace-filter.ts';
import type { TraceSort } from '../../src/domain/traces/search/trace-search-query.ts';
import { ALL_TRACES, type SearchQuery, TOTAL_MAX } from '../../src/domain/traces/search/trace-search-store.ts';
import { openStore } from '../../src/storage/open.ts';
import { query } from '../support/postgres-databases.ts';
import { until } from '../support/temp.ts';
import { createPostgresTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { bareSpan, PROJECT, RECEIVED_AT_MS, sampleAppend } from './conformance/samples.ts';
import { createSearchSamples } from './conformance/search-samples.ts';
import { keepUp } from './conformance/subject.ts';
import { quietLog } from './quiet-log.ts';

const { number: projectNumber } = PROJECT;

let database: TestDatabase;
/** Stores of two processes. */
let stores: readonly [Store, Store];
beforeEach(async () => {
  database = await createPostgresTestDatabase();
  const open = () => openStore({ url: database.url, queueMaxBytes: 64 * 1024 * 1024, log: quietLog });
  stores = [await open(), await open()];
});
afterEach(async () => {
  for (const store of stores) await store.close();
  await database.remove();
});

const sql = (text: string) => query(database.url, text);

async function count(table: string): Promise<number> {
  return Number((await sql(`SELECT count(*) AS count FROM ${table}`))[0]?.count);
}

function ask(changes: Partial<SearchQuery> = {}): SearchQuery {
  return { ...ALL_TRACES, projectNumber, sort: 'started_at', isAscending: false, limit: 100, ...changes };
}

function having(name: FilterName, ...values: readonly string[]): SearchQuery['filter'] {
  return { conditions: [{ name, of: '', values }], isNegated: false, text: '' };
}

function indexOnce(store: Store) {
  const [indexer] = store.upkeep;
  if (indexer === undefined) throw new Error('the store has no upkeep');
  return indexer.step();
}

/** Durations by model whose counts are not those of the rows. */
const MISCOUNTED = `SELECT * FROM (
    SELECT project_number, floor(started_at / 86400000.0)::integer AS day, model, kind = 1 AS is_first_token,
      bucket_of(value) AS bucket, count(*) AS found
    FROM indexed_traces CROSS JOIN LATERAL unnest(duration_models, duration_kinds, duration_values) AS each (model, kind, value)
    GROUP BY 1, 2, 3, 4, 5) AS of_rows
  FULL JOIN indexed_model_durations USING (project_number, day, model, is_first_token, bucket)
  WHERE found IS DISTINCT FROM spans`;

describe('two processes that index one database', () => {
  it('index every trace once beside appends, changes and removals, and never wait for each other for ever', async () => {
    const samples = createSearchSamples(1);
    let isOver = false;
    const change = async () => {
      for (let round = 0; round < 8; round += 1) {
        const some = Array.from({ length: 150 }, samples.index);
        await Promise.all(some.map((index) => stores[index % 2 === 0 ? 0 : 1].traces.append(samples.trace(index))));
        for (const index of some.slice(0, 15)) {
          const trace = { projectNumber, traceId: samples.trace(index).traceId, expiredBeforeMs: null };
          if (index % 2 === 0) await stores[1].traceChanges.removeTrace(trace);
          else await stores[0].traceChanges.patchMetadata(trace, samples.patch(), samples.nowMs());
        }
      }
      isOver = true;
    };
    const index = async (store: Store) => {
      while (!isOver) await indexOnce(store);
    };
    await Promise.all([change(), ...stores.map(index)]);
    await keepUp(stores[0]);
    expect(await stores[1].search.countUnindexed()).toBe(0);
    const differing = await sql(
      `SELECT FROM traces FULL JOIN indexed_traces AS indexed
         ON traces.project_number = indexed.project_number AND sequence = trace_sequence
       WHERE (traces.trace_id, traces.updated_at, traces.span_count)
         IS DISTINCT FROM (indexed.trace_id, indexed.updated_at, indexed.span_count)`,
    );
    expect(differing).toEqual([]);
    expect(await sql(MISCOUNTED)).toEqual([]);
    for (const store of stores) await store.close();
    const [{ deadlocks } = {}] = await sql(
      `SELECT deadlocks::integer FROM pg_stat_database WHERE datname = current_database()`,
    );
    expect(deadlocks).toBe(0);
  });

  it('a step leaves alone what another one is at; when that process dies, nothing of it is left and the next step does it', async () => {
    for (let each = 0; each < 3; each += 1) await stores[0].traces.append(sampleAppend());
    const holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
    await holder.query('BEGIN; SELECT FROM search_pending FOR UPDATE');
    const dying = indexOnce(stores[0]).then(
      () => 'indexed',
      () => 'died',
    );
    const waiting = `FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await until(async () => (await sql(`SELECT ${waiting}`)).length > 0);
    expect(await indexOnce(stores[1])).toBe('done');
    expect(await count('search_pending')).toBe(3);
    await sql(`SELECT pg_terminate_backend(pid) ${waiting}`);
    expect(await dying).toBe('died');
    await holder.query('COMMIT');
    await holder.end();
    expect([await count('search_pending'), await count('indexed_traces')]).toEqual([3, 0]);
    expect(await indexOnce(stores[1])).toBe('done');
    expect([await count('search_pending'), await count('indexed_traces')]).toEqual([0, 3]);
  });

  it('a trace that changes while it is indexed stays pending', async () => {
    const append = sampleAppend({ requests: [] });
    await stores[0].traces.append(append);
    // Takes effect between the reading of the trace and the removal of its mark.
    await sql(
      `CREATE FUNCTION change_mark() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN UPDATE search_pending SET mark = mark + 1; RETURN new; END $$;
       CREATE TRIGGER change_mark AFTER INSERT ON indexed_traces EXECUTE FUNCTION change_mark()`,
    );
    await indexOnce(stores[0]);
    expect(await stores[0].search.countUnindexed()).toBe(1);
    await sql('DROP TRIGGER change_mark ON indexed_traces');
    await keepUp(stores[0]);
    expect(await stores[0].search.countUnindexed()).toBe(0);
  });
});

describe('traces that a process of an earlier version indexed', () => {
  const durations = `SELECT trace_id, durations_at = updated_at AS known, duration_values FROM indexed_traces ORDER BY trace_id`;

  it('get the durations of their spans, new ones and those that it indexed again', async () => {
    const appends = Array.from({ length: 600 }, () =>
      sampleAppend({ spans: [bareSpan({ model: 'gpt-5' })], requests: [] }),
    );
    await Promise.all(appends.map(stores[0].traces.append));
    await keepUp(stores[0]);
    const indexed = await sql(durations);
    expect(indexed).toHaveLength(600);
    expect(indexed.every(({ known, duration_values: values }) => known && values.length === 1)).toBe(true);
    const [first = '', second = ''] = appends.map(({ traceId }) => traceId);
    await sql(
      `UPDATE indexed_traces SET durations_at = NULL, duration_models = NULL, duration_kinds = NULL, duration_values = NULL
       WHERE trace_id <> '${first}'`,
    );
    // It does not know the columns, and leaves them as they were.
    await sql(
      `UPDATE indexed_traces SET updated_at = updated_at + 1, duration_values = '{7}' WHERE trace_id = '${first}'`,
    );
    expect(await sql(MISCOUNTED)).toEqual([]);
    await stores[1].traceChanges.removeTrace({ projectNumber, traceId: second, expiredBeforeMs: null });
    await keepUp(stores[1]);
    expect(await sql(durations)).toEqual(indexed.filter((row) => row.trace_id !== second));
    expect(await sql(MISCOUNTED)).toEqual([]);
  });
});

/** More than are sorted to find a page. */
const MANY = TOTAL_MAX + 200;

/** Each walk checks every trace. */
const ORDERS = [
  ['started_at', true],
  ['total_cost', false],
  ['first_token_ms', true],
  ['first_token_ms', false],
] as const satisfies readonly (readonly [TraceSort, boolean])[];

/** Stores as many traces, of which all sort alike. */
async function storeMany(): Promise<void> {
  const span = bareSpan({
    model: 'gpt-5',
    firstTokenAtMs: RECEIVED_AT_MS - 1_900,
    costNanoUsd: 5,
    inputJson: '{"type":"text","value":"The same invoice"}',
  });
  await stores[0].traces.append(sampleAppend({ spans: [span], evaluations: [], requests: [] }));
  await keepUp(stores[0]);
  const copyAll = async (table: string, sequence: string, changes: string) =>
    await sql(
      `INSERT INTO ${table} SELECT (jsonb_populate_record(stored,
         jsonb_build_object('${sequence}', ${sequence} + number${changes}))).*
       FROM ${table} AS stored, generate_series(1, ${MANY - 1}) AS number`,
    );
  await copyAll('traces', 'sequence', `, 'trace_id', md5(number::text)`);
  await copyAll('spans', 'trace_sequence', '');
  await copyAll('indexed_traces', 'trace_sequence', `, 'trace_id', md5(number::text)`);
}

async function walk(asked: SearchQuery): Promise<readonly string[]> {
  const found: string[] = [];
  for (let { after } = asked; ; ) {
    const { traces, next } = await stores[0].search.find({ ...asked, after });
    found.push(...traces.map(({ traceId }) => traceId));
    if (next === null) return found;
    after = next;
  }
}

describe('searches among many traces that sort alike', () => {
  it('find each once, by the bytes of its id, in every order', async () => {
    await storeMany();
    await sql(`UPDATE indexed_traces SET first_token_ms = NULL WHERE trace_id < '8'`);
    await sql(`UPDATE traces SET first_token_ms = NULL WHERE trace_id < '8'`);
    const ids = (await sql('SELECT trace_id FROM traces ORDER BY trace_id')).map((row): string => row.trace_id);
    const [low, high] = [ids.filter((id) => id < '8'), ids.filter((id) => id >= '8')];
    for (const [sort, isAscending] of ORDERS) {
      const inOrder = (some: readonly string[]) => (isAscending ? some : some.toReversed());
      const expected = sort === 'first_token_ms' ? [...inOrder(high), ...inOrder(low)] : inOrder(ids);
      const asked = ask({ sort, isAscending, limit: 2_500, filter: having('spans.model', 'gpt-5') });
      expect(await walk(asked)).toEqual(expected);
    }
    const { total } = await stores[0].search.find(ask({ filter: having('spans.model', 'gpt-5'), countMax: TOTAL_MAX }));
    expect(total).toEqual({ count: TOTAL_MAX, isExact: false });
  });
});

describe('what PostgreSQL cannot store', () => {
  it('is not found, and fails no search', async () => {
    await stores[0].traces.append(sampleAppend({ metadataJson: '{"user_id":"u\\u0000"}' }));
    await keepUp(stores[0]);
    for (const wild of ['\u0000', 'a\u0000bcd', '\ud800', 'abc\udc00def']) {
      expect((await stores[0].search.find(ask({ filter: having('metadata.user_id', wild) }))).traces).toEqual([]);
      const filter = { conditions: [], isNegated: false, text: wild };
      expect((await stores[0].search.find(ask({ filter }))).traces.length).toBeLessThan(2);
    }
  });
});

it('a filter of a thousand values finds what has one of them', async () => {
  const users = Array.from({ length: 1_000 }, (_, index) => `user ${index}`);
  const appends = [3, 999, 1_000].map((user) => sampleAppend({ metadataJson: `{"user_id":"user ${user}"}` }));
  for (const append of appends) await stores[0].traces.append(append);
  await keepUp(stores[0]);
  const found = await stores[0].search.find(ask({ filter: having('metadata.user_id', ...users), countMax: 10 }));
  expect(found.total).toEqual({ count: 2, isExact: true });
  expect(new Set(found.traces.map(({ traceId }) => traceId))).toEqual(
    new Set(appends.slice(0, 2).map((append) => append.traceId)),
  );
});
