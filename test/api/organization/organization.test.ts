import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OrganizationService, TeamService } from '../../../gen/spandrel/v1/organization_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { addKey, custom } from '../../support/fixtures.ts';
import { callRest, callRpc } from '../../support/surfaces.ts';
import { act, anyId, askAll, bearer, expectOnlyApiKeys, INSTANT } from './organization-client.ts';

const { getOrganization, updateOrganization } = OrganizationService.method;
const { listTeams, createTeam } = TeamService.method;

let app: TestApp;
let viewer: { readonly authorization: string };
beforeAll(async () => {
  app = await startApp({ writer: 'in its thread' });
  const at = [custom('ORGANIZATION', app.organizationId, ['organization:view'])];
  viewer = bearer(await addKey(app, { bindings: at }));
});
afterAll(async () => {
  await app.close();
});

const read = { rest: { path: '/api/organization' }, method: getOrganization, request: {} };

function rename(name: unknown) {
  const rest = { verb: 'PATCH', path: '/api/organization', body: { name } };
  return {
    rest,
    method: updateOrganization,
    request: { organization: { name: name as string }, updateMask: { paths: ['name'] } },
  };
}

describe('the organization, over REST and gRPC', () => {
  it('is read with every field', async () => {
    await askAll(app, read, {
      status: 200,
      headers: viewer,
      check: (body) =>
        expect(body).toEqual({
          id: app.organizationId,
          name: 'Default organization',
          slug: expect.stringMatching(/^default-organization-/),
          createdAt: INSTANT,
          updatedAt: INSTANT,
        }),
    });
  });

  it('is renamed, and an empty update changes nothing', async () => {
    await askAll(app, rename('Acme'), { status: 200, check: (body) => expect(body.name).toBe('Acme') });
    const before = (await callRest(app.address, { path: '/api/organization', headers: bearer(app.adminKey) })).text;
    const empty = {
      rest: { verb: 'PATCH', path: '/api/organization', body: {} },
      method: updateOrganization,
      request: {},
    };
    await askAll(app, empty, { status: 200, check: (body) => expect(body).toEqual(JSON.parse(before)) });
  });

  it('refuses a name that is empty, too long, absent or holds U+0000', async () => {
    for (const name of ['', 'x'.repeat(256), 'a\0b']) {
      const check = (body: { fields: string[] }) => expect(body.fields).toEqual(['name']);
      await askAll(app, rename(name), { status: 422, code: 'validation_error', check });
    }
    for (const name of [null, 5, ['a'], { $ne: '' }]) {
      const answer = await callRest(app.address, { ...rename(name).rest, headers: bearer(app.adminKey) });
      expect(answer).toMatchObject({ status: 422, body: { code: 'validation_error', fields: ['name'] } });
    }
    const headers = bearer(app.adminKey);
    const answer = await callRpc(app.address, {
      method: updateOrganization,
      headers,
      request: { updateMask: { paths: ['name'] } },
    });
    expect(answer).toMatchObject({ ok: false, code: 'validation_error', meta: { fields: ['name'] } });
  });

  it('is for API keys with the permission only', async () => {
    await expectOnlyApiKeys(app, read);
    const check = (body: object) => expect(body).toMatchObject({ requiredPermission: 'organization:manage' });
    await askAll(app, rename('Nope'), { headers: viewer, status: 403, code: 'insufficient_permissions', check });
  });
});

