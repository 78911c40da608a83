import { expect, it } from 'vitest';
import { drawSeed, inParallel, isFullTier, report, seeded } from '../support/scenario.ts';
import { PROJECT_KEY, type SpawnedServer, spawnServer } from '../support/server.ts';
import { type Body, callRest } from '../support/surfaces.ts';
import { until } from '../support/temp.ts';
import { createTestDatabase } from '../support/test-database.ts';

/** After each kill the next server waits until the lease of the one before has expired: a minute, which the quick tier skips. */
const KILLS = isFullTier ? 3 : 1;
const TRACES = isFullTier ? 4_000 : 400;
const CLIENTS = 8;
const RESUMED_WITHIN_MS = 150_000;
const headers = { 'x-auth-token': PROJECT_KEY };

async function ask({ address }: SpawnedServer, verb: string, path: string, body?: unknown): Promise<Body> {
  return (await callRest(address, { verb, path, headers, ...(body !== undefined && { body }) })).body;
}

function traceOf(traceId: string): object {
  const startedAt = Date.now();
  const timestamps = { started_at: startedAt, finished_at: startedAt + 5 };
  const span = { span_id: 's', type: 'span', output: { type: 'text', value: 'Oslo' }, timestamps };
  return { trace_id: traceId, expected_output: 'Oslo', spans: [span] };
}

it(
  `a run over a search goes on after ${KILLS === 1 ? 'a kill' : `${KILLS} kills`}: each trace has one result, and counts once`,
  async () => {
    const seed = drawSeed();
    const random = seeded(seed);
    const database = await createTestDatabase();
    const started: SpawnedServer[] = [];
    const start = async () => {
      const server = await spawnServer(database.environment);
      started.push(server);
      return server;
    };
    const traceIds = Array.from({ length: TRACES }, (_, index) => `trace-${index}`);
    try {
      let server = await start();
      await inParallel(traceIds, CLIENTS, async (traceId) => {
        await ask(server, 'POST', '/api/collector', traceOf(traceId));
      });
      const config = { evaluatorType: 'langevals/exact_match' };
      const { id: evaluatorId } = await ask(server, 'POST', '/api/evaluators', { name: 'Judge', config });
      const { id } = await ask(server, 'POST', `/api/evaluators/${evaluatorId}/run`, {});
      const readRun = () => ask(server, 'GET', `/api/evaluations/runs/${id}`);
      let run = await readRun();
      for (let kill = 0; kill < KILLS; kill += 1) {
        const killedAt = Math.min(TRACES - 1, run.evaluated + 1 + Math.floor((random() * TRACES) / (2 * KILLS)));
        await until(async () => {
          run = await readRun();
          return run.evaluated >= killedAt;
        }, RESUMED_WITHIN_MS);
        await server.stop('SIGKILL');
        if (!isFullTier) await database.execute('UPDATE evaluator_runs SET leased_until = 0');
        expect(run, 'the kill hit a run at work').toMatchObject({ status: 'running' });
        server = await start();
        expect((await readRun()).evaluated, 'no progress was lost').toBeGreaterThanOrEqual(run.evaluated);
      }
      await until(async () => (await readRun()).status !== 'running', RESUMED_WITHIN_MS);
      const counts = { traces_found: TRACES, evaluated: TRACES, processed: TRACES, skipped: 0, failed: 0 };
      expect(await readRun()).toMatchObject({ status: 'completed', error: null, ...counts });
      let lost = 0;
      let twice = 0;
      await inParallel(traceIds, CLIENTS, async (traceId) => {
        const { evaluations } = await ask(server, 'GET', `/api/traces/${traceId}`);
        if (!evaluations.some(({ passed }: Body) => passed === true)) lost += 1;
        if (evaluations.length > 1) twice += 1;
      });
      report({ id: 'evaluator-run-kills', seed, n: TRACES, lost, dup: twice, pass: lost + twice === 0 });
      expect([lost, twice]).toEqual([0, 0]);
      expect(await server.stop('SIGTERM')).toBe(0);
      await database.checkIntegrity();
    } finally {
      for (const { child } of started) child.kill('SIGKILL');
      await database.remove();
    }
  },
  isFullTier ? 1_200_000 : 300_000,
);
