import { status as Status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AnalyticsGrouping, AnalyticsInterval } from '../../../gen/spandrel/v1/analytics_pb.js';
import { TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { timestampOfMs } from '../../../src/rpc/epoch-ms.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { addKey, custom, hex } from '../../support/fixtures.ts';
import { type Body, callRest, callRpc, expectEverywhere, type SurfaceCase } from '../../support/surfaces.ts';

const { queryAnalytics, getUserStats } = TraceService.method;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
// A Monday, the first of its month.
/** The end of the year 9999, the last instant that messages can have. */
const LAST_MS = 253_402_300_799_999;
const FIRST = Date.UTC(2026, 5, 1);

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ writer: 'in its thread' });
});
afterAll(async () => {
  await app.close();
});

const key = () => ({ 'x-auth-token': app.projectKey });

type SpanSent = { readonly atMs?: number; readonly ms?: number; readonly firstMs?: number } & {
  [name: string]: unknown;
};

async function send(metadata: object, spans: readonly SpanSent[], traceId = hex(32)): Promise<string> {
  const body = {
    trace_id: traceId,
    metadata,
    spans: spans.map(({ atMs = FIRST, ms = 100, firstMs, ...span }) => ({
      type: 'llm',
      span_id: hex(16),
      timestamps: {
        started_at: atMs,
        finished_at: atMs + ms,
        ...(firstMs === undefined ? {} : { first_token_at: atMs + firstMs }),
      },
      ...span,
    })),
  };
  const answer = await callRest(app.address, { verb: 'POST', path: '/api/collector', headers: key(), body });
  expect(answer.status, answer.text).toBe(200);
  return traceId;
}

const tokens = (prompt: number, completion: number, cost?: number) => ({
  metrics: { prompt_tokens: prompt, completion_tokens: completion, ...(cost === undefined ? {} : { cost }) },
});

const INTERVALS: { readonly [name: string]: AnalyticsInterval } = {
  minute: AnalyticsInterval.MINUTE,
  hour: AnalyticsInterval.HOUR,
  day: AnalyticsInterval.DAY,
  week: AnalyticsInterval.WEEK,
  month: AnalyticsInterval.MONTH,
  total: AnalyticsInterval.TOTAL,
};
const GROUPINGS: { readonly [name: string]: AnalyticsGrouping } = {
  model: AnalyticsGrouping.MODEL,
  user_id: AnalyticsGrouping.USER_ID,
  label: AnalyticsGrouping.LABEL,
  thread_id: AnalyticsGrouping.THREAD_ID,
};

type AnalyticsQuery = { readonly [name: string]: string | number };

function queryOf(parameters: AnalyticsQuery): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
}

function analyticsCase(parameters: AnalyticsQuery, each: Partial<SurfaceCase> & { status: number }): SurfaceCase {
  const { from, to, interval, group_by, metrics = '', limit, ...filters } = parameters;
  const query = queryOf(parameters);
  const request = {
    ...(from === undefined ? {} : { startedFrom: timestampOfMs(Number(from)) }),
    ...(to === undefined ? {} : { startedTo: timestampOfMs(Number(to)) }),
    interval: INTERVALS[String(interval)] ?? 0,
    groupBy: GROUPINGS[String(group_by)] ?? 0,
    metrics: String(metrics),
    ...(limit === undefined ? {} : { limit: Number(limit) }),
    ...Object.fromEntries(Object.entries(filters).map(([name, value]) => [CAMEL[name], value])),
  };
  return {
    name: query,
    headers: key(),
    rest: { path: `/api/analytics?${query}` },
    rpc: { method: queryAnalytics, request },
    ...each,
  } as SurfaceCase;
}

const CAMEL: { readonly [name: string]: string } = {
  user_id: 'userId',
  customer_id: 'customerId',
  thread_id: 'threadId',
  label: 'label',
  model: 'model',
};

async function expectBuckets(parameters: AnalyticsQuery, buckets: readonly object[]): Promise<void> {
  const check = (body: Body) => expect(body.buckets).toEqual(buckets);
  await expectEverywhere(app.address, analyticsCase(parameters, { status: 200, check }));
}

/** Each case has its own user, so that it counts only its own traces. */
const of = (user: string) => ({ user_id: user, from: FIRST, to: FIRST + 90 * DAY_MS });

