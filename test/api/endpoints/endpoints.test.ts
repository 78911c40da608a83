import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EndpointService } from '../../../gen/spandrel/v1/endpoints_pb.js';
import type { TestApp } from '../../support/app.ts';
import { fetchChecked } from '../../support/openapi/fetch-checked.ts';
import { callRpc } from '../../support/surfaces.ts';
import {
  BASE,
  call,
  create,
  HTTP,
  invoke,
  NOBODY_URL,
  QUEUE_URL,
  ROLE,
  SURFACES,
  startSending,
} from './endpoints-client.ts';

let app: TestApp;
const clock = { aheadMs: 0 };
beforeAll(async () => {
  app = await startSending({}, () => Date.now() + clock.aheadMs);
});
afterAll(async () => {
  await app.close();
});

const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const FIELDS = [
  'id',
  'destination_kind',
  'url',
  'sqs',
  'enabled_events',
  'status',
  'disabled_reason',
  'disabled_at',
  'failing_since',
  'last_success_at',
  'last_failure_at',
  'max_batch_size',
  'max_batch_delay_ms',
  'max_in_flight',
  'created_at',
  'updated_at',
];
/** The URL of a bucket that somebody could name `sqs`. */
const NO_REGION_URL = QUEUE_URL.replace('eu-west-1', 's3');
const QUEUE_FIELDS = [
  'queue_url',
  'region',
  'account_id',
  'queue_name',
  'credential_mode',
  'role_arn',
  'external_id',
  'access_key_id',
];

