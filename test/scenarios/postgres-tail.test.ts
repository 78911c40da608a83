import { expect, it } from 'vitest';
import { hex } from '../support/fixtures.ts';
import { query } from '../support/postgres-databases.ts';
import { PROJECT_KEY, type SpawnedServer, spawnServer } from '../support/server.ts';
import { callRest } from '../support/surfaces.ts';
import { followRest } from '../support/tails.ts';
import { until } from '../support/temp.ts';
import { createPostgresTestDatabase } from '../support/test-database.ts';

const headers = { 'x-auth-token': PROJECT_KEY };

/** Cuts all connections of the processes, including those that listen for a NOTIFY. */
const CUT_ALL = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE application_name LIKE 'spandrel%' AND datname = current_database()`;

async function send({ address }: SpawnedServer, id = hex(32)): Promise<string> {
  const atMs = Date.now();
  const span = { type: 'llm', span_id: hex(16), timestamps: { started_at: atMs, finished_at: atMs + 1 } };
  const body = { trace_id: id, spans: [{ ...span, input: 'in', output: 'out' }] };
  await until(async () => {
    const { status } = await callRest(address, { verb: 'POST', path: '/api/collector', headers, body });
    return status === 200;
  });
  return id;
}

it('tails of one process get changes of another, also after all connections to the database were lost', async () => {
  const database = await createPostgresTestDatabase();
  const environment = { ...database.environment, SPANDREL_MONITOR_SETTLE_MS: '20' };
  const first = await spawnServer(environment);
  const second = await spawnServer(environment);
  try {
    const rest = async (path: string, body: object) => {
      const answer = await callRest(first.address, { verb: 'POST', path, headers, body });
      expect(answer.status, answer.text).toBeLessThan(300);
      return answer.body;
    };
    const follower = await followRest({ address: second.address, headers });
    const isShown = (id: string) => follower.events.some(({ data }) => data.trace_id === id);
    const early = await send(first);
    await until(() => isShown(early));

    await query(database.url, CUT_ALL);
    const later = await Promise.all([send(first), send(second), send(first)]);
    await until(() => later.every(isShown));
    expect(follower.events.filter(({ type }) => type === 'lagged')).toEqual([]);
    expect(follower.ended()).toBeNull();

    const config = { evaluatorType: 'langevals/exact_match' };
    const evaluator = await rest('/api/evaluators', { name: 'Judge', config });
    await rest('/api/monitors', { name: 'Watch', evaluatorId: evaluator.id, sample: 1 });
    const watched = await send(first);
    await until(() => follower.events.some(({ data }) => data.trace_id === watched && data.evaluations.length > 0));
    const path = `/api/traces/${watched}/metadata`;
    const patch = { verb: 'PATCH', path, headers, body: { metadata: { seen: true } } };
    expect((await callRest(first.address, patch)).status).toBe(200);
    await until(() => follower.events.some(({ data }) => data.metadata?.seen === true));
    follower.close();
  } finally {
    await Promise.all([first.stop('SIGTERM'), second.stop('SIGTERM')]);
    await database.remove();
  }
});
