import { nameOf, type Row } from '../bench.ts';
import { openWorkspace } from '../cluster.ts';
import { type Figure, judge } from '../figure.ts';
import { runHttpLoad } from '../load/http.ts';
import { getRequest } from '../load/requests.ts';
import { storeTrace } from '../load/store-trace.ts';
import { mintKeys, startServer } from '../sides.ts';

const sizes = [
  { spans: 10, requests: 1_000, msMax: 5 },
  { spans: 10_000, requests: 200, msMax: 250 },
];

export const traceRead: Row = {
  name: 'trace-read',
  about: `traces of ${sizes.map(({ spans }) => spans).join(' and ')} spans by their ids, one after the other`,
  async run(bench) {
    if (bench.calibrate) return [];
    const keys = mintKeys();
    const server = await startServer(bench, keys, await openWorkspace(bench));
    const figures: Figure[] = [];
    for (const { spans, requests, msMax } of sizes) {
      const traceId = await storeTrace(server.port, keys.projectKey, spans);
      const request = getRequest(`/api/traces/${traceId}`, `X-Auth-Token: ${keys.projectKey}`);
      const { p99Ms } = await runHttpLoad({
        ports: [server.port],
        connections: 1,
        stop: { requests },
        expectedStatus: 200,
        createRequests: () => ({ next: () => request }),
      });
      const measured = { name: nameOf(bench, `trace-read-${spans}-p99`), value: p99Ms, unit: 'ms', reference: null };
      figures.push(judge(measured, { of: 'value', atMost: msMax }));
    }
    await server.stop();
    return figures;
  },
};
