import type { Row } from '../bench.ts';
import { judge } from '../figure.ts';
import { runHttpLoad } from '../load/http.ts';
import { collectorRequests } from '../load/requests.ts';
import { createJsonTrace } from '../load/trace.ts';
import { readBytes, readMemory } from '../machine.ts';
import { createPlace, mintKeys, startLimit, startServer } from '../sides.ts';

const traces = 100_000;
const connections = 64;

export const disk: Row = {
  name: 'disk',
  about: `bytes of the data folder per trace after ${traces} one-span traces and a clean stop, against the body's bytes`,
  async run(bench) {
    const keys = mintKeys();
    const trace = createJsonTrace(1);
    const place = createPlace();
    const server = await (bench.calibrate ? startLimit('http', ['trace'], place) : startServer(bench, keys, place));
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
    await server.stop();
    const value = readBytes(place.data) / traces;
    return [judge({ name: 'disk', value, unit: 'bytes/trace', reference: trace.bytes }, { of: 'ratio', atMost: 2 })];
  },
};