describe.each(SURFACES)('an endpoint over %s', (surface) => {
  it('is made with its secret, which is never read again', async () => {
    const { data } = await invoke(app, [surface, 'createEndpoint'], { body: { ...HTTP, description: 'ours' } });
    expect(Object.keys(data)).toEqual([...FIELDS, 'secret']);
    const { secret, ...endpoint } = data;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(endpoint).toEqual({
      id: expect.stringMatching(/^webhookendpoint_[0-9A-Za-z]{29}$/),
      destination_kind: 'http',
      url: NOBODY_URL,
      sqs: null,
      enabled_events: ['gateway.virtual_key.*'],
      status: 'active',
      disabled_reason: null,
      disabled_at: null,
      failing_since: null,
      last_success_at: null,
      last_failure_at: null,
      max_batch_size: 100,
      max_batch_delay_ms: 250,
      max_in_flight: 4,
      created_at: instant,
      updated_at: endpoint.created_at,
    });
    const read = await invoke(app, [surface, 'getEndpoint'], { id: data.id });
    expect(read).toEqual({ data: endpoint });
    expect(Object.keys(read.data)).toEqual(FIELDS);
  });

  it('can be a queue, whose key is never read', async () => {
    const pair = { access_key_id: 'AKIAEXAMPLE', secret_access_key: 'open sesame' };
    const sqs = { queue_url: QUEUE_URL, ...pair };
    const body = { destination_kind: 'sqs', sqs, enabled_events: ['*'] };
    const { data } = await invoke(app, [surface, 'createEndpoint'], { body });
    expect(Object.keys(data.sqs)).toEqual(QUEUE_FIELDS);
    expect(data).toMatchObject({
      destination_kind: 'sqs',
      url: null,
      sqs: {
        queue_url: QUEUE_URL,
        region: 'eu-west-1',
        account_id: '123456789012',
        queue_name: 'events',
        credential_mode: 'static',
        role_arn: null,
        external_id: null,
        access_key_id: 'AKIAEXAMPLE',
      },
    });
    expect(JSON.stringify(data)).not.toContain('open sesame');
    const role = { ...body, sqs: { queue_url: QUEUE_URL, role_arn: ROLE } };
    const assumed = await invoke(app, [surface, 'createEndpoint'], { body: role });
    expect(assumed.data.sqs).toMatchObject({
      credential_mode: 'assume_role',
      external_id: expect.stringMatching(/^lw-[0-9a-f]{32}$/),
    });
  });

  it.each<readonly [string, object, string, object]>([
    ['no url', { enabled_events: ['*'] }, 'validation_error', { fields: ['url'] }],
    [
      'a queue on http',
      { destination_kind: 'http', enabled_events: ['*'], sqs: {} },
      'validation_error',
      { fields: ['url', 'sqs'] },
    ],
    [
      'no queue',
      { ...HTTP, url: undefined, destination_kind: 'sqs' },
      'validation_error',
      { fields: ['sqs.queue_url'] },
    ],
    ['no selectors', { url: NOBODY_URL }, 'validation_error', { fields: ['enabled_events'] }],
    ['an empty selector', { ...HTTP, enabled_events: [''] }, 'validation_error', { fields: ['enabled_events.0'] }],
    ['a long url', { ...HTTP, url: `${NOBODY_URL}${'a'.repeat(2_000)}` }, 'validation_error', { fields: ['url'] }],
    ['a long description', { ...HTTP, description: 'a'.repeat(501) }, 'validation_error', { fields: ['description'] }],
    [
      'a long role',
      { destination_kind: 'sqs', enabled_events: ['*'], sqs: { queue_url: QUEUE_URL, role_arn: 'a'.repeat(2_049) } },
      'validation_error',
      { fields: ['sqs.role_arn'] },
    ],
    ['another scheme', { ...HTTP, url: 'http://example.com/' }, 'webhook_endpoint_invalid', {}],
    ['a private address', { ...HTTP, url: 'https://10.0.0.1/' }, 'webhook_endpoint_invalid', {}],
    ['an address of metadata', { ...HTTP, url: 'https://[fd20:ce::254]/' }, 'webhook_endpoint_invalid', {}],
    [
      'a queue in what is not a region',
      { destination_kind: 'sqs', enabled_events: ['*'], sqs: { queue_url: NO_REGION_URL, role_arn: ROLE } },
      'webhook_endpoint_invalid',
      {},
    ],
    ['an unknown type', { ...HTTP, enabled_events: ['test.ping'] }, 'webhook_endpoint_invalid', {}],
    ['a control out of bounds', { ...HTTP, max_batch_size: 101 }, 'webhook_endpoint_invalid', {}],
  ])('is refused with %s', async (_, body, code, meta) => {
    const error = await invoke(app, [surface, 'createEndpoint'], { body }, `400 ${code}`);
    expect(error.meta ?? {}).toMatchObject(meta);
    if (code === 'webhook_endpoint_invalid') expect(Object.keys(error.meta ?? {})).toEqual([]);
  });

  it('is refused with an unknown type, and with the route that lists the types', async () => {
    const body = { ...HTTP, enabled_events: ['*', 'test.ping'] };
    const error = await invoke(app, [surface, 'createEndpoint'], { body }, '400 webhook_endpoint_invalid');
    expect(error.message).toMatch(/^enabled_events\.1 .*GET \/api\/webhooks\/v1\/event-types/);
  });

  it('changes in what is sent, and in nothing when that is equal', async () => {
    const { id, created_at } = await create(app);
    clock.aheadMs += 1_000;
    const equal = await invoke(app, [surface, 'updateEndpoint'], { id, body: { ...HTTP, status: 'active' } });
    expect(equal.data.updated_at).toBe(created_at);
    const { data } = await invoke(app, [surface, 'updateEndpoint'], {
      id,
      body: { status: 'disabled', max_in_flight: 1, enabled_events: ['*', '*'] },
    });
    expect(data).toMatchObject({
      status: 'disabled',
      disabled_reason: 'manual',
      disabled_at: instant,
      max_in_flight: 1,
      enabled_events: ['*', '*'],
      max_batch_size: 100,
    });
    expect(data.updated_at > created_at).toBe(true);
    const enabled = await invoke(app, [surface, 'updateEndpoint'], { id, body: { status: 'active' } });
    expect(enabled.data).toMatchObject({ status: 'active', disabled_reason: null, disabled_at: null });
    await invoke(app, [surface, 'updateEndpoint'], { id, body: { url: null } }, '400 webhook_endpoint_invalid');
    const error = await invoke(
      app,
      [surface, 'updateEndpoint'],
      { id, body: { max_in_flight: null } },
      '400 validation_error',
    );
    expect(error.meta.fields).toEqual(['max_in_flight']);
  });

  it('of a queue merges what is named in it', async () => {
    const sqs = { queue_url: QUEUE_URL, role_arn: ROLE, external_id: 'ours' };
    const { id } = await create(app, { destination_kind: 'sqs', sqs, enabled_events: ['*'] });
    const patch = (body: object, wanted: string | null = null) =>
      invoke(app, [surface, 'updateEndpoint'], { id, body }, wanted);
    expect((await patch({ sqs: {} })).data.sqs.external_id).toBe('ours');
    expect((await patch({ sqs: { external_id: null } })).data.sqs.external_id).toMatch(/^lw-/);
    await patch({ sqs: { role_arn: null } }, '400 webhook_endpoint_invalid');
    const both = await patch(
      { sqs: { role_arn: ROLE, access_key_id: 'A', secret_access_key: 'b' } },
      '400 webhook_endpoint_invalid',
    );
    expect(both.message).toMatch(/role_arn|access_key_id/);
    const pair = await patch({ sqs: { access_key_id: 'A', secret_access_key: 'b' } });
    expect(pair.data.sqs).toMatchObject({ credential_mode: 'static', role_arn: null, external_id: null });
    expect((await patch({ sqs: { role_arn: ROLE } })).data.sqs).toMatchObject({ access_key_id: null, role_arn: ROLE });
    await patch({ sqs: null }, '400 webhook_endpoint_invalid');
    await patch({ sqs: { queue_url: NO_REGION_URL } }, '400 webhook_endpoint_invalid');
    expect((await patch({ url: null })).data.url).toBeNull();
  });

  it('is not found after it was archived', async () => {
    const { id } = await create(app);
    expect(await invoke(app, [surface, 'archiveEndpoint'], { id })).toEqual({ data: { archived: true } });
    await invoke(app, [surface, 'archiveEndpoint'], { id }, '404 webhook_endpoint_not_found');
    await invoke(app, [surface, 'getEndpoint'], { id }, '404 webhook_endpoint_not_found');
  });

  it('is listed with the others, whole or in pages', async () => {
    await create(app);
    await create(app);
    const all = await invoke(app, [surface, 'listEndpoints']);
    expect(Object.keys(all)).toEqual(['data']);
    const ids = all.data.map(({ id }: { id: string }) => id);
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page = await invoke(app, [surface, 'listEndpoints'], { query: { limit: '2', cursor } });
      expect(Object.keys(page)).toEqual(['data', 'next_cursor']);
      seen.push(...page.data.map(({ id }: { id: string }) => id));
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(ids);
    await invoke(app, [surface, 'listEndpoints'], { query: { cursor: 'x' } }, '400 invalid_cursor');
    await invoke(app, [surface, 'listEndpoints'], { query: { limit: '0' } }, '400 validation_error');
    await invoke(app, [surface, 'listEndpoints'], { query: { limit: '201' } }, '400 validation_error');
  });

  it('chooses among the types that are listed', async () => {
    const { data } = await invoke(app, [surface, 'listEventTypes']);
    expect(data.map(({ type }: { type: string }) => type)).toEqual([
      'gateway.request.completed',
      'gateway.request.settled',
      'gateway.budget.threshold_crossed',
      'gateway.budget.breached',
      'gateway.virtual_key.created',
      'gateway.virtual_key.rotated',
      'gateway.virtual_key.disabled',
      'gateway.virtual_key.enabled',
      'gateway.virtual_key.revoked',
    ]);
    expect(data[0]).toEqual({
      type: 'gateway.request.completed',
      family: 'gateway',
      schema_version: '1',
      is_emitting: true,
      description: expect.any(String),
    });
  });
});

