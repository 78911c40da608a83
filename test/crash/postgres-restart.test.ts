import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { llmTrace } from '../support/fixtures.ts';
import { type Cluster, startCluster } from '../support/postgres.ts';
import { drawSeed, report, seeded } from '../support/scenario.ts';
import { ADMIN_KEY, PROJECT_KEY, type SpawnedServer, spawnServer } from '../support/server.ts';
import { callRest } from '../support/surfaces.ts';
import { until } from '../support/temp.ts';
import { TEST_SECRET } from '../support/test-database.ts';
import { createTraceSender, startLoad } from '../support/trace-sender.ts';
import { readTurns, slowdown } from '../support/turns.ts';
import { auditLog, walkLog } from '../support/walk-log.ts';

const RESTARTS = 27;
/** One restart in so many is a fast shutdown; the others are crashes. */
const FAST_EACH = 4;
const CLIENTS = 8;
const PROGRESS_MAX_MS = 60_000;
const HEAL_MAX_MS = 3_000;
const ANSWER_MAX_MS = 5_000;
/** The load between two restarts. */
const TRACES_BETWEEN_MAX = 400;
/** Refusals come at once, so reading without a pause would use a whole processor during an outage. */
const READ_PAUSE_MS = 0;

it(`P1: nothing acknowledged is lost when PostgreSQL restarts ${RESTARTS} times, and the server recovers`, async () => {
  const seed = drawSeed();
  const random = seeded(seed);
  const cluster = await startCluster();
  const url = await cluster.createDatabase();
  const server = await spawnServer({ SPANDREL_DATABASE_URL: url, SPANDREL_SECRET: TEST_SECRET });
  try {
    const sender = createTraceSender({ addresses: () => [server.address], answerMaxMs: ANSWER_MAX_MS });
    const load = startLoad(CLIENTS, () => sender.send(llmTrace(Date.now())));
    const readers = watchReaders(server.address);
    const healMs: number[] = [];
    for (let restart = 0; restart < RESTARTS; restart++) {
      const due = sender.acknowledged.length + 1 + random() * TRACES_BETWEEN_MAX;
      await until(() => sender.acknowledged.length >= due, PROGRESS_MAX_MS);
      await cluster.stop(restart % FAST_EACH === FAST_EACH - 1 ? 'fast' : 'immediate');
      healMs.push(await bringBack(cluster, { server, acknowledged: () => sender.acknowledged.length, readers }));
    }
    await load.stop();
    const wrongReads = await readers.stop();
    const { lost, repeated } = auditLog(await walkLog({ address: () => server.address }), sender.acknowledged);
    const slowestMs = Math.round(Math.max(...healMs));
    const isLively = server.child.exitCode === null && server.child.signalCode === null;
    const pass = lost + repeated === 0 && slowestMs <= HEAL_MAX_MS && isLively;
    report({ id: 'P1', seed, n: sender.acknowledged.length, lost, dup: repeated, p99: slowestMs, pass });
    expect({ lost, repeated, isLively }).toEqual({ lost: 0, repeated: 0, isLively: true });
    expect({ writes: sender.refusals.wrong, reads: wrongReads }).toEqual({ writes: [], reads: [] });
    expect(slowestMs).toBeLessThanOrEqual(HEAL_MAX_MS);
    expect(sender.refusals.unavailable, 'writes refused').toBeGreaterThan(0);
    expect(readers.refused(), 'reads refused').toBeGreaterThan(0);
    expect(sender.refusals.cut).toBe(0);
  } finally {
    await server.stop('SIGKILL');
    await cluster.remove();
  }
});

type Observed = {
  readonly server: SpawnedServer;
  readonly acknowledged: () => number;
  readonly readers: Readers;
};

/** Starts the database again. Returns the time until everything works, less the time the server waited for a processor. */
async function bringBack(cluster: Cluster, { server, acknowledged, readers }: Observed): Promise<number> {
  const isReady = async () => (await fetch(`${server.address}/readyz`)).status === 200;
  const away = await fetch(`${server.address}/readyz`);
  expect(away.status, '/readyz while the database is away').toBe(503);
  expect(away.headers.get('retry-after')).toBe('1');
  const refused = readers.refused();
  await until(() => readers.refused() > refused);
  await cluster.start();
  const startedMs = performance.now();
  const turns = readTurns(server.child.pid ?? 0);
  const before = { acknowledged: acknowledged(), answered: readers.answered() };
  await until(() => acknowledged() > before.acknowledged && readers.answered() > before.answered);
  await until(isReady);
  return (performance.now() - startedMs) / slowdown(turns, readTurns(server.child.pid ?? 0));
}

type Readers = {
  /** The number of correct answers and 503 refusals. */
  answered(): number;
  refused(): number;
  /** Resolves to the wrong answers. */
  stop(): Promise<readonly string[]>;
};

const READS = [
  { path: '/api/webhooks/v1/events?from=0&to=1', headers: { authorization: `Bearer ${ADMIN_KEY}` }, works: 200 },
  { path: '/api/traces/none', headers: { 'x-auth-token': PROJECT_KEY }, works: 404 },
];

/** Reads continuously with both kinds of credentials. */
function watchReaders(address: string): Readers {
  const wrong: string[] = [];
  let answered = 0;
  let refused = 0;
  const load = startLoad(1, async () => {
    for (const { path, headers, works } of READS) {
      const startedMs = performance.now();
      const answer = await callRest(address, { path, headers });
      if (performance.now() - startedMs > ANSWER_MAX_MS) wrong.push(`${path} was answered late`);
      if (answer.status === works) answered += 1;
      else if (answer.status === 503 && answer.headers.has('retry-after')) refused += 1;
      else wrong.push(`${answer.status}: ${answer.text}`);
    }
    await delay(READ_PAUSE_MS);
  });
  return {
    answered: () => answered,
    refused: () => refused,
    async stop() {
      await load.stop();
      return wrong;
    },
  };
}
