import { Agent, request } from 'node:http';
import { expect, it } from 'vitest';
import { llmTrace } from '../support/fixtures.ts';
import { drawSeed, inParallel, report, seeded } from '../support/scenario.ts';
import { PROJECT_KEY, spawnServer } from '../support/server.ts';
import { callRest } from '../support/surfaces.ts';
import { until } from '../support/temp.ts';
import { createTestDatabase } from '../support/test-database.ts';

const STOPS = 20;
const CLIENTS = 32;
const ACKNOWLEDGED_MIN = 50;
const STOP_MAX_MS = 10_000;
const headers = { 'x-auth-token': PROJECT_KEY };

it(`D9: nothing acknowledged is lost, and no accepted request is reset, by ${STOPS} stops under load`, async () => {
  const seed = drawSeed();
  const random = seeded(seed);
  const database = await createTestDatabase();
  const acknowledged: string[] = [];
  const reset: string[] = [];
  let slowestMs = 0;
  try {
    for (let stop = 0; stop < STOPS; stop += 1) {
      const server = await spawnServer(database.environment);
      const agent = new Agent({ keepAlive: true });
      const before = acknowledged.length;
      const clients = Array.from({ length: CLIENTS }, async () => {
        for (;;) {
          const body = llmTrace(Date.now());
          const answer = await post(server.address, body, agent);
          if (answer.status === 200) acknowledged.push(body.trace_id);
          // The system may have queued a new connection that the server did not accept any more.
          if (answer.isAccepted && answer.error !== null) reset.push(answer.error);
          if (answer.status !== 200) return;
        }
      });
      await until(() => acknowledged.length > before + ACKNOWLEDGED_MIN, 20_000);
      await new Promise((resolve) => setTimeout(resolve, 50 * random()));
      const stoppedAt = performance.now();
      expect(await server.stop('SIGTERM')).toBe(0);
      slowestMs = Math.max(slowestMs, performance.now() - stoppedAt);
      await Promise.all(clients);
      agent.destroy();
    }
    const last = await spawnServer(database.environment);
    let lost = 0;
    await inParallel(acknowledged, CLIENTS, async (traceId) => {
      const { status } = await callRest(last.address, { path: `/api/traces/${traceId}`, headers });
      if (status !== 200) lost += 1;
    });
    expect(await last.stop('SIGTERM')).toBe(0);
    const pass = lost === 0 && reset.length === 0 && slowestMs < STOP_MAX_MS;
    report({ id: 'D9', seed, n: acknowledged.length, lost, p99: Math.round(slowestMs), pass });
    expect([lost, reset]).toEqual([0, []]);
    expect(slowestMs).toBeLessThan(STOP_MAX_MS);
  } finally {
    await database.remove();
  }
});

type Answer = { readonly status: number | null; readonly error: string | null; readonly isAccepted: boolean };

/** A connection that has answered before was accepted. */
function post(address: string, body: object, agent: Agent): Promise<Answer> {
  return new Promise((resolve) => {
    const text = JSON.stringify(body);
    const options = { method: 'POST', agent, headers: { ...headers, 'content-type': 'application/json' } };
    const sent = request(`${address}/api/collector`, options, (answer) => {
      const end = (error: string | null) => resolve({ status: answer.statusCode ?? null, error, isAccepted: true });
      answer
        .resume()
        .once('end', () => end(null))
        .once('error', ({ message }) => end(message));
    });
    sent.once('error', ({ message }) => resolve({ status: null, error: message, isAccepted: sent.reusedSocket }));
    sent.end(text);
  });
}
