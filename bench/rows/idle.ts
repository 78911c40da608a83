import { setTimeout as delay } from 'node:timers/promises';
import type { Row } from '../bench.ts';
import { judge } from '../figure.ts';
import { median, readMemory } from '../machine.ts';
import { mintKeys, startServer } from '../sides.ts';

const restMs = 5_000;

export const idle: Row = {
  name: 'idle',
  about: 'resident memory 5 s after the start without traffic',
  async run(bench) {
    if (bench.calibrate) return [];
    const samples: number[] = [];
    for (let round = 1; round <= bench.rounds; round += 1) {
      const server = await startServer(bench, mintKeys());
      await delay(restMs);
      const { rssMib, peakMib } = readMemory(server.pids);
      await server.stop();
      samples.push(rssMib);
      bench.detail(`  round ${round}: ${rssMib.toFixed(1)} MiB, peak ${peakMib.toFixed(1)} MiB`);
    }
    return [
      judge({ name: 'idle', value: median(samples), unit: 'MiB', reference: null }, { of: 'value', atMost: 150 }),
    ];
  },
};
