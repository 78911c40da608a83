import { expect, it } from 'vitest';
import { llmTrace } from '../support/fixtures.ts';
import { query } from '../support/postgres-databases.ts';
import { drawSeed, inParallel, isFullTier, report, seeded } from '../support/scenario.ts';
import { type SpawnedServer, spawnServer } from '../support/server.ts';
import { until } from '../support/temp.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTraceSender } from '../support/trace-sender.ts';
import { auditLog, isNewestFirst, walkLog } from '../support/walk-log.ts';

const TRACES = isFullTier ? 100_000 : 500;
const KILLS = isFullTier ? 5 : 1;
const CLIENTS = 16;
const PROGRESS_MAX_MS = 60_000;

it('nothing acknowledged is lost when one of two processes is killed during ingest', async () => {
  const seed = drawSeed();
  const random = seeded(seed);
  const database = await createTestDatabase();
  const servers: SpawnedServer[] = [await spawnServer(database.environment), await spawnServer(database.environment)];
  const sender = createTraceSender({ addresses: () => servers.map((server) => server.address) });
  try {
    const sending = inParallel(Array.from({ length: TRACES }), CLIENTS, () => sender.send(llmTrace(Date.now())));
    for (let kill = 1; kill <= KILLS; kill++) {
      // Somewhere in its own share of the way.
      const due = (TRACES * (kill - random())) / (KILLS + 1);
      await until(() => sender.acknowledged.length >= due, PROGRESS_MAX_MS);
      const victim = Math.floor(random() * servers.length);
      await servers[victim]?.stop('SIGKILL');
      servers[victim] = await spawnServer(database.environment);
    }
    await sending;
    const events = await walkLog({ address: () => servers[0]?.address ?? '' });
    const { lost, repeated } = auditLog(events, sender.acknowledged);
    const wrongSpans = await countWithoutItsSpan(database.url, sender.acknowledged);
    const pass = lost + wrongSpans + repeated === 0 && isNewestFirst(events);
    report({ id: 'D1 with two processes', seed, n: TRACES, lost: lost + wrongSpans, dup: repeated, pass });
    expect(sender.refusals.wrong).toEqual([]);
    expect({ lost, wrongSpans, repeated, events: events.length }).toEqual({
      lost: 0,
      wrongSpans: 0,
      repeated: 0,
      events: TRACES,
    });
    expect(isNewestFirst(events)).toBe(true);
    expect(sender.refusals.cut, 'kills hit requests in flight').toBeGreaterThan(0);
    await database.checkIntegrity();
  } finally {
    await Promise.all(servers.map((server) => server.stop('SIGKILL')));
    await database.remove();
  }
});

/** Counts the traces that the tables lack or store without exactly one span. */
async function countWithoutItsSpan(url: string, traceIds: readonly string[]): Promise<number> {
  const rows = await query(
    url,
    `SELECT trace_id FROM traces JOIN spans ON spans.trace_sequence = traces.sequence
     GROUP BY trace_id, span_count HAVING count(*) = 1 AND span_count = 1`,
  );
  const whole = new Set(rows.map(({ trace_id }): string => trace_id));
  return traceIds.filter((traceId) => !whole.has(traceId)).length;
}
