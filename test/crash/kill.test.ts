import { expect, it } from 'vitest';
import { llmTrace } from '../support/fixtures.ts';
import { drawSeed, inParallel, isFullTier, report, seeded } from '../support/scenario.ts';
import { ADMIN_KEY, PROJECT_KEY, type SpawnedServer, spawnServer } from '../support/server.ts';
import { callRest } from '../support/surfaces.ts';
import { until } from '../support/temp.ts';
import { createTestDatabase } from '../support/test-database.ts';

const KILLS = isFullTier ? 100 : 2;
const CLIENTS = 16;
const ACKNOWLEDGED_MIN = 10;
/** The earliest kill after the server is ready. */
const KILLED_AFTER_MS = isFullTier ? 100 : 40;

it(`D1, T2: nothing acknowledged is lost when the process is killed ${KILLS} times during ingest`, async () => {
  const seed = drawSeed();
  const random = seeded(seed);
  const database = await createTestDatabase();
  const acknowledged: { traceId: string; spanId: string }[] = [];
  const started: SpawnedServer[] = [];
  const readyTimes: number[] = [];
  let interrupted = 0;
  try {
    for (let kill = 0; kill < KILLS; kill++) {
      const server = await spawnServer(database.environment);
      started.push(server);
      readyTimes.push(server.readyMs);
      let running = true;
      const before = acknowledged.length;
      const clients = Array.from({ length: CLIENTS }, async () => {
        while (running) {
          const body = llmTrace(Date.now());
          try {
            const answer = await callRest(server.address, {
              verb: 'POST',
              path: '/api/collector',
              body,
              headers: { 'x-auth-token': PROJECT_KEY },
            });
            if (answer.status === 200)
              acknowledged.push({ traceId: body.trace_id, spanId: body.spans[0]?.span_id ?? '' });
          } catch {
            interrupted += 1;
            return;
          }
        }
      });
      await new Promise((resolve) => setTimeout(resolve, KILLED_AFTER_MS * (1 + 3 * random())));
      // On a busy machine the first answers take longer than the delay.
      await until(() => acknowledged.length > before + ACKNOWLEDGED_MIN, 20_000);
      await server.stop('SIGKILL');
      running = false;
      await Promise.all(clients);
    }
    const last = await spawnServer(database.environment);
    started.push(last);
    let lost = 0;
    await inParallel(acknowledged, CLIENTS, async ({ traceId, spanId }) => {
      const answer = await callRest(last.address, {
        path: `/api/traces/${traceId}`,
        headers: { 'x-auth-token': PROJECT_KEY },
      });
      if (answer.status !== 200 || answer.body.spans[0]?.span_id !== spanId) lost += 1;
    });
    let events = 0;
    const to = Date.now() + 86_400_000;
    let cursor: string | null = '';
    while (cursor !== null) {
      const page = await callRest(last.address, {
        path: `/api/webhooks/v1/events?from=0&to=${to}&limit=200&cursor=${cursor}`,
        headers: { authorization: `Bearer ${ADMIN_KEY}` },
      });
      expect(page.status, page.text).toBe(200);
      events += page.body.data.length;
      cursor = page.body.next_cursor;
    }
    expect(await last.stop('SIGTERM')).toBe(0);
    await database.checkIntegrity();
    const slowest = Math.max(...readyTimes);
    const pass = lost === 0 && events >= acknowledged.length;
    report({ id: 'D1', seed, n: acknowledged.length, lost, p99: Math.round(slowest), pass });
    expect(interrupted, 'kills hit requests in flight').toBeGreaterThan(0);
    expect(acknowledged.length).toBeGreaterThan(KILLS * ACKNOWLEDGED_MIN);
    expect(lost).toBe(0);
    expect(events).toBeGreaterThanOrEqual(acknowledged.length);
    // The first start has nothing to recover: on a busy machine it takes long, too.
    expect(slowest).toBeLessThan(Math.max(2_000, 3 * (readyTimes[0] ?? 0)));
  } finally {
    for (const { child } of started) child.kill('SIGKILL');
    await database.remove();
  }
});
