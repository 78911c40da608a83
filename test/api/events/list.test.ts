import type { MessageInitShape } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EventService, type ListEventsRequestSchema } from '../../../gen/spandrel/v1/events_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { hex, llmTrace } from '../../support/fixtures.ts';
import { type Body, callRest, expectEverywhere, type SurfaceCase } from '../../support/surfaces.ts';

const NOW = Date.now();
const FAR = NOW + 86_400_000;
const { listEvents, getEvent } = EventService.method;

let app: TestApp;
const ids: string[] = [];
beforeAll(async () => {
  app = await startApp({ writer: 'in its thread' });
  for (let index = 0; index < 30; index++) {
    const body = llmTrace(NOW - index);
    const answer = await callRest(app.address, {
      verb: 'POST',
      path: '/api/collector',
      body,
      headers: { 'x-auth-token': app.projectKey },
    });
    expect(answer.status).toBe(200);
  }
  const all = await callRest(app.address, {
    path: `/api/webhooks/v1/events?from=0&to=${FAR}&limit=200`,
    headers: admin(),
  });
  ids.push(...all.body.data.map((event: Body) => event.id));
});
afterAll(async () => {
  await app.close();
});

const admin = () => ({ authorization: `Bearer ${app.adminKey}` });

/** Parameters by REST name. */
type ListRequest = {
  readonly from?: bigint;
  readonly to?: bigint;
  readonly type?: string;
  readonly cursor?: string;
  readonly limit?: number;
};

const END = { seconds: 253_402_300_799n, nanos: 999_999_999 };

function requestOf({
  from,
  to,
  type,
  cursor = '',
  limit,
}: ListRequest): MessageInitShape<typeof ListEventsRequestSchema> {
  // The latest valid instant replaces all later ones.
  const instant = (ms?: bigint) =>
    ms === undefined
      ? undefined
      : ms / 1000n > END.seconds
        ? END
        : { seconds: ms / 1000n, nanos: Number(ms % 1000n) * 1_000_000 };
  return { createdFrom: instant(from), createdTo: instant(to), eventType: type, pageToken: cursor, pageSize: limit };
}

function listCase(
  query: string,
  request: ListRequest,
  each: Partial<SurfaceCase<typeof listEvents>> & { status: number },
): SurfaceCase {
  return {
    name: query,
    headers: admin(),
    rest: { path: `/api/webhooks/v1/events${query}` },
    rpc: { method: listEvents, request: requestOf(request) },
    ...each,
  };
}

