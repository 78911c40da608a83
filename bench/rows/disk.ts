import type { Row } from '../bench.ts';
import { judge } from '../figure.ts';
import { runHttpLoad } from '../load/http.ts';
import { collectorRequests } from '../load/requests.ts';
import { createJsonTrace } from '../load/trace.ts';
import { readBytes, readMemory } from '../machine.ts';
import { createDataFolder, mintKeys, startLimit, startServer } from '../sides.ts';

const traces = 100_000;
const connections = 64;

export const disk: Row = {
  name: 'disk',
  about: `bytes of the data folder per trace after ${traces} one-span traces and a clean stop, against the body's bytes`,
  async run(bench) {
    const keys = mintKeys();
    const trace = createJsonTrace(1);
    const folder = createDataFolder();
    const server = await (bench.calibrate ? startLimit('http', ['trace'], folder) : startServer(bench, keys, folder));
    const { seconds, perSecond } = await runHttpLoad({
      port: server.port,
      connections,
      stop: { requests: traces },
      expectedStatus: 200,
      createRequests: collectorRequests(trace, keys.projectKey),
    });
    bench.say(
      `  ${traces} traces in ${seconds.toFixed(1)} s (${Math.round(perSecond)}/s), ` +
        `RSS after it ${readMemory(server.pid).rssMib.toFixed(0)} MiB`,
    );
    await server.stop();
    const value = readBytes(folder.data) / traces;
    return [judge({ name: 'disk', value, unit: 'bytes/trace', reference: trace.bytes }, { of: 'ratio', atMost: 2 })];
  },
};
