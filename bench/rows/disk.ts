import type { Bench, Row } from '../bench.ts';
import { judge } from '../figure.ts';
import { runHttpLoad } from '../load/http.ts';
import { collectorRequests } from '../load/requests.ts';
import { createJsonTrace } from '../load/trace.ts';
import { readBytes, readDiskWrites, readMemory } from '../machine.ts';
import type { Program } from '../program.ts';
import { createWorkspace, mintKeys, startLimit, startServer } from '../sides.ts';

const traces = 100_000;
const connections = 64;

type Filled = { readonly server: Program; readonly data: string; readonly bodyBytes: number };

export const disk: Row = {
  name: 'disk',
  about: `bytes of the data folder per trace after ${traces} one-span traces and a clean stop, against the body's bytes`,
  async run(bench) {
    const { server, data, bodyBytes } = await collect(bench);
    await server.stop();
    const measured = { name: 'disk', value: readBytes(data) / traces, unit: 'bytes/trace', reference: bodyBytes };
    return [judge(measured, { of: 'ratio', atMost: 2.2 })];
  },
};

export const wal: Row = {
  name: 'wal',
  about: `bytes written to the disk per trace, logs and checkpoints together, while ${traces} one-span traces come in`,
  async run(bench) {
    const { server } = await collect(bench);
    const measured = { name: 'wal', value: readDiskWrites(server.pids) / traces, unit: 'bytes/trace', reference: null };
    await server.stop();
    return [judge(measured, { of: 'value', atMost: 14_000 })];
  },
};

async function collect(bench: Bench): Promise<Filled> {
  const keys = mintKeys();
  const trace = createJsonTrace(1);
  const workspace = createWorkspace();
  const server = await (bench.calibrate
    ? startLimit('http', ['trace'], workspace)
    : startServer(bench, keys, workspace));
  const { seconds, perSecond } = await runHttpLoad({
    ports: [server.port],
    connections,
    stop: { requests: traces },
    expectedStatus: 200,
    createRequests: collectorRequests(trace, keys.projectKey),
  });
  bench.say(
    `  ${traces} traces in ${seconds.toFixed(1)} s (${Math.round(perSecond)}/s), ` +
      `RSS after it ${readMemory(server.pids).rssMib.toFixed(0)} MiB`,
  );
  return { server, data: workspace.data, bodyBytes: trace.bytes };
}