describe('analytics, over REST and gRPC', () => {
  it('counts and sums the traces of a day with all that is known of them', async () => {
    const user_id = 'all metrics';
    await send({ user_id }, [
      { ...tokens(10, 5, 0.25), firstMs: 30 },
      { type: 'tool', ms: 300, error: 'failed' },
    ]);
    await send({ user_id }, [{ ...tokens(1, 0, 1e-9), firstMs: 10 }]);
    await send({ user_id }, [{ type: 'span', atMs: FIRST + DAY_MS - 1 }]);
    await send({ user_id }, [{ type: 'span', atMs: FIRST + DAY_MS, ms: -5 }]);
    const check = (body: Body) =>
      expect(body).toEqual({
        from: FIRST,
        to: FIRST + 90 * DAY_MS,
        interval: 'day',
        group_by: 'none',
        truncated: false,
        buckets: [
          {
            start: FIRST,
            end: FIRST + DAY_MS,
            group: null,
            traces: 3,
            spans: 4,
            errors: 1,
            prompt_tokens: 11,
            completion_tokens: 5,
            total_cost: 0.250000001,
            first_token_ms_p50: 10,
            first_token_ms_p95: 30,
            total_time_ms_p50: 100,
            total_time_ms_p95: 300,
          },
          {
            start: FIRST + DAY_MS,
            end: FIRST + 2 * DAY_MS,
            group: null,
            traces: 1,
            spans: 1,
            errors: 0,
            prompt_tokens: null,
            completion_tokens: null,
            total_cost: null,
            first_token_ms_p50: null,
            first_token_ms_p95: null,
            total_time_ms_p50: 0,
            total_time_ms_p95: 0,
          },
        ],
      });
    await expectEverywhere(app.address, analyticsCase(of(user_id), { status: 200, check }));
  });

  it('by model only the spans of that model count, and a trace without models is in no group', async () => {
    const user_id = 'models';
    const late = { atMs: FIRST + HOUR_MS, ms: 700, firstMs: 70 };
    await send({ user_id }, [
      { model: 'm"1', ...tokens(1, 2, 3) },
      { model: 'm2', ...tokens(10, 20), ...late },
      { model: 'm2', error: 'failed' },
      { type: 'agent', ms: 9_000 },
    ]);
    await send({ user_id }, [{ model: 'm2', ...tokens(100, 200, 0.5) }]);
    await send({ user_id }, [{ type: 'span' }, { type: 'tool' }]);
    const metrics = 'traces,spans,errors,prompt_tokens,total_cost,first_token_ms,total_time_ms_p95,total_time_ms_p99';
    const day = { start: FIRST, end: FIRST + DAY_MS };
    const second = { traces: 2, spans: 3, errors: 1, prompt_tokens: 110, total_cost: 0.5 };
    const secondTimes = {
      first_token_ms_p50: 70,
      first_token_ms_p95: 70,
      total_time_ms_p95: 700,
      total_time_ms_p99: 700,
    };
    const spanTimes = { total_time_ms_p95: 100, total_time_ms_p99: 100 };
    const noTimes = { first_token_ms_p50: null, first_token_ms_p95: null, ...spanTimes };
    await expectBuckets({ ...of(user_id), group_by: 'model', metrics }, [
      { ...day, group: 'm"1', traces: 1, spans: 1, errors: 0, prompt_tokens: 1, total_cost: 3, ...noTimes },
      { ...day, group: 'm2', ...second, ...secondTimes },
      { ...day, group: null, traces: 1, spans: 2, errors: 0, prompt_tokens: null, total_cost: null, ...noTimes },
    ]);
    // A trace counts at its own start, even if the model's span began later.
    await expectBuckets({ ...of(user_id), interval: 'hour', model: 'm2', metrics }, [
      { start: FIRST, end: FIRST + HOUR_MS, group: null, ...second, ...secondTimes },
    ]);
    await expectBuckets({ ...of(user_id), group_by: 'user_id', model: 'm2', metrics: 'traces' }, [
      { ...day, group: user_id, traces: 2 },
    ]);
    await expectBuckets({ ...of(user_id), model: 'm3' }, []);
  });

  it.each([
    ['minute', FIRST, FIRST + 60_000],
    ['hour', FIRST, FIRST + HOUR_MS],
    ['day', FIRST, FIRST + DAY_MS],
    ['week', FIRST, FIRST + 7 * DAY_MS],
    ['month', FIRST, Date.UTC(2026, 6, 1)],
  ] as const)('begins and ends each %s by the calendar in UTC', async (interval, start, end) => {
    const user_id = `by ${interval}`;
    for (const atMs of [start - 1, start, end - 1, end]) await send({ user_id }, [{ atMs }]);
    const parameters = { ...of(user_id), from: start - 1, interval, metrics: 'traces' };
    const check = ({ buckets }: Body) => {
      expect(buckets.map((bucket: Body) => bucket.traces)).toEqual([1, 2, 1]);
      expect(buckets[0].end).toBe(start);
      expect(buckets[1]).toMatchObject({ start, end });
      expect(buckets[2].start).toBe(end);
    };
    await expectEverywhere(app.address, analyticsCase(parameters, { status: 200, check }));
    // The range includes both ends.
    const total = { user_id, from: start, to: end, interval: 'total', metrics: 'traces' };
    await expectBuckets(total, [{ start, end: end + 1, group: null, traces: 3 }]);
  });

  it('T16: counts a trace for each of its labels, with any name', async () => {
    const user_id = 'labels';
    const labels = ['a"%_😀', '__proto__'];
    await send({ user_id, labels }, [{}]);
    await send({ user_id, labels: labels.slice(1) }, [{}]);
    await send({ user_id }, [{}]);
    const day = { start: FIRST, end: FIRST + DAY_MS };
    const parameters = { ...of(user_id), group_by: 'label', metrics: 'traces' };
    await expectBuckets(parameters, [
      { ...day, group: '__proto__', traces: 2 },
      { ...day, group: 'a"%_😀', traces: 1 },
      { ...day, group: null, traces: 1 },
    ]);
    for (const label of labels) {
      const found = { ...day, group: user_id, traces: label === '__proto__' ? 2 : 1 };
      await expectBuckets({ ...parameters, group_by: 'user_id', label }, [found]);
    }
  });

  it('keeps the groups with the most traces, then the dearest, then by name, and says that there are more', async () => {
    const customer_id = 'groups';
    for (const [user_id, traces, cost] of [
      ['many', 3, 0],
      ['dear', 2, 5],
      ['cheap b', 2, 1],
      ['cheap a', 2, 1],
      ['one', 1, 9],
    ] as const) {
      for (let count = 0; count < traces; count += 1) await send({ user_id, customer_id }, [tokens(1, 1, cost)]);
    }
    const range = { from: FIRST, to: FIRST, customer_id, group_by: 'user_id', metrics: 'traces' };
    for (const [limit, groups] of [
      [1, ['many']],
      [3, ['cheap a', 'dear', 'many']],
      [5, ['cheap a', 'cheap b', 'dear', 'many', 'one']],
    ] as const) {
      const check = (body: Body) => {
        expect(body.truncated).toBe(limit < 5);
        expect(body.buckets.map((bucket: Body) => bucket.group)).toEqual(groups);
      };
      await expectEverywhere(app.address, analyticsCase({ ...range, limit }, { status: 200, check }));
    }
  });

  it('a trace that is sent again counts as it is now, and a removed one not at all', async () => {
    const user_id = 'again';
    const span = { span_id: hex(16), model: 'm' };
    const id = await send({ user_id }, [{ ...span, ...tokens(1, 1, 1) }]);
    await send({ user_id }, [{ ...span, ...tokens(7, 1, 2), error: 'failed' }], id);
    const parameters = { ...of(user_id), group_by: 'model', metrics: 'traces,spans,errors,prompt_tokens,total_cost' };
    const now = { traces: 1, spans: 1, errors: 1, prompt_tokens: 7, total_cost: 2 };
    await expectBuckets(parameters, [{ start: FIRST, end: FIRST + DAY_MS, group: 'm', ...now }]);
    await callRest(app.address, { verb: 'DELETE', path: `/api/traces/${id}`, headers: key() });
    await expectBuckets(parameters, []);
  });

  it('echoes the latest instant there is', async () => {
    const parameters = { from: FIRST, to: LAST_MS, user_id: 'nobody', interval: 'total' };
    const check = (body: Body) => expect(body).toMatchObject({ to: LAST_MS, buckets: [] });
    await expectEverywhere(app.address, analyticsCase(parameters, { status: 200, check }));
  });

  it.each([
    [{ to: 1 }, ['from']],
    [{ from: 1 }, ['to']],
    [{ from: 2, to: 1 }, ['(root)']],
    [{ from: 0, to: 1, metrics: 'traces,cost' }, ['metrics']],
    [{ from: 0, to: 1, limit: 0 }, ['limit']],
    [{ from: 0, to: 1, limit: 1001 }, ['limit']],
  ])('refuses %j', async (parameters, fields) => {
    const check = (body: Body) => expect(body.fields).toEqual(fields);
    const refused = { status: 422, code: 'validation_error', check };
    await expectEverywhere(app.address, analyticsCase(parameters as AnalyticsQuery, refused));
  });

  it.each(['from=-1', 'from=1.5', 'from=9007199254740992', 'interval=year', 'group_by=vendor', 'from=1&from=2'])(
    'refuses %s',
    async (query) => {
      const rest = query.startsWith('from') ? 'to=1' : 'from=0&to=1';
      const answer = await callRest(app.address, { path: `/api/analytics?${rest}&${query}`, headers: key() });
      expect(answer.body).toMatchObject({ code: 'validation_error', fields: [query.split('=')[0]] });
    },
  );

  it.each(['interval', 'groupBy'])('refuses an unknown number of %s over gRPC', async (field) => {
    const range = { startedFrom: timestampOfMs(0), startedTo: timestampOfMs(1) };
    const request = { ...range, [field]: 99 };
    const answer = await callRpc(app.address, { method: queryAnalytics, request, headers: key() });
    expect(answer).toMatchObject({ ok: false, error: { code: Status.INVALID_ARGUMENT } });
  });

  it('a call without a credential, with a wrong one, or without the permission is refused', async () => {
    const narrow = await addKey(app, { bindings: [custom('PROJECT', app.projectId, ['traces:view'])] });
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
    for (const refusal of [
      { headers: {}, status: 401, code: 'missing_credentials' },
      { headers: bearer('nope'), status: 401, code: 'invalid_credentials' },
      { headers: bearer(narrow), status: 403, code: 'api_key_permission_denied' },
    ]) {
      await expectEverywhere(app.address, analyticsCase({ from: 0, to: 1 }, refusal));
      await expectEverywhere(app.address, statsCase('u', {}, refusal));
    }
  });
});