describe('behaviour of REST alone', () => {
  it.each<readonly [string, object | string, string, readonly string[] | null]>([
    ['a word in capitals', { status: 'DISABLED' }, 'validation_error', ['status']],
    ['null for a word', { status: null }, 'validation_error', ['status']],
    ['a fraction', '{"max_in_flight":1.5}', 'validation_error', ['max_in_flight']],
    ['an exponent that leaves a fraction', '{"max_in_flight":1e-1}', 'validation_error', ['max_in_flight']],
    ['a whole number beyond 2^53', '{"max_in_flight":1e16}', 'validation_error', ['max_in_flight']],
    ['a number as text', { max_in_flight: '1' }, 'validation_error', ['max_in_flight']],
    ['a text as list', { enabled_events: '*' }, 'validation_error', ['enabled_events']],
    ['null for a list', { enabled_events: null }, 'validation_error', ['enabled_events']],
    ['null for a queue url', { sqs: { queue_url: null } }, 'validation_error', ['sqs.queue_url']],
    ['a text as queue', { sqs: 'x' }, 'validation_error', ['sqs']],
    ['broken JSON', '{', 'malformed_request', null],
    ['an empty body', '', 'malformed_request', null],
    ['no object', '[]', 'malformed_request', null],
  ])('%s is refused before the endpoint is read', async (_, body, code, fields) => {
    const sent = typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await fetchChecked(app.address, `${BASE}/unknown`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${app.adminKey}`, 'content-type': 'application/json' },
      body: sent,
    });
    const { error } = (await answer.json()) as { error: { code: string; meta: { fields?: string[] } } };
    expect({ status: answer.status, code: error.code }).toEqual({ status: 400, code });
    if (fields !== null) expect(error.meta.fields).toEqual(fields);
  });

  it.each(['5.0', '5e0', '0.5e1', '50e-1'])('%s is a whole number', async (number) => {
    const body = JSON.stringify({ ...HTTP, max_batch_size: 'here' }).replace('"here"', number);
    const made = await call(app, 'POST', BASE, { body });
    expect([made.status, made.body.data?.max_batch_size]).toEqual([201, 5]);
  });

  it('a control that is null, or a body that is none, makes no endpoint', async () => {
    const nulled = await call(app, 'POST', BASE, { body: { ...HTTP, max_batch_size: null } });
    expect(nulled.body.error.meta.fields).toEqual(['max_batch_size']);
    const empty = await call(app, 'POST', BASE, { body: '' });
    expect(empty.body.error.code).toBe('malformed_request');
    const text = await call(app, 'POST', BASE, { body: HTTP, headers: { 'content-type': 'text/plain' } });
    expect(text.body.error.code).toBe('malformed_request');
  });

  it('absent values are null', async () => {
    const made = await call(app, 'POST', BASE, { body: { ...HTTP, sqs: null, description: null, unknown: 1 } });
    expect(made.status).toBe(201);
    const same = await call(app, 'PATCH', `${BASE}/${made.body.data.id}`, { body: { sqs: null, unknown: 1 } });
    expect(same.status).toBe(200);
  });

  it('a secret is never kept by anybody on the way', async () => {
    const made = await call(app, 'POST', BASE, { body: HTTP, headers: { 'accept-encoding': 'gzip' } });
    expect(made.headers.get('cache-control')).toBe('no-store');
    expect(made.headers.get('content-encoding')).toBeNull();
    const rolled = await call(app, 'POST', `${BASE}/${made.body.data.id}/roll-secret`);
    expect(rolled.headers.get('cache-control')).toBe('no-store');
  });

  it.each(['roll-secret', 'test'])('%s needs no body and ignores one', async (tail) => {
    const { id } = await create(app);
    for (const [type, body] of [
      ['application/json', '{'],
      ['text/plain', 'x'],
      ['application/json', '{"overlap_seconds":"x"}'],
    ] as const) {
      const answer = await call(app, 'POST', `${BASE}/${id}/${tail}`, { body, headers: { 'content-type': type } });
      expect(answer.status).toBe(200);
    }
  });

  it.each(['-1', '+1', '1e3', '0x10', '1.0', '', '86401'])('an overlap of "%s" is refused', async (overlap) => {
    const { id } = await create(app);
    const path = `${BASE}/${id}/roll-secret?overlap_seconds=${encodeURIComponent(overlap)}`;
    const { status, body } = await call(app, 'POST', path);
    expect(status).toBe(400);
    expect(body.error.meta).toMatchObject({ target: 'query', fields: ['overlap_seconds'] });
  });

  it('a parameter that is sent twice is refused', async () => {
    const { status, body } = await call(app, 'GET', `${BASE}?limit=1&limit=2`);
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'validation_error' });
  });

  it('an empty cursor counts as not sent', async () => {
    expect(Object.keys((await call(app, 'GET', `${BASE}?cursor=`)).body)).toEqual(['data']);
  });
});

describe('behaviour of gRPC alone', () => {
  const { updateEndpoint, createEndpoint } = EndpointService.method;
  const headers = () => ({ authorization: `Bearer ${app.adminKey}` });
  const update = (request: Parameters<typeof callRpc<typeof updateEndpoint>>[1]['request']) =>
    callRpc(app.address, { method: updateEndpoint, request, headers: headers() });

  it('without a mask what is there counts as sent', async () => {
    const { id } = await create(app);
    const answer = await update({ id, endpoint: { maxInFlight: 2, enabledEvents: [] } });
    if (!answer.ok) throw answer.error;
    expect(answer.body.data).toMatchObject({ max_in_flight: 2, enabled_events: HTTP.enabled_events });
  });

  it('with a mask what it names counts, and it names all that is there', async () => {
    const { id } = await create(app);
    const answer = await update({ id, endpoint: { maxBatchSize: 7 }, updateMask: { paths: ['max_batch_size'] } });
    if (!answer.ok) throw answer.error;
    expect(answer.body.data).toMatchObject({ max_in_flight: 4, max_batch_size: 7 });
    const more = await update({
      id,
      endpoint: { maxInFlight: 2, maxBatchSize: 7 },
      updateMask: { paths: ['max_batch_size'] },
    });
    expect(more).toMatchObject({ ok: false, code: 'validation_error', meta: { fields: ['max_in_flight'] } });
    const emptied = await update({ id, updateMask: { paths: ['enabled_events'] } });
    expect(emptied).toMatchObject({ ok: false, code: 'validation_error' });
    const unset = await update({ id, updateMask: { paths: ['status'] } });
    expect(unset).toMatchObject({ ok: false, code: 'validation_error' });
  });

  it('a mask names a queue as a whole, or one thing in it', async () => {
    const sqs = { queue_url: QUEUE_URL, role_arn: ROLE, external_id: 'ours' };
    const { id } = await create(app, { destination_kind: 'sqs', sqs, enabled_events: ['*'] });
    const whole = await update({
      id,
      endpoint: {
        destination: { case: 'sqs', value: { credentials: { case: 'assumeRole', value: { externalId: 'theirs' } } } },
      },
      updateMask: { paths: ['sqs'] },
    });
    if (!whole.ok) throw whole.error;
    expect(whole.body.data.sqs).toMatchObject({ external_id: 'theirs', role_arn: ROLE });
    const one = await update({ id, updateMask: { paths: ['sqs.assume_role.external_id'] } });
    if (!one.ok) throw one.error;
    expect(one.body.data.sqs.external_id).toMatch(/^lw-/);
    const beside = await update({
      id,
      updateMask: { paths: ['max_in_flight', 'url'] },
      endpoint: { maxInFlight: 1 },
    });
    if (!beside.ok) throw beside.error;
    expect(beside.body.data.sqs.external_id).toBe(one.body.data.sqs.external_id);
  });

  it('numbers that are not words and strings with U+0000 are refused', async () => {
    const request = { destination: { case: 'url' as const, value: NOBODY_URL }, enabledEvents: ['*'] };
    for (const wrong of [{ destinationKind: 9 }, { description: 'a\0b' }]) {
      const answer = await callRpc(app.address, {
        method: createEndpoint,
        request: { ...request, ...wrong },
        headers: headers(),
      });
      expect(answer).toMatchObject({ ok: false, code: 'validation_error' });
    }
  });
});
