import { afterAll, beforeAll, expect, it } from 'vitest';
import { hex } from '../support/fixtures.ts';
import { query } from '../support/postgres-databases.ts';
import { drawSeed, inParallel, isFullTier, report, seeded } from '../support/scenario.ts';
import { PROJECT_KEY, type SpawnedServer, spawnServer } from '../support/server.ts';
import { type Answer, type Body, callRest } from '../support/surfaces.ts';
import { until } from '../support/temp.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { countRepeats, walkLog } from '../support/walk-log.ts';

const NOW = Date.now();
const TRACES = isFullTier ? 5_000 : 60;
const HOT_TRACES = isFullTier ? 200 : 12;
const HOT_REQUESTS = 12;
const CLIENTS = 16;

let database: TestDatabase;
let servers: readonly SpawnedServer[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
  servers = [await spawnServer(database.environment), await spawnServer(database.environment)];
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop('SIGKILL')));
  await database.remove();
});

type SentSpan = ReturnType<typeof drawSpan>;
type SentTrace = { readonly trace_id: string; readonly spans: readonly SentSpan[] };

function drawSpan(random: () => number) {
  const tokens = () => Math.floor(random() * 1_000);
  return {
    span_id: hex(16),
    type: 'llm',
    model: 'gpt-5',
    metrics: { prompt_tokens: tokens(), completion_tokens: tokens() },
    timestamps: { started_at: NOW, finished_at: NOW + 10 },
  };
}

function drawSpans(random: () => number, count: number): SentSpan[] {
  return Array.from({ length: count }, () => drawSpan(random));
}

function addressOf(process: number): string {
  return servers[process % servers.length]?.address ?? '';
}

/** Retries while the server refuses, as clients do. */
async function post(process: number, trace: SentTrace): Promise<void> {
  let answer: Answer | undefined;
  await until(async () => {
    answer = await callRest(addressOf(process), {
      verb: 'POST',
      path: '/api/collector',
      body: trace,
      headers: { 'x-auth-token': PROJECT_KEY },
    });
    return answer.status !== 503;
  });
  expect(answer?.status, answer?.text).toBe(200);
}

/** Counts traces that differ from the sum of their spans on either process. */
async function countWrong(traces: readonly SentTrace[]): Promise<number> {
  let wrong = 0;
  await inParallel(traces, CLIENTS, async ({ trace_id, spans }, index) => {
    const { body } = await callRest(addressOf(index), {
      path: `/api/traces/${trace_id}`,
      headers: { 'x-auth-token': PROJECT_KEY },
    });
    const prompt = spans.reduce((sum, span) => sum + span.metrics.prompt_tokens, 0);
    const completion = spans.reduce((sum, span) => sum + span.metrics.completion_tokens, 0);
    // gpt-5: 1.25 and 10 USD per million tokens.
    const nano = prompt * 1250 + completion * 10_000;
    const ids = body.spans.map((span: Body): string => span.span_id);
    const same =
      ids.sort().join() ===
        spans
          .map((span) => span.span_id)
          .sort()
          .join() &&
      body.span_count === spans.length &&
      body.metrics.prompt_tokens === prompt &&
      body.metrics.completion_tokens === completion &&
      Math.round(body.metrics.total_cost * 1e9) === nano;
    if (!same) wrong += 1;
  });
  return wrong;
}

/** Counts the events of these traces; fails on a duplicate. */
async function countEvents(traces: readonly SentTrace[]): Promise<number> {
  const own = new Set(traces.map((trace) => trace.trace_id));
  const logged = await walkLog({ address: () => addressOf(0) });
  expect(countRepeats(logged.map((event) => event.id))).toBe(0);
  return logged.filter((event) => own.has(event.data.trace_id)).length;
}

function countSpans(traces: readonly SentTrace[]): number {
  return traces.reduce((sum, trace) => sum + trace.spans.length, 0);
}

async function readRollbacks(): Promise<number> {
  const [row] = await query(
    database.url,
    'SELECT xact_rollback AS count FROM pg_stat_database WHERE datname = current_database()',
  );
  return Number(row?.count);
}

it('D5: spans of one trace that come at once through two processes are all counted, once', async () => {
  const seed = drawSeed();
  const random = seeded(seed);
  const before = await readRollbacks();
  const traces = Array.from({ length: HOT_TRACES }, () => ({
    trace_id: hex(32),
    spans: drawSpans(random, HOT_REQUESTS * 2),
  }));
  await inParallel(traces, 2, async ({ trace_id, spans }, index) => {
    const parts = Array.from({ length: HOT_REQUESTS }, (_, part) => ({
      trace_id,
      spans: spans.slice(part * 2, part * 2 + 2),
    }));
    // Spans sent again recompute the totals, which would hide a wrong sum: so only every other trace
    // has them.
    const toOne = parts.map((part, process) => post(process, part));
    const toTheOther = index % 2 === 0 ? [] : parts.map((part, process) => post(process + 1, part));
    await Promise.all([...toOne, ...toTheOther]);
  });
  const wrong = await countWrong(traces);
  const repeated = (await countEvents(traces)) - countSpans(traces);
  const pass = wrong === 0 && repeated === 0;
  report({ id: 'D5 on hot traces', seed, n: HOT_TRACES * HOT_REQUESTS * 1.5, lost: wrong, dup: repeated, pass });
  expect(wrong).toBe(0);
  expect(repeated).toBe(0);
  // A rollback shows that the two processes conflicted. The database may count it ten seconds late.
  await until(async () => (await readRollbacks()) > before, 15_000);
});

it('D5, T3: every request sent twice, to two processes, a tenth of them at once, counts once', async () => {
  const seed = drawSeed();
  const random = seeded(seed);
  const traces = Array.from({ length: TRACES }, () => ({
    trace_id: hex(32),
    spans: drawSpans(random, 1 + Math.floor(random() * 4)),
  }));
  let together = 0;
  await inParallel(traces, CLIENTS, async (trace, index) => {
    if (random() < 0.1) {
      together += 1;
      await Promise.all([post(0, trace), post(1, trace)]);
    } else {
      await post(index, trace);
      await post(index + 1, trace);
    }
  });
  const wrong = await countWrong(traces);
  const repeated = (await countEvents(traces)) - countSpans(traces);
  const pass = wrong === 0 && repeated === 0;
  report({ id: 'D5 over two processes', seed, n: traces.length, lost: wrong, dup: repeated, pass });
  expect(together, 'requests sent at the same time').toBeGreaterThan(0);
  expect(wrong).toBe(0);
  expect(repeated).toBe(0);
});
