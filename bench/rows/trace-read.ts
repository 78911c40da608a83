import { nameOf, type Row } from '../bench.ts';
import { openPlace } from '../cluster.ts';
import { type Figure, judge } from '../figure.ts';
import { runHttpLoad } from '../load/http.ts';
import { getRequest } from '../load/requests.ts';
import { createJsonTrace } from '../load/trace.ts';
import { mintKeys, startServer } from '../sides.ts';

const sizes = [
  { spans: 10, requests: 1_000, msMax: 5 },
  { spans: 10_000, requests: 30, msMax: 250 },
];
const spansPerRequest = 1_000;

export const traceRead: Row = {
  name: 'trace-read',
  about: `traces of ${sizes.map(({ spans }) => spans).join(' and ')} spans by their ids, one after the other`,
  async run(bench) {
    if (bench.calibrate) return [];
    const keys = mintKeys();
    const server = await startServer(bench, keys, await openPlace(bench));
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

/** In requests of bounded size. */
async function storeTrace(port: number, projectKey: string, spans: number): Promise<string> {
  let traceId = '';
  for (let stored = 0; stored < spans; stored += spansPerRequest) {
    const count = Math.min(spansPerRequest, spans - stored);
    const body = Buffer.from(createJsonTrace(count).createSource(Buffer.alloc(0))());
    const trace = JSON.parse(body.toString());
    traceId ||= trace.trace_id;
    const { status } = await fetch(`http://127.0.0.1:${port}/api/collector`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-auth-token': projectKey },
      body: JSON.stringify({ ...trace, trace_id: traceId }),
    });
    if (status !== 200) throw new Error(`The trace was not stored: ${status}`);
  }
  return traceId;
}