describe('the log of events, over REST and gRPC', () => {
  it('every llm span is one completed event, newest first', async () => {
    await expectEverywhere(
      app.address,
      listCase(
        `?from=0&to=${FAR}&limit=200`,
        { from: 0n, to: BigInt(FAR), limit: 200 },
        {
          status: 200,
          check: ({ data, next_cursor }) => {
            expect(data).toHaveLength(30);
            expect(next_cursor).toBeNull();
            const keys = data.map((event: Body) => [event.created, event.id]);
            expect(keys).toEqual([...keys].sort().reverse());
            expect(Object.keys(data[0])).toEqual(['id', 'type', 'created', 'schema_version', 'data']);
            expect(data[0]).toMatchObject({ type: 'gateway.request.completed', schema_version: '1' });
          },
        },
      ),
    );
  });

  it('the data of an event has every field in its order', async () => {
    const traceId = hex(32);
    const spanId = hex(16);
    await callRest(app.address, {
      verb: 'POST',
      path: '/api/collector',
      body: llmTrace(NOW, traceId, spanId),
      headers: { 'x-auth-token': app.projectKey },
    });
    const { body } = await callRest(app.address, {
      path: `/api/webhooks/v1/events?from=0&to=${FAR}&limit=1`,
      headers: admin(),
    });
    const [event] = body.data;
    expect(event.data).toEqual({
      event_id: event.id,
      event_type: 'gateway.request.completed',
      gateway_request_id: event.id.replace(/:completed$/, ''),
      occurred_at: new Date(NOW + 1200).toISOString(),
      organization_id: app.organizationId,
      project_id: app.projectId,
      virtual_key_id: '',
      principal_user_id: null,
      end_user_id: 'user-1',
      trace_id: traceId,
      model: 'gpt-5',
      model_provider_id: null,
      request_type: 'chat',
      usage: {
        input_tokens: 100,
        output_tokens: 150,
        cache_read_input_tokens: 0,
        cache_creation_input_tokens: 0,
        reasoning_tokens: 0,
      },
      cost: {
        total_usd: '0.001625',
        nano_usd: 1625000,
        rate_version: expect.stringMatching(/^registry@\d{4}-\d{2}-\d{2}$/),
      },
      status: 'success',
      needs_reconciliation: null,
      settle_reason: null,
      error: null,
      duration_ms: 1200,
      labels: ['greeting', 'v2'],
      metadata: {},
    });
    expect(Object.keys(event.data).slice(0, 4)).toEqual([
      'event_id',
      'event_type',
      'gateway_request_id',
      'occurred_at',
    ]);
    await expectEverywhere(app.address, {
      name: 'get',
      headers: admin(),
      rest: { path: `/api/webhooks/v1/events/${encodeURIComponent(event.id)}` },
      rpc: { method: getEvent, request: { id: event.id } },
      status: 200,
      check: (answer) => expect(JSON.stringify(answer.data)).toBe(JSON.stringify(event)),
    });
  });

  it.each([1, 2, 7, 200])('a walk in pages of %i returns each event once', async (limit) => {
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page = await callRest(app.address, {
        path: `/api/webhooks/v1/events?from=0&to=${FAR}&limit=${limit}&cursor=${cursor}`,
        headers: admin(),
      });
      expect(page.status).toBe(200);
      seen.push(...page.body.data.map((event: Body) => event.id));
      cursor = page.body.next_cursor;
    }
    expect(seen.filter((id) => ids.includes(id))).toEqual(ids);
    expect(new Set(seen).size).toBe(seen.length);
  });

  it.each([
    '*',
    'gateway.*',
    'gateway.budget.breached',
    'gateway.virtual_key.created',
    'invented',
    '',
    'gateway.request.settled',
  ])('the type "%s" is an empty page, not an error', async (type) => {
    await expectEverywhere(
      app.address,
      listCase(
        `?from=0&to=${FAR}&type=${type}`,
        { from: 0n, to: BigInt(FAR), type },
        {
          status: 200,
          check: (body) => expect(body).toEqual({ data: [], next_cursor: null }),
        },
      ),
    );
  });

  it('the largest range is legal, and one millisecond is a range', async () => {
    const max = 9007199254740991n;
    await expectEverywhere(app.address, listCase(`?from=${max}&to=${max}`, { from: max, to: max }, { status: 200 }));
    await expectEverywhere(app.address, listCase('?from=0&to=0', { from: 0n, to: 0n }, { status: 200 }));
  });

  it.each(['-1', '+1', '1e3', '0x10', '1.0', ' 1', '', '9007199254740992', '12345678901234567', 'abc'])(
    'the integer "%s" is refused for from, to and limit',
    async (token) => {
      for (const name of ['from', 'to', 'limit']) {
        const query = new URLSearchParams({ from: '1', to: '2', limit: '3', [name]: token });
        const answer = await callRest(app.address, { path: `/api/webhooks/v1/events?${query}`, headers: admin() });
        expect(answer.status, `${name}=${token}`).toBe(400);
        expect(answer.body.error).toMatchObject({
          type: 'bad_request',
          code: 'validation_error',
          meta: { target: 'query', fields: [name] },
        });
      }
    },
  );

  it('missing parameters are all named', async () => {
    await expectEverywhere(
      app.address,
      listCase(
        '',
        {},
        {
          status: 400,
          code: 'validation_error',
          check: ({ error }) => expect(error.meta.fields).toEqual(['from', 'to']),
        },
      ),
    );
  });

  it('a range upside down is refused, not answered with an empty page', async () => {
    await expectEverywhere(
      app.address,
      listCase(
        '?from=2&to=1',
        { from: 2n, to: 1n },
        {
          status: 400,
          code: 'validation_error',
          check: ({ error }) =>
            expect(error.meta).toMatchObject({
              target: 'query',
              fields: ['(root)'],
              reasons: [{ meta: { type: 'custom' } }],
            }),
        },
      ),
    );
  });

  it.each(['0', '201'])('a page size of %s is refused, never clamped', async (limit) => {
    await expectEverywhere(
      app.address,
      listCase(
        `?from=1&to=2&limit=${limit}`,
        { from: 1n, to: 2n, limit: Number(limit) },
        { status: 400, code: 'validation_error' },
      ),
    );
  });

  it('a cursor changed by any character, or from another question, is refused', async () => {
    const first = await callRest(app.address, {
      path: `/api/webhooks/v1/events?from=0&to=${FAR}&limit=2`,
      headers: admin(),
    });
    const cursor: string = first.body.next_cursor;
    for (let index = 0; index < cursor.length; index += 5) {
      const changed = cursor.slice(0, index) + (cursor[index] === 'A' ? 'B' : 'A') + cursor.slice(index + 1);
      const answer = await callRest(app.address, {
        path: `/api/webhooks/v1/events?from=0&to=${FAR}&cursor=${changed}`,
        headers: admin(),
      });
      expect(answer.body.error?.code, changed).toBe('invalid_cursor');
    }
    await expectEverywhere(
      app.address,
      listCase(
        `?from=1&to=${FAR}&cursor=${cursor}`,
        { from: 1n, to: BigInt(FAR), cursor },
        { status: 400, code: 'invalid_cursor' },
      ),
    );
    for (const type of ['gateway.request.completed', '*', '']) {
      const typed = { from: 0n, to: BigInt(FAR), cursor, type };
      await expectEverywhere(
        app.address,
        listCase(`?from=0&to=${FAR}&type=${type}&cursor=${cursor}`, typed, { status: 400, code: 'invalid_cursor' }),
      );
    }
  });

  it('a repeated parameter is refused and an unknown one ignored', async () => {
    const twice = await callRest(app.address, { path: '/api/webhooks/v1/events?from=1&from=2&to=3', headers: admin() });
    expect(twice.body.error).toMatchObject({ code: 'validation_error', meta: { fields: ['from'] } });
    expect(
      (await callRest(app.address, { path: '/api/webhooks/v1/events?from=1&to=3&color=red', headers: admin() })).status,
    ).toBe(200);
  });

  it('a project key never reads the log, nor does a call without credential or permission', async () => {
    const request = { from: 0n, to: 1n };
    await expectEverywhere(
      app.address,
      listCase('?from=0&to=1', request, {
        headers: { 'x-auth-token': app.projectKey },
        status: 401,
        code: 'credential_class_mismatch',
        check: ({ error }) =>
          expect(error.meta).toEqual({ required: 'organization_api_key', presented: 'project_api_key' }),
      }),
    );
    await expectEverywhere(
      app.address,
      listCase('?from=2&to=1', { from: 2n, to: 1n }, { headers: {}, status: 401, code: 'missing_credentials' }),
    );
  });

  it.each(['nope', 'budget:x:breached:1', 'req_1:admitted', 'x'.repeat(601), '%20', 'a:completed:2'])(
    'the event id "%s" is the same 404 as any unknown one',
    async (id) => {
      await expectEverywhere(app.address, {
        name: id,
        headers: admin(),
        rest: { path: `/api/webhooks/v1/events/${encodeURIComponent(id)}` },
        rpc: { method: getEvent, request: { id } },
        status: 404,
        code: 'webhook_event_not_found',
      });
    },
  );
});
