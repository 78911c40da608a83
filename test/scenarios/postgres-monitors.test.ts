import { afterAll, beforeAll, expect, it } from 'vitest';
import { llmTrace } from '../support/fixtures.ts';
import { drawSeed, inParallel, isFullTier, report } from '../support/scenario.ts';
import { PROJECT_KEY, type SpawnedServer, spawnServer } from '../support/server.ts';
import { type Body, callRest } from '../support/surfaces.ts';
import { until } from '../support/temp.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

const TRACES = isFullTier ? 5_000 : 60;
const CLIENTS = 8;
const PATIENCE_MS = isFullTier ? 240_000 : 60_000;
const headers = { 'x-auth-token': PROJECT_KEY };

let database: TestDatabase;
let servers: readonly [SpawnedServer, SpawnedServer];
beforeAll(async () => {
  database = await createTestDatabase();
  const environment = { ...database.environment, SPANDREL_MONITOR_SETTLE_MS: '20' };
  servers = [await spawnServer(environment), await spawnServer(environment)];
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop('SIGKILL')));
  await database.remove();
});

async function ask(server: SpawnedServer, verb: string, path: string, body?: unknown): Promise<Body> {
  const answer = await callRest(server.address, { verb, path, headers, ...(body === undefined ? {} : { body }) });
  expect(answer.status, `${verb} ${path}`).toBeLessThan(300);
  return answer.body;
}

/** The sum of a metric over its labels. */
async function figure({ address }: SpawnedServer, name: string): Promise<number> {
  const text = await (await fetch(`${address}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

it('two processes on one database evaluate each trace once for each monitor, whichever of them received it', async () => {
  const config = { evaluatorType: 'langevals/exact_match' };
  const { id: evaluatorId } = await ask(servers[0], 'POST', '/api/evaluators', { name: 'Judge', config });
  const monitors: string[] = [];
  for (const [index, server] of servers.entries()) {
    const made = await ask(server, 'POST', '/api/monitors', { name: `Of ${index}`, evaluatorId });
    monitors.push(made.id);
  }
  const traces = Array.from({ length: TRACES }, () => llmTrace(Date.now()));
  let sent = 0;
  await inParallel(traces, CLIENTS, async (trace) => {
    sent += 1;
    await ask(servers[sent % 2 === 0 ? 0 : 1], 'POST', '/api/collector', trace);
  });
  await until(async () => (await figure(servers[0], 'spandrel_evaluation_queue_depth')) === 0, PATIENCE_MS);
  let lost = 0;
  let twice = 0;
  await inParallel(traces, CLIENTS, async ({ trace_id: traceId }) => {
    const { evaluations } = await ask(servers[1], 'GET', `/api/traces/${traceId}`);
    const found = (evaluations as readonly Body[]).map(({ monitor_id: id }) => id);
    for (const id of monitors) if (!found.includes(id)) lost += 1;
    twice += found.length - new Set(found).size;
  });
  const runs = await Promise.all(servers.map((server) => figure(server, 'spandrel_evaluations_total')));
  report({ id: 'E9-processes', seed: drawSeed(), n: TRACES, lost, dup: twice, pass: lost + twice === 0 });
  expect([lost, twice]).toEqual([0, 0]);
  expect(
    runs.every((count) => count > 0),
    `both took part: ${runs}`,
  ).toBe(true);
  expect(runs.reduce((sum, count) => sum + count, 0)).toBe(TRACES * monitors.length);
});
