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

it('a change over Connect cannot be a GET', async () => {
  const answer = await get('ApiKeyService/CreateApiKey', { name: 'by a link' });
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
  const { data } = (await (await get('ApiKeyService/ListApiKeys', {})).json()) as { data: { name: string }[] };
  expect(data.map(({ name }) => name)).not.toContain('by a link');
});
