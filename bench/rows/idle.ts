import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Bench, Row } from '../bench.ts';
import { type Figure, judge } from '../figure.ts';
import { median, readMemory } from '../machine.ts';
import { createWorkspace, type Keys, mintKeys, startServer, type Workspace } from '../sides.ts';

const restMs = 5_000;

/** The very first start compiles all code, which later starts reuse, and creates the database. */
export const idle: Row = {
  name: 'idle',
  about: 'resident memory 5 s after the very first start, and after a later one, without traffic',
  async run(bench) {
    if (bench.calibrate) return [];
    const first: number[] = [];
    const later: number[] = [];
    for (let round = 1; round <= bench.rounds; round += 1) {
      const keys = mintKeys();
      const made = createWorkspace();
      const workspace = { ...made, codeCache: join(made.root, 'code') };
      bench.detail(`  round ${round}`);
      first.push(await measure(bench, keys, workspace));
      later.push(await measure(bench, keys, workspace));
    }
    return [judgeMemory('idle-first-start', first), judgeMemory('idle', later)];
  },
};

async function measure(bench: Bench, keys: Keys, workspace: Workspace): Promise<number> {
  const server = await startServer(bench, keys, workspace);
  await delay(restMs);
  const { rssMib, peakMib } = readMemory(server.pids);
  await server.stop();
  bench.detail(`    ${rssMib.toFixed(1)} MiB, peak ${peakMib.toFixed(1)} MiB`);
  return rssMib;
}

function judgeMemory(name: string, samples: readonly number[]): Figure {
  return judge({ name, value: median(samples), unit: 'MiB', reference: null }, { of: 'value', atMost: 200 });
}
