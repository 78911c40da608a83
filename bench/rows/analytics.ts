import { nameOf, type Row } from '../bench.ts';
import { judge } from '../figure.ts';
import { openFilledTraces } from '../filled.ts';
import { runHttpLoad } from '../load/http.ts';
import { cycle, getRequest } from '../load/requests.ts';
import { startServer } from '../sides.ts';

const warmUpRequests = 20;
const requests = 200;
const p99MsMax = 200;

export const analytics: Row = {
  name: 'analytics',
  about: 'cost by model and day over thirty days of a million traces',
  secondsMax: 7_200,
  async run(bench) {
    if (bench.calibrate) return [];
    const { keys, workspace, plan } = await openFilledTraces(bench, bench.traces);
    const server = await startServer(bench, keys, workspace);
    const query = `from=${plan.fromMs}&to=${plan.toMs}&group_by=model&metrics=total_cost`;
    const request = getRequest(`/api/analytics?${query}`, `X-Auth-Token: ${keys.projectKey}`);
    const ask = (count: number) =>
      runHttpLoad({
        ports: [server.port],
        connections: 1,
        stop: { requests: count },
        expectedStatus: 200,
        createRequests: cycle([request]),
      });
    await ask(warmUpRequests);
    const { p99Ms, p50Ms } = await ask(requests);
    bench.detail(`  p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`);
    await server.stop();
    const measured = { name: nameOf(bench, 'analytics-p99'), value: p99Ms, unit: 'ms', reference: null };
    return [judge(measured, { of: 'value', atMost: p99MsMax })];
  },
};
