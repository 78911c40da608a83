import { type Bench, nameOf, type Row } from '../bench.ts';
import { type Figure, judge } from '../figure.ts';
import { openFilled } from '../filled.ts';
import { runHttpLoad } from '../load/http.ts';
import { bearer, cycle, getRequest } from '../load/requests.ts';
import { startServer } from '../sides.ts';

const warmUpRequests = 3;
const requests = 50;
const dayMs = 86_400_000;
const fewEvents = 1_000_000;
const fewMsMax = 300;
const manyMsMax = 2_000;

const GROUPINGS = ['virtual_key', 'end_user', 'model', 'none'];

export const spend: Row = {
  name: 'spend',
  about:
    'spend by virtual key, user and model, and in all, over 13 months of a million and of ten million requests; and of single days',
  secondsMax: 3_600,
  async run(bench) {
    if (bench.calibrate) return [];
    const few = Math.min(fewEvents, bench.events);
    const figures = await measure(bench, few, fewMsMax);
    return few === bench.events ? figures : [...figures, ...(await measure(bench, bench.events, manyMsMax))];
  },
};

async function measure(bench: Bench, events: number, msMax: number): Promise<Figure[]> {
  const { keys, workspace, plan } = await openFilled(bench, events);
  const server = await startServer(bench, keys, workspace);
  const figures: Figure[] = [];
  const ask = (ranges: readonly (readonly [from: number, to: number])[], grouping: string) => (count: number) =>
    runHttpLoad({
      ports: [server.port],
      connections: 1,
      stop: { requests: count },
      expectedStatus: 200,
      createRequests: cycle(
        ranges.map(([from, to]) =>
          getRequest(`/api/gateway/v1/spend?from=${from}&to=${to}&group_by=${grouping}`, bearer(keys.adminKey)),
        ),
      ),
    });
  const all = [[plan.fromMs, plan.toMs]] as const;
  const days = Array.from({ length: requests }, (_, index) => {
    const from = Math.floor(plan.fromMs + (index / requests) * (plan.toMs - plan.fromMs - dayMs));
    return [from, from + dayMs] as const;
  });
  const questions = [
    ...GROUPINGS.map((grouping) => ({ name: grouping.replace('_', '-'), send: ask(all, grouping) })),
    { name: 'day', send: ask(days, 'model') },
  ];
  for (const { name, send } of questions) {
    await send(warmUpRequests);
    const { p99Ms, p50Ms } = await send(requests);
    bench.detail(`  ${name} of ${events}: p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`);
    const measured = { name: nameOf(bench, `spend-${name}-${events}-p99`), value: p99Ms, unit: 'ms', reference: null };
    figures.push(judge(measured, { of: 'value', atMost: msMax }));
  }
  await server.stop();
  return figures;
}
