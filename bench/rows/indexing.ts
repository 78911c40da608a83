import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { type Bench, nameOf, type Row } from '../bench.ts';
import { createTelemetryDatabase } from '../clickhouse.ts';
import { judge } from '../figure.ts';
import { type FilledTraces, openFilledTraces } from '../filled.ts';
import { runHttpLoad } from '../load/http.ts';
import { collectorRequests } from '../load/requests.ts';
import { createJsonTrace } from '../load/trace.ts';
import { median } from '../machine.ts';
import { readGauge } from '../read-gauge.ts';
import { createWorkspace, startServer } from '../sides.ts';

const connections = 64;
const warmUpSeconds = 2;
const pollMs = 250;

export const indexing: Row = {
  name: 'indexing',
  about:
    'building the index of searches anew, alone, and ingest-json beside it against itself with a built index (SQLite)',
  secondsMax: 7_200,
  async run(bench) {
    if (bench.calibrate || bench.store === 'postgres') return [];
    const filled = await openFilledTraces(bench, bench.traces);
    const perSecond = await measureBuilding(bench, filled);
    const alone = { name: nameOf(bench, 'indexing'), value: perSecond, unit: 'traces/s', reference: null };
    const figure = judge(alone, { of: 'value', atLeast: 5_000 });
    // Ingest would be measured against the processors that ClickHouse takes from it on the same machine.
    if (bench.store === 'clickhouse') return [figure];
    const built: number[] = [];
    const building: number[] = [];
    for (let round = 1; round <= bench.rounds; round += 1) {
      built.push(await measureIngest(bench, filled, 'built'));
      building.push(await measureIngest(bench, filled, 'missing'));
      bench.detail(
        `  round ${round}: built ${built.at(-1)?.toFixed(0)}/s, being built ${building.at(-1)?.toFixed(0)}/s`,
      );
    }
    const beside = {
      name: 'ingest-under-indexing',
      value: median(building),
      unit: 'requests/s',
      reference: median(built),
    };
    return [figure, judge(beside, { of: 'ratio', atLeast: 0.8 })];
  },
};

/** Starts a server on a copy of the filled database, with or without its index. */
async function startOnCopy(bench: Bench, { keys, workspace }: FilledTraces, index: 'built' | 'missing') {
  const isElsewhere = workspace.telemetryUrl !== undefined;
  const copy = { ...createWorkspace(), ...(isElsewhere && { telemetryUrl: await createTelemetryDatabase() }) };
  cpSync(workspace.data, copy.data, { recursive: true });
  if (index === 'missing') rmSync(join(copy.data, 'spandrel.db.search'), { force: true });
  const server = await startServer(bench, keys, copy);
  return { server, remove: () => rmSync(copy.data, { recursive: true, force: true }) };
}

async function measureBuilding(bench: Bench, filled: FilledTraces): Promise<number> {
  const { server, remove } = await startOnCopy(bench, filled, 'missing');
  const unindexed = () => readGauge(server.port, 'spandrel_search_unindexed_traces');
  // The first steps may still be ahead.
  while ((await unindexed()) === 0) await delay(pollMs);
  const startedAt = performance.now();
  const traces = await unindexed();
  while ((await unindexed()) > 0) await delay(pollMs);
  const seconds = (performance.now() - startedAt) / 1_000;
  await server.stop();
  remove();
  return traces / seconds;
}

async function measureIngest(bench: Bench, filled: FilledTraces, index: 'built' | 'missing'): Promise<number> {
  const { server, remove } = await startOnCopy(bench, filled, index);
  const createRequests = collectorRequests(createJsonTrace(1), filled.keys.projectKey);
  const load = (seconds: number) =>
    runHttpLoad({ ports: [server.port], connections, stop: { seconds }, expectedStatus: 200, createRequests });
  await load(warmUpSeconds);
  const { perSecond } = await load(bench.secondsPerRound);
  await server.stop();
  remove();
  return perSecond;
}
