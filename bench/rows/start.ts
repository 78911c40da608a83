import { spawn } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import type { Bench, Row } from '../bench.ts';
import { type Figure, judge } from '../figure.ts';
import { runHttpLoad } from '../load/http.ts';
import { collectorRequests } from '../load/requests.ts';
import { createJsonTrace } from '../load/trace.ts';
import { median, readBytes } from '../machine.ts';
import { createDataFolder, type Keys, mintKeys, startServer } from '../sides.ts';

const roundsMin = 5;
const filledTraces = 2_000;
const spansPerTrace = 100;
const connections = 16;

type Folder = ReturnType<typeof createDataFolder>;

export const start: Row = {
  name: 'start',
  about: 'cold start to the first 200 on /readyz, on an empty and on a filled data folder, against node -e 0',
  async run(bench) {
    if (bench.calibrate) return [];
    const keys = mintKeys();
    const empty = await compareStarts(bench, 'start-empty', () => measureStart(bench, keys, createDataFolder()));
    const filled = createDataFolder();
    await fill(bench, keys, filled);
    const name = `start-filled-${(filledTraces * spansPerTrace) / 1000}k-spans`;
    return [empty, await compareStarts(bench, name, () => measureStart(bench, keys, filled))];
  },
};

async function compareStarts(bench: Bench, name: string, measureOurs: () => Promise<number>): Promise<Figure> {
  const reference: number[] = [];
  const ours: number[] = [];
  for (let round = 1; round <= Math.max(roundsMin, bench.rounds); round += 1) {
    reference.push(await measureBareNode());
    ours.push(await measureOurs());
    bench.detail(
      `  ${name} round ${round}: node -e 0 ${reference.at(-1)?.toFixed(0)} ms, ours ${ours.at(-1)?.toFixed(0)} ms`,
    );
  }
  return judge({ name, value: median(ours), unit: 'ms', reference: median(reference) }, { of: 'value', atMost: 2_000 });
}

async function measureStart(bench: Bench, keys: Keys, folder: Folder): Promise<number> {
  const server = await startServer(bench, keys, folder);
  await server.stop();
  return server.readyAt - server.spawnedAt;
}

function measureBareNode(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const startedAt = performance.now();
  const child = spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' });
  child.on('error', reject);
  child.on('exit', () => resolve(performance.now() - startedAt));
  return promise;
}

/** Through the front door, so that it holds whatever the schema is. */
async function fill(bench: Bench, keys: Keys, folder: Folder): Promise<void> {
  const server = await startServer(bench, keys, folder);
  const { seconds } = await runHttpLoad({
    port: server.port,
    connections,
    stop: { requests: filledTraces },
    expectedStatus: 200,
    createRequests: collectorRequests(createJsonTrace(spansPerTrace), keys.projectKey),
  });
  await server.stop();
  bench.say(
    `  filled with ${filledTraces} traces of ${spansPerTrace} spans in ${seconds.toFixed(1)} s, ` +
      `${Math.round(readBytes(folder.data) / 1_048_576)} MiB`,
  );
}
