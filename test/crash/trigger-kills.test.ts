import { expect, it } from 'vitest';
import { llmTrace } from '../support/fixtures.ts';
import { drawSeed, inParallel, isFullTier, report, seeded } from '../support/scenario.ts';
import { PROJECT_KEY, type SpawnedServer, spawnServer } from '../support/server.ts';
import { type Body, callRest } from '../support/surfaces.ts';
import { until } from '../support/temp.ts';
import { createTestDatabase } from '../support/test-database.ts';

const KILLS = isFullTier ? 5 : 2;
const TRACES_PER_LIFE = isFullTier ? 1_000 : 60;
const CLIENTS = 8;
const PATIENCE_MS = isFullTier ? 600_000 : 150_000;
const headers = { 'x-auth-token': PROJECT_KEY };

const askOf =
  ({ address }: SpawnedServer) =>
  async (verb: string, path: string, body?: unknown): Promise<Body> =>
    (await callRest(address, { verb, path, headers, ...(body === undefined ? {} : { body }) })).body;

it(
  `a trigger adds each trace that matches to its dataset exactly once, also after ${KILLS} kills`,
  async () => {
    const seed = drawSeed();
    const random = seeded(seed);
    const database = await createTestDatabase();
    const environment = { ...database.environment, SPANDREL_MONITOR_SETTLE_MS: '20' };
    const started: SpawnedServer[] = [];
    const acknowledged: string[] = [];
    const attempted = new Set<string>();
    let [dataset, trigger] = ['', ''];
    try {
      for (let life = 0; life < KILLS; life += 1) {
        const server = await spawnServer(environment);
        started.push(server);
        const ask = askOf(server);
        if (life === 0) {
          dataset = (await ask('POST', '/api/dataset', { name: 'Kept', entries: [] })).id;
          const filters = { 'metadata.key': ['of_test'] };
          const action = { action: 'ADD_TO_DATASET', actionParams: { datasetId: dataset } };
          trigger = (await ask('POST', '/api/triggers', { name: 'Keep', filters, ...action })).id;
        }
        const killedAt = Math.floor(TRACES_PER_LIFE * (0.5 + 0.5 * random()));
        let sent = 0;
        const traces = Array.from({ length: TRACES_PER_LIFE }, () => llmTrace(Date.now()));
        await inParallel(traces, CLIENTS, async (trace) => {
          sent += 1;
          if (sent === killedAt) await server.stop('SIGKILL');
          if (sent >= killedAt) return;
          attempted.add(trace.trace_id);
          const body = { ...trace, metadata: { of_test: trace.trace_id } };
          try {
            const answer = await callRest(server.address, { verb: 'POST', path: '/api/collector', body, headers });
            if (answer.status === 200) acknowledged.push(trace.trace_id);
          } catch {
            // The process is gone, so the result is unknown.
          }
        });
      }
      const last = await spawnServer(environment);
      started.push(last);
      const ask = askOf(last);
      const entries = async (): Promise<readonly string[]> => {
        const { body, text } = await callRest(last.address, { path: `/api/dataset/${dataset}`, headers });
        expect(text).not.toBe('');
        const count = JSON.stringify(body);
        return acknowledged.filter((id) => count.includes(id));
      };
      await until(async () => (await entries()).length === acknowledged.length, PATIENCE_MS);
      const text = JSON.stringify(await ask('GET', `/api/dataset/${dataset}`));
      const twice = [...attempted].filter((id) => text.split(`"trace_id":"${id}"`).length > 2);
      const { data } = await ask('GET', `/api/triggers/${trigger}/history?limit=200`);
      expect(data.length).toBeGreaterThan(0);
      report({
        id: 'triggers-kills',
        seed,
        n: acknowledged.length,
        lost: 0,
        dup: twice.length,
        pass: twice.length === 0,
      });
      expect(twice).toEqual([]);
      expect(await last.stop('SIGTERM')).toBe(0);
      await database.checkIntegrity();
    } finally {
      for (const { child } of started) child.kill('SIGKILL');
      await database.remove();
    }
  },
  isFullTier ? 1_800_000 : 240_000,
);
