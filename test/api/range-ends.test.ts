/** Ends of time ranges. Seconds taken for milliseconds are a month of 1970, in which nothing can be found. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DatasetService } from '../../gen/spandrel/v1/datasets_pb.js';
import { EvaluationService } from '../../gen/spandrel/v1/evaluations_pb.js';
import { EventService } from '../../gen/spandrel/v1/events_pb.js';
import { AuditLogService } from '../../gen/spandrel/v1/organization_pb.js';
import { SpendService } from '../../gen/spandrel/v1/spend_pb.js';
import { TraceService } from '../../gen/spandrel/v1/traces_pb.js';
import { startApp, type TestApp } from '../support/app.ts';
import { type Body, callRest, expectEverywhere, type SurfaceCase } from '../support/surfaces.ts';

const SECONDS = 1_795_000_000;
const NOW_MS = Date.now();

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.close();
});

const projectHeaders = () => ({ 'x-auth-token': app.projectKey });
const adminHeaders = () => ({ authorization: `Bearer ${app.adminKey}` });

type Range = readonly [fromMs: number, toMs: number];
type Route = (range: Range) => Pick<SurfaceCase, 'headers' | 'rest' | 'rpc'>;

const instants = ([from, to]: Range) => [timestampFromMs(from), timestampFromMs(to)] as const;
const query = (path: string, [from, to]: Range) => ({ path: `${path}?from=${from}&to=${to}` });
const dates = (path: string, [startDate, endDate]: Range) => ({ verb: 'POST', path, body: { startDate, endDate } });

/** Routes whose ranges may be refused, with the status of a refusal. */
const ROUTES: { readonly [name: string]: readonly [status: number, names: readonly [string, string], route: Route] } = {
  analytics: [
    422,
    ['from', 'to'],
    (range) => {
      const [startedFrom, startedTo] = instants(range);
      const rpc = { method: TraceService.method.queryAnalytics, request: { startedFrom, startedTo } };
      return { headers: projectHeaders(), rest: query('/api/analytics', range), rpc };
    },
  ],
  'analytics of evaluations': [
    422,
    ['from', 'to'],
    (range) => {
      const [startedFrom, startedTo] = instants(range);
      const rpc = { method: EvaluationService.method.queryEvaluationAnalytics, request: { startedFrom, startedTo } };
      return { headers: projectHeaders(), rest: query('/api/analytics/evaluations', range), rpc };
    },
  ],
  'the totals of a user': [
    422,
    ['from', 'to'],
    (range) => {
      const [startedFrom, startedTo] = instants(range);
      const rpc = { method: TraceService.method.getUserStats, request: { userId: 'u', startedFrom, startedTo } };
      return { headers: projectHeaders(), rest: query('/api/users/u/stats', range), rpc };
    },
  ],
  spend: [
    400,
    ['from', 'to'],
    (range) => {
      const [occurredFrom, occurredTo] = instants(range);
      const rpc = { method: SpendService.method.querySpend, request: { occurredFrom, occurredTo } };
      return { headers: adminHeaders(), rest: query('/api/gateway/v1/spend', range), rpc };
    },
  ],
  'the audit log': [
    422,
    ['from', 'to'],
    (range) => {
      const [createdFrom, createdTo] = instants(range);
      const rpc = { method: AuditLogService.method.listAuditLog, request: { createdFrom, createdTo } };
      return { headers: adminHeaders(), rest: query('/api/audit-log', range), rpc };
    },
  ],
  'a search': [
    422,
    ['startDate', 'endDate'],
    (range) => {
      const [startDate, endDate] = instants(range);
      const rpc = { method: TraceService.method.searchTraces, request: { startDate, endDate } };
      return { headers: projectHeaders(), rest: dates('/api/traces/search', range), rpc };
    },
  ],
  'an export': [
    422,
    ['startDate', 'endDate'],
    (range) => {
      const [startDate, endDate] = instants(range);
      const rpc = { method: TraceService.method.exportTraces, request: { startDate, endDate } };
      return { headers: projectHeaders(), rest: dates('/api/traces/export', range), rpc };
    },
  ],
  'traces for a dataset': [
    422,
    ['startDate', 'endDate'],
    (range) => {
      const [startDate, endDate] = instants(range);
      const rpc = { method: DatasetService.method.addTracesToDataset, request: { slugOrId: 'd', startDate, endDate } };
      return { headers: projectHeaders(), rest: dates('/api/dataset/d/traces', range), rpc };
    },
  ],
  'a run of an evaluator over traces': [
    422,
    ['startDate', 'endDate'],
    (range) => {
      const [startDate, endDate] = instants(range);
      const request = { idOrSlug: 'e', startDate, endDate };
      const rpc = { method: EvaluationService.method.runEvaluatorOnTraces, request };
      return { headers: projectHeaders(), rest: dates('/api/evaluators/e/run', range), rpc };
    },
  ],
};