function statsCase(
  userId: string,
  range: AnalyticsQuery,
  each: Partial<SurfaceCase> & { status: number },
): SurfaceCase {
  const query = queryOf(range);
  const request = Object.fromEntries(
    Object.entries(range).map(([name, value]) => [
      name === 'from' ? 'startedFrom' : 'startedTo',
      timestampOfMs(Number(value)),
    ]),
  );
  return {
    name: userId,
    headers: key(),
    rest: { path: `/api/users/${encodeURIComponent(userId)}/stats?${query}` },
    rpc: { method: getUserStats, request: { userId, ...request } },
    ...each,
  } as SurfaceCase;
}

describe('what the traces of a user come to, over REST and gRPC', () => {
  it('T16: sums up the traces of the range, for any user name', async () => {
    for (const user_id of ['plain user', 'us"er%_😀', '__proto__', 'x'.repeat(512)]) {
      const lastAtMs = FIRST + 5 * DAY_MS;
      await send({ user_id, thread_id: 'one' }, [{ ...tokens(1, 2, 0.5) }, { type: 'tool', error: 'failed' }]);
      await send({ user_id, thread_id: 'one' }, [{ atMs: lastAtMs }]);
      await send({ user_id, thread_id: 'two' }, [{ atMs: FIRST + DAY_MS, ...tokens(3, 4) }]);
      await send({ user_id }, [{ atMs: lastAtMs + 1 }]);
      await send({ user_id: `${user_id.slice(1)}-` }, [{}]);
      const check = (body: Body) =>
        expect(body).toEqual({
          user_id,
          traces: 3,
          threads: 2,
          spans: 4,
          prompt_tokens: 4,
          completion_tokens: 6,
          total_cost: 0.5,
          errors: 1,
          first_seen: FIRST,
          last_seen: lastAtMs,
        });
      await expectEverywhere(app.address, statsCase(user_id, { from: FIRST, to: lastAtMs }, { status: 200, check }));
    }
  });

  it('covers the last thirty days by default', async () => {
    const user_id = 'recent';
    const recentAtMs = Date.now() - 29 * DAY_MS;
    await send({ user_id }, [{ atMs: recentAtMs }]);
    await send({ user_id }, [{ atMs: Date.now() - 31 * DAY_MS }]);
    const check = (body: Body) => expect(body).toMatchObject({ traces: 1, first_seen: recentAtMs });
    await expectEverywhere(app.address, statsCase(user_id, {}, { status: 200, check }));
  });

  it('a user who is not known has nothing', async () => {
    for (const user_id of ['nobody', 'x'.repeat(513)]) {
      const counts = { traces: 0, threads: 0, spans: 0, errors: 0 };
      const sums = { prompt_tokens: null, completion_tokens: null, total_cost: null };
      const nothing = { user_id, ...counts, ...sums, first_seen: null, last_seen: null };
      const check = (body: Body) => expect(body).toEqual(nothing);
      await expectEverywhere(app.address, statsCase(user_id, {}, { status: 200, check }));
    }
  });

  it('refuses a range that is upside down', async () => {
    const refused = { status: 422, code: 'validation_error' };
    await expectEverywhere(app.address, statsCase('u', { from: 2, to: 1 }, refused));
  });
});
