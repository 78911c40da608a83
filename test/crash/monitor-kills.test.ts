import { expect, it } from 'vitest';
import { llmTrace } from '../support/fixtures.ts';
import { drawSeed, inParallel, isFullTier, report, seeded } from '../support/scenario.ts';
import { PROJECT_KEY, type SpawnedServer, spawnServer } from '../support/server.ts';
import { type Body, callRest } from '../support/surfaces.ts';
import { until } from '../support/temp.ts';
import { createTestDatabase } from '../support/test-database.ts';

const KILLS = isFullTier ? 5 : 2;
const TRACES_PER_LIFE = isFullTier ? 20_000 : 100;
const CLIENTS = 8;
const headers = { 'x-auth-token': PROJECT_KEY };

type Ask = (verb: string, path: string, body?: unknown) => Promise<Body>;

const askOf =
  ({ address }: SpawnedServer): Ask =>
  async (verb, path, body) =>
    (await callRest(address, { verb, path, headers, ...(body === undefined ? {} : { body }) })).body;

async function addMonitors(ask: Ask): Promise<readonly string[]> {
  const config = { evaluatorType: 'langevals/exact_match' };
  const { id: evaluatorId } = await ask('POST', '/api/evaluators', { name: 'Judge', config });
  const made = [
    await ask('POST', '/api/monitors', { name: 'All', evaluatorId }),
    await ask('POST', '/api/monitors', { name: 'Inputs', evaluatorId, mappings: { output: 'input' } }),
  ];
  return made.map(({ id }) => id);
}

const depthOf = async ({ address }: SpawnedServer): Promise<number> => {
  const page = await (await fetch(`${address}/metrics`)).text();
  return Number(/^spandrel_evaluation_queue_depth (\d+)$/m.exec(page)?.[1] ?? Number.NaN);
};

it(
  `E9: each trace has exactly one result of each monitor after ${KILLS} kills, and re-sent traces add none`,
  async () => {
    const seed = drawSeed();
    const random = seeded(seed);
    const database = await createTestDatabase();
    const environment = { ...database.environment, SPANDREL_MONITOR_SETTLE_MS: '20' };
    const started: SpawnedServer[] = [];
    const acknowledged: ReturnType<typeof llmTrace>[] = [];
    let monitors: readonly string[] = [];
    let killedWithBacklog = 0;
    try {
      for (let life = 0; life < KILLS; life += 1) {
        const server = await spawnServer(environment);
        started.push(server);
        const ask = askOf(server);
        if (life === 0) monitors = await addMonitors(ask);
        const traces = Array.from({ length: TRACES_PER_LIFE }, () => llmTrace(Date.now()));
        const killedAt = Math.floor(TRACES_PER_LIFE * (0.6 + 0.4 * random()));
        let sent = 0;
        await inParallel(traces, CLIENTS, async (trace) => {
          sent += 1;
          if (sent === killedAt) {
            if ((await depthOf(server)) > 0) killedWithBacklog += 1;
            await server.stop('SIGKILL');
          }
          if (sent >= killedAt) return;
          try {
            const answer = await callRest(server.address, {
              verb: 'POST',
              path: '/api/collector',
              body: trace,
              headers,
            });
            if (answer.status === 200) acknowledged.push(trace);
          } catch {
            // The process is gone, so the result is unknown.
          }
        });
      }
      const last = await spawnServer(environment);
      started.push(last);
      const ask = askOf(last);
      await until(async () => (await depthOf(last)) === 0, isFullTier ? 1_000_000 : 60_000);
      const resultsOf = async (traceId: string): Promise<readonly Body[]> =>
        (await ask('GET', `/api/traces/${traceId}`)).evaluations;
      let lost = 0;
      let twice = 0;
      await inParallel(acknowledged, CLIENTS, async ({ trace_id: traceId }) => {
        const found = (await resultsOf(traceId)).map(({ monitor_id: id }) => id);
        for (const id of monitors) if (!found.includes(id)) lost += 1;
        if (new Set(found).size < found.length) twice += 1;
      });
      const [again] = acknowledged;
      if (again === undefined) throw new Error('nothing was acknowledged');
      const before = await resultsOf(again.trace_id);
      await ask('POST', '/api/collector', again);
      await until(async () => (await depthOf(last)) === 0, 60_000);
      expect(await resultsOf(again.trace_id)).toEqual(before);
      report({ id: 'E9', seed, n: acknowledged.length, lost, dup: twice, pass: lost + twice === 0 });
      expect([lost, twice]).toEqual([0, 0]);
      expect(killedWithBacklog, 'kills hit jobs that were waiting').toBeGreaterThan(0);
      expect(await last.stop('SIGTERM')).toBe(0);
      await database.checkIntegrity();
    } finally {
      for (const { child } of started) child.kill('SIGKILL');
      await database.remove();
    }
  },
  isFullTier ? 1_800_000 : 120_000,
);