describe('the ends of a range', () => {
  it.each(Object.entries(ROUTES))('of %s are refused as seconds', async (name, [status, names, route]) => {
    const ranges: readonly Range[] = [
      [SECONDS, NOW_MS],
      [0, SECONDS],
    ];
    for (const [index, range] of ranges.entries()) {
      const field = names[index];
      const message = `${field} must be milliseconds since the epoch; ${SECONDS} looks like seconds, multiply by 1000`;
      const check = (body: Body) => {
        const { fields, reasons } = body.error.meta ?? body;
        expect(fields).toEqual([field]);
        expect(reasons[0].message).toBe(message);
      };
      await expectEverywhere(app.address, { name, ...route(range), status, code: 'validation_error', check });
    }
  });

  it.each(['analytics', 'the totals of a user', 'spend', 'the audit log', 'a search'])(
    'of %s may be the beginning of time, its first weeks and the far future',
    async (name) => {
      const [, , route] = ROUTES[name] ?? [];
      if (route === undefined) throw new Error(`no such route: ${name}`);
      for (const range of [
        [0, 1],
        [100_000_000, 5_000_000_000],
        [NOW_MS, 253_402_300_799_999],
      ] as const) {
        await expectEverywhere(app.address, { name, ...route(range), status: 200 });
      }
    },
  );

  it('of the event log may be any integers, as its interface says', async () => {
    const [createdFrom, createdTo] = instants([SECONDS, SECONDS + 1]);
    await expectEverywhere(app.address, {
      name: 'events',
      headers: adminHeaders(),
      rest: query('/api/webhooks/v1/events', [SECONDS, SECONDS + 1]),
      rpc: { method: EventService.method.listEvents, request: { createdFrom, createdTo } },
      status: 200,
      check: (body) => expect(body).toEqual({ data: [], next_cursor: null }),
    });
  });

  it('of a search may be seconds neither as a number nor as digits, and a text of a date is what it says', async () => {
    const search = (startDate: unknown) =>
      callRest(app.address, {
        ...dates('/api/traces/search', [0, NOW_MS]),
        headers: projectHeaders(),
        body: { startDate },
      });
    for (const startDate of [SECONDS, `${SECONDS}`, `${SECONDS}.5`]) {
      expect((await search(startDate)).body.message).toContain('looks like seconds, multiply by 1000');
    }
    for (const startDate of ['1970-01-01', '1971-02-03T04:05:06Z', `${NOW_MS}`]) {
      expect((await search(startDate)).status).toBe(200);
    }
  });

  it('of a search that are dates without a time include both days, in UTC', async () => {
    const day = new Date(NOW_MS - 3 * 86_400_000).toISOString().slice(0, 10);
    const sent = { metadata: { user_id: 'whole-days' } };
    for (const [id, time] of Object.entries({
      before: new Date(Date.parse(day) - 1).toISOString(),
      first: `${day}T00:00:00.000Z`,
      noon: `${day}T12:00:00.000Z`,
      last: `${day}T23:59:59.999Z`,
      after: new Date(Date.parse(day) + 86_400_000).toISOString(),
    })) {
      const at = Date.parse(time);
      const spans = [{ span_id: id, type: 'span', timestamps: { started_at: at, finished_at: at } }];
      const body = { ...sent, trace_id: `days-${id}`, spans };
      await callRest(app.address, { verb: 'POST', path: '/api/collector', headers: projectHeaders(), body });
    }
    const find = async (path: string, range: object) => {
      const body = { ...range, filters: { 'metadata.user_id': ['whole-days'] }, sortDirection: 'asc' };
      const { text } = await callRest(app.address, { verb: 'POST', path, headers: projectHeaders(), body });
      return [...text.matchAll(/"trace_id":"days-(\w+)","project_id"/g)].map(([, id]) => id);
    };
    for (const path of ['/api/traces/search', '/api/traces/export']) {
      expect(await find(path, { startDate: day, endDate: day })).toEqual(['first', 'noon', 'last']);
      expect(await find(path, { startDate: day, endDate: `${day}T12:00:00` })).toEqual(['first', 'noon']);
      expect(await find(path, { startDate: `${day}T00:00:00Z`, endDate: Date.parse(day) })).toEqual(['first']);
    }
  });
});
