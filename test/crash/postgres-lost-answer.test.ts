import { afterEach, beforeEach, expect, it } from 'vitest';
import { llmTrace } from '../support/fixtures.ts';
import { query } from '../support/postgres-databases.ts';
import { type DatabaseProxy, startProxy } from '../support/proxy.ts';
import { drawSeed, isFullTier, report, seeded } from '../support/scenario.ts';
import { PROJECT_KEY, type SpawnedServer, spawnServer } from '../support/server.ts';
import { type Answer, callRest } from '../support/surfaces.ts';
import { until } from '../support/temp.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { createTraceSender, startLoad } from '../support/trace-sender.ts';
import { auditLog, walkLog } from '../support/walk-log.ts';

const LOSSES = isFullTier ? 100 : 3;
const CUTS = isFullTier ? 200 : 6;
const CLIENTS = 8;
const PROGRESS_MAX_MS = 60_000;
/** After so many batches without a conflict, the driver assumes again that rows are new. */
const CALM_BATCHES = 32;

let database: TestDatabase;
let proxy: DatabaseProxy;
let server: SpawnedServer;
beforeEach(async () => {
  database = await createTestDatabase();
  proxy = await startProxy(database.url);
  server = await spawnServer({ ...database.environment, SPANDREL_DATABASE_URL: proxy.url });
});
afterEach(async () => {
  await server.stop('SIGKILL');
  await proxy.close();
  await database.remove();
});

type Trace = ReturnType<typeof llmTrace>;

function post(body: Trace): Promise<Answer> {
  return callRest(server.address, {
    verb: 'POST',
    path: '/api/collector',
    body,
    headers: { 'x-auth-token': PROJECT_KEY },
  });
}

/** Counts the rows of a trace, its span and its event. */
async function readCounts({ trace_id }: Trace): Promise<object | undefined> {
  const [row] = await query(
    database.url,
    `SELECT
       (SELECT count(*)::integer FROM traces WHERE trace_id = '${trace_id}') AS traces,
       (SELECT count(*)::integer FROM spans JOIN traces ON sequence = trace_sequence
        WHERE trace_id = '${trace_id}') AS spans,
       (SELECT count(*)::integer FROM events WHERE envelope LIKE '%"trace_id":"${trace_id}"%') AS events`,
  );
  return row;
}

const ONE_OF_EACH = { traces: 1, spans: 1, events: 1 };

it(`P2: when the answer to a commit is lost ${LOSSES} times, sending again stores nothing twice`, async () => {
  let wrong = 0;
  for (let loss = 0; loss < LOSSES; loss++) {
    // After a conflict the driver reads rows first for a while, on another code path.
    if (loss % 2 === 0) for (let batch = 0; batch < CALM_BATCHES; batch++) await post(llmTrace(Date.now()));
    const trace = llmTrace(Date.now());
    const lost = proxy.loseCommitAnswer();
    const refusal = await post(trace);
    await lost;
    expect(refusal.status, refusal.text).toBe(503);
    expect(refusal.headers.get('retry-after')).toBe('5');
    expect(await readCounts(trace), 'what was committed').toEqual(ONE_OF_EACH);
    const retry = await post(trace);
    expect(retry.status, retry.text).toBe(200);
    if (JSON.stringify(await readCounts(trace)) !== JSON.stringify(ONE_OF_EACH)) wrong += 1;
  }
  report({ id: 'P2', seed: 0, n: LOSSES, dup: wrong, pass: wrong === 0 });
  expect(wrong).toBe(0);
});

it(`P2: nothing acknowledged is lost and nothing stored twice when connections are cut ${CUTS} times`, async () => {
  const seed = drawSeed();
  const random = seeded(seed);
  const sender = createTraceSender({ addresses: () => [server.address] });
  const load = startLoad(CLIENTS, () => sender.send(llmTrace(Date.now())));
  let open = 0;
  for (let cut = 0; cut < CUTS; cut++) {
    const due = sender.acknowledged.length + 1 + random() * 50;
    await until(() => sender.acknowledged.length >= due, PROGRESS_MAX_MS);
    // Kill at other moments than right after an answer, too.
    await new Promise((resolve) => setTimeout(resolve, random() * 10));
    open += proxy.connections;
    proxy.cut();
  }
  await load.stop();
  const { lost, repeated } = auditLog(await walkLog({ address: () => server.address }), sender.acknowledged);
  report({ id: 'P2 cuts', seed, n: sender.acknowledged.length, lost, dup: repeated, pass: lost + repeated === 0 });
  expect({ lost, repeated }).toEqual({ lost: 0, repeated: 0 });
  expect(sender.refusals.wrong).toEqual([]);
  expect(sender.refusals.cut).toBe(0);
  expect(sender.refusals.unavailable, 'writes refused').toBeGreaterThan(0);
  expect(open, 'connections cut').toBeGreaterThan(CUTS);
});
