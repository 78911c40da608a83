import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiKeyService } from '../../gen/spandrel/v1/keys_pb.js';
import { OrganizationService } from '../../gen/spandrel/v1/organization_pb.js';
import { startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.close();
});

const headers = () => ({ authorization: `Bearer ${app.adminKey}` });

/** A GET of Connect with a JSON message. */
function get(rpc: string, message: object, sent: Record<string, string> = headers()) {
  const query = new URLSearchParams({ connect: 'v1', encoding: 'json', message: JSON.stringify(message) });
  return fetch(`${app.address}/spandrel.v1.${rpc}?${query}`, { headers: sent });
}

describe('a read over Connect', () => {
  it.each(['1.1', '2'] as const)('can be a GET of the published client over HTTP/%s', async (httpVersion) => {
    const transport = createConnectTransport({
      baseUrl: app.address,
      httpVersion,
      useHttpGet: true,
    });
    const { organization } = await createClient(OrganizationService, transport).getOrganization(
      {},
      { headers: headers() },
    );
    expect(organization?.id).toBe(app.organizationId);
    await createClient(ApiKeyService, transport).createApiKey({ name: 'a' }, { headers: headers() });
  });

  it('is checked like any other call', async () => {
    const answer = await get('ApiKeyService/ListApiKeys', { pageSize: 1 });
    expect(answer.status).toBe(200);
    expect(((await answer.json()) as { data: unknown[] }).data).toHaveLength(1);
    expect((await get('ApiKeyService/ListApiKeys', { pageSize: 0 })).status).toBe(400);
    expect((await get('ApiKeyService/ListApiKeys', {}, {})).status).toBe(401);
  });
});

it.each(['', '?connect=v1', '?encoding=xml&message={}', '?encoding=json&message={'])(
  'a GET that the protocol does not know is refused with a reason (%s)',
  async (query) => {
    const answer = await fetch(`${app.address}/spandrel.v1.ApiKeyService/ListApiKeys${query}`, { headers: headers() });
    expect([415, 400]).toContain(answer.status);
    const error = { message: expect.any(String), details: [{ type: 'google.rpc.ErrorInfo' }] };
    expect(await answer.json()).toMatchObject(error);
  },
);

it.each(['*', 'a', 'e30=='.repeat(3)])('a GET whose message %j is not base64 is a bad request', async (message) => {
  const query = new URLSearchParams({ connect: 'v1', encoding: 'json', base64: '1', message });
  const answer = await fetch(`${app.address}/spandrel.v1.ApiKeyService/ListApiKeys?${query}`, { headers: headers() });
  expect([answer.status, await answer.json()]).toMatchObject([400, { code: 'invalid_argument' }]);
});

it('a GET whose message is base64 is answered', async () => {
  const message = Buffer.from('{"pageSize":1}').toString('base64url');
  const query = new URLSearchParams({ connect: 'v1', encoding: 'json', base64: '1', message });
  const answer = await fetch(`${app.address}/spandrel.v1.ApiKeyService/ListApiKeys?${query}`, { headers: headers() });
  expect(answer.status).toBe(200);
});

describe('an instant that does not exist', () => {
  const sent = () => ({ 'x-auth-token': app.projectKey, 'content-type': 'application/json' });
  const collect = (instant: string, more: object = {}) => {
    const span = {
      spanId: 's',
      type: 'SPAN_TYPE_LLM',
      timestamps: { startedAt: instant, finishedAt: instant },
      ...more,
    };
    const body = JSON.stringify({ traceId: 't', spans: [span] });
    return fetch(`${app.address}/spandrel.v1.TraceService/CollectTrace`, { method: 'POST', headers: sent(), body });
  };

  it.each(['2026-02-30T10:00:00Z', '2026-04-31T00:00:00Z', '2026-02-29T10:00:00+01:00', '2026-11-25T24:00:00Z'])(
    'such as %s is refused over Connect by the name of its field',
    async (instant) => {
      const answer = await collect(instant);
      expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('started_at')]);
    },
  );

  it('is text where text is expected', async () => {
    const name = '2026-02-30T10:00:00Z';
    expect((await collect('2024-02-29T10:00:00Z', { name })).status).toBe(200);
  });

  it('is refused in a GET', async () => {
    const range = { createdFrom: '2026-02-30T10:00:00Z', createdTo: '2026-03-03T00:00:00Z', pageSize: 1 };
    const answer = await get('EventService/ListEvents', range);
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('created_from')]);
    expect((await get('EventService/ListEvents', { ...range, createdFrom: '2026-02-28T10:00:00Z' })).status).toBe(200);
  });
});

it('a change over Connect cannot be a GET', async () => {
  const answer = await get('ApiKeyService/CreateApiKey', { name: 'by a link' });
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
  const { data } = (await (await get('ApiKeyService/ListApiKeys', {})).json()) as { data: { name: string }[] };
  expect(data.map(({ name }) => name)).not.toContain('by a link');
});
