import { spawn } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { type Bench, nameOf, type Row } from '../bench.ts';
import { openWorkspace } from '../cluster.ts';
import { type Figure, judge } from '../figure.ts';
import { openFilled } from '../filled.ts';
import { median } from '../machine.ts';
import { type Keys, mintKeys, startServer, type Workspace } from '../sides.ts';

const roundsMin = 5;

export const start: Row = {
  name: 'start',
  about: 'cold start to the first 200 on /readyz, on an empty and on a filled data folder, against node -e 0',
  secondsMax: 3_600,
  async run(bench) {
    if (bench.calibrate) return [];
    const keys = mintKeys();
    const empty = await compareStarts(bench, 'start-empty', async () =>
      measureStart(bench, keys, await openWorkspace(bench)),
    );
    const filled = await openFilled(bench, bench.events);
    const name = `start-filled-${bench.events / 1_000}k-events`;
    return [empty, await compareStarts(bench, name, () => measureStart(bench, filled.keys, filled.workspace))];
  },
};

async function compareStarts(bench: Bench, name: string, measureProduct: () => Promise<number>): Promise<Figure> {
  const reference: number[] = [];
  const product: number[] = [];
  for (let round = 1; round <= Math.max(roundsMin, bench.rounds); round += 1) {
    reference.push(await measureBareNode());
    product.push(await measureProduct());
    bench.detail(
      `  ${name} round ${round}: node -e 0 ${reference.at(-1)?.toFixed(0)} ms, product ${product.at(-1)?.toFixed(0)} ms`,
    );
  }
  const measured = { name: nameOf(bench, name), value: median(product), unit: 'ms', reference: median(reference) };
  return judge(measured, { of: 'value', atMost: 1000 });
}

async function measureStart(bench: Bench, keys: Keys, workspace: Workspace): Promise<number> {
  const server = await startServer(bench, keys, workspace);
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
