import { nameOf, type Row } from '../bench.ts';
import { type Figure, judge } from '../figure.ts';
import { openFilledTraces } from '../filled.ts';
import { runHttpLoad } from '../load/http.ts';
import { cycle, getRequest } from '../load/requests.ts';
import { startServer } from '../sides.ts';

const warmUpRequests = 3;
const requests = 50;

type Question = {
  readonly name: string;
  /** Of analytics unless it says otherwise. */
  readonly path?: string;
  readonly parameters: string;
  readonly msMax: number;
};

const QUESTIONS: readonly Question[] = [
  { name: 'cost-by-model', parameters: 'group_by=model&metrics=total_cost', msMax: 100 },
  ...['user_id', 'label', 'thread_id'].map((group) => ({
    name: `cost-by-${group.replace('_id', '')}`,
    parameters: `group_by=${group}&metrics=total_cost`,
    msMax: 500,
  })),
  ...['user_id', 'label', 'model'].map((group) => ({
    name: `all-by-${group.replace('_id', '')}`,
    parameters: `group_by=${group}`,
    msMax: 500,
  })),
  ...['total', 'day'].map((interval) => ({
    name: `percentiles-by-${interval}`,
    parameters: `interval=${interval}&metrics=total_time_ms,first_token_ms`,
    msMax: 500,
  })),
  { name: 'threads', path: '/api/threads', parameters: 'sort_by=last_activity', msMax: 300 },
  { name: 'threads-by-cost', path: '/api/threads', parameters: 'sort_by=total_cost', msMax: 500 },
  { name: 'users', path: '/api/users', parameters: 'sort_by=last_activity', msMax: 300 },
];

export const analytics: Row = {
  name: 'analytics',
  about:
    'cost, all metrics and percentiles, by day and model, user, label or thread over thirty days of a million traces; their threads and users',
  secondsMax: 7_200,
  async run(bench) {
    if (bench.calibrate) return [];
    const { keys, workspace, plan } = await openFilledTraces(bench, bench.traces);
    const server = await startServer(bench, keys, workspace);
    const figures: Figure[] = [];
    for (const { name, path = '/api/analytics', parameters, msMax } of QUESTIONS) {
      const query = `from=${plan.fromMs}&to=${plan.toMs}&${parameters}`;
      const request = getRequest(`${path}?${query}`, `X-Auth-Token: ${keys.projectKey}`);
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
      bench.detail(`  ${name}: p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`);
      const measured = { name: nameOf(bench, `analytics-${name}-p99`), value: p99Ms, unit: 'ms', reference: null };
      figures.push(judge(measured, { of: 'value', atMost: msMax }));
    }
    await server.stop();
    return figures;
  },
};