describe('teams, over REST and gRPC', () => {
  it('are made and listed in pages, oldest first', async () => {
    await askAll(
      app,
      {
        rest: { verb: 'POST', path: '/api/teams', body: { name: 'Red team' } },
        method: createTeam,
        request: { name: 'Red team 2' },
      },
      {
        status: 201,
        check: (body) =>
          expect(body).toEqual({
            id: anyId('team'),
            name: expect.stringMatching(/^Red team/),
            slug: expect.stringMatching(/^red-team(-2)?-/),
            organizationId: app.organizationId,
            createdAt: INSTANT,
            updatedAt: INSTANT,
          }),
      },
    );
    await askAll(
      app,
      { rest: { path: '/api/teams?page=2&limit=1' }, method: listTeams, request: { pageToken: '2', pageSize: 1 } },
      {
        status: 200,
        check: (body) => {
          expect(body.pagination).toEqual({ page: 2, limit: 1, total: 3 });
          expect(body.data).toMatchObject([{ name: 'Red team' }]);
        },
      },
    );
    const check = (body: object) => expect(body).toEqual({ data: [], pagination: { page: 1, limit: 50, total: 0 } });
    await askAll(
      app,
      { rest: { path: '/api/teams' }, method: listTeams, request: {} },
      { status: 200, headers: viewer, check },
    );
  });

  it('refuses a taken name, bad input and a page out of range', async () => {
    await act(app, 'POST', '/api/teams', { name: 'Taken' });
    const create = (body: object) => ({
      rest: { verb: 'POST', path: '/api/teams', body },
      method: createTeam,
      request: body,
    });
    await askAll(app, create({ name: 'Taken' }), { status: 409, code: 'team_name_taken' });
    await askAll(app, create({}), { status: 422, code: 'validation_error' });
    await askAll(app, create({ name: 'a\0' }), { status: 422, code: 'validation_error' });
    for (const [limit, page] of [
      [0, 1],
      [1001, 1],
    ] as const) {
      const list = { path: `/api/teams?limit=${limit}&page=${page}` };
      const request = { pageSize: limit, pageToken: String(page) };
      await askAll(app, { rest: list, method: listTeams, request }, { status: 422, code: 'validation_error' });
    }
    const headers = bearer(app.adminKey);
    for (const [page, type] of [
      ['0', 'too_small'],
      ['1000001', 'too_big'],
      ['x', 'invalid_type'],
    ] as const) {
      const { body } = await callRest(app.address, { path: `/api/teams?page=${page}`, headers });
      expect(body).toMatchObject({ code: 'validation_error', fields: ['page'], reasons: [{ meta: { type } }] });
      const answer = await callRpc(app.address, { method: listTeams, headers, request: { pageToken: page } });
      expect(answer).toMatchObject({ ok: false, code: 'validation_error', meta: { fields: ['page'] } });
    }
  });

  it('return the next page token over gRPC', async () => {
    const headers = bearer(app.adminKey);
    const teams = createClient(TeamService, createGrpcTransport({ baseUrl: app.address }));
    const seen: string[] = [];
    let pageToken = '';
    do {
      const page = await teams.listTeams({ pageToken, pageSize: 1 }, { headers });
      seen.push(...page.data.map(({ id }) => id));
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    expect(seen).toEqual((await act(app, 'GET', '/api/teams')).data.map(({ id }: { id: string }) => id));
  });

  it('are for API keys only, and made by who may', async () => {
    const create = {
      rest: { verb: 'POST', path: '/api/teams', body: { name: 'X' } },
      method: createTeam,
      request: { name: 'X' },
    };
    await expectOnlyApiKeys(app, create);
    await expectOnlyApiKeys(app, { rest: { path: '/api/teams' }, method: listTeams, request: {} });
    await askAll(app, create, { headers: viewer, status: 403, code: 'insufficient_permissions' });
  });

  it('a repeated creation with one idempotency key is one team', async () => {
    const headers = { ...bearer(app.adminKey), 'idempotency-key': 'team-once-1' };
    const create = { verb: 'POST', path: '/api/teams', body: { name: 'Once' }, headers };
    const first = await callRest(app.address, create);
    const second = await callRest(app.address, create);
    expect(second.text).toBe(first.text);
    expect([first.headers.get('x-idempotent-replay'), second.headers.get('x-idempotent-replay')]).toEqual([
      null,
      'true',
    ]);
    const rpc = await callRpc(app.address, { method: createTeam, headers, request: { name: 'Once' } });
    expect(rpc).toMatchObject({ ok: true, body: first.body });
  });
});
