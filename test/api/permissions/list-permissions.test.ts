import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PermissionService } from '../../../gen/spandrel/v1/permissions_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { type Body, callRest, expectEverywhere } from '../../support/surfaces.ts';
import { ask, mint, restrictedTo, SURFACES } from '../keys/keys-client.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.close();
});

type Expected = { readonly status: number; readonly code?: string; readonly check?: (body: Body) => void };

const expectList = (name: string, token: string | null, expected: Expected) =>
  expectEverywhere(app.address, {
    name,
    headers: token === null ? {} : { 'x-auth-token': token },
    rest: { path: '/api/permissions' },
    rpc: { method: PermissionService.method.listPermissions, request: {} },
    ...expected,
  });

const named = (body: Body, name: string): Body => body.data.find((each: Body) => each.name === name);

describe('the catalogue of permissions', () => {
  it('describes every permission: what it allows, what requires it, where it is granted and what it implies', async () => {
    await expectList('all', app.adminKey, {
      status: 200,
      check(body) {
        expect(body.data).toHaveLength(126);
        expect(named(body, 'traces:view')).toEqual({
          name: 'traces:view',
          description: 'See traces.',
          operations: [
            { route: 'GET /api/traces/{trace_id}', rpc: 'spandrel.v1.TraceService/GetTrace' },
            { route: 'POST /api/traces/search', rpc: 'spandrel.v1.TraceService/SearchTraces' },
            { route: 'POST /api/traces/facets', rpc: 'spandrel.v1.TraceService/ListTraceFacets' },
            { route: 'POST /api/traces/facets/values', rpc: 'spandrel.v1.TraceService/SuggestTraceValues' },
            { route: 'POST /api/traces/export', rpc: 'spandrel.v1.TraceService/ExportTraces' },
            { route: 'GET /api/traces/tail', rpc: 'spandrel.v1.TraceService/TailTraces' },
            { route: 'GET /api/thread/{thread_id}', rpc: 'spandrel.v1.TraceService/GetThread' },
            { route: 'GET /api/threads', rpc: 'spandrel.v1.ThreadService/ListThreads' },
            { route: 'GET /api/users', rpc: 'spandrel.v1.ThreadService/ListUsers' },
            { route: 'GET /api/saved-views', rpc: 'spandrel.v1.SavedViewService/ListSavedViews' },
            { route: 'POST /api/saved-views', rpc: 'spandrel.v1.SavedViewService/CreateSavedView' },
            { route: 'GET /api/saved-views/{saved_view_id}', rpc: 'spandrel.v1.SavedViewService/GetSavedView' },
            { route: 'PATCH /api/saved-views/{saved_view_id}', rpc: 'spandrel.v1.SavedViewService/UpdateSavedView' },
            { route: 'DELETE /api/saved-views/{saved_view_id}', rpc: 'spandrel.v1.SavedViewService/DeleteSavedView' },
            { route: 'GET /api/pricing/match', rpc: 'spandrel.v1.PricingService/MatchPrice' },
          ],
          scopes: ['ORGANIZATION', 'TEAM', 'PROJECT'],
          implies: [],
          roles: ['ADMIN', 'MEMBER', 'VIEWER'].map((role) => ({ role, scopes: ['ORGANIZATION', 'TEAM', 'PROJECT'] })),
        });
        expect(named(body, 'webhookEndpoints:manage')).toMatchObject({
          scopes: ['ORGANIZATION'],
          implies: ['webhookEndpoints:view'],
          roles: [{ role: 'ADMIN', scopes: ['ORGANIZATION'] }],
        });
        expect(named(body, 'webhookEndpoints:manage').operations).toContainEqual({
          route: 'POST /api/webhooks/v1/endpoints/{id}/roll-secret',
          rpc: 'spandrel.v1.EndpointService/RollEndpointSecret',
        });
        // The handler checks it, so no policy names it.
        expect(named(body, 'project:delete').operations).toEqual([
          { route: 'DELETE /api/projects/{id}', rpc: 'spandrel.v1.ProjectService/ArchiveProject' },
        ]);
        expect(named(body, 'langy:view').operations).toEqual([]);
        for (const { description } of body.data) expect(description).toMatch(/^[A-Z].*\.$/);
        expect(new Set(body.data.map(({ description }: Body) => description)).size).toBe(126);
      },
    });
  });

  it('says what a role gives, which is what a key with that role can do', async () => {
    const headers = { authorization: `Bearer ${app.adminKey}` };
    const { body } = await callRest(app.address, { path: '/api/permissions', headers });
    const { body: project } = await callRest(app.address, { path: `/api/projects/${app.projectId}`, headers });
    for (const role of ['ADMIN', 'MEMBER', 'VIEWER']) {
      for (const [scopeType, scopeId] of [
        ['ORGANIZATION', app.organizationId],
        ['TEAM', project.teamId],
        ['PROJECT', app.projectId],
      ] as const) {
        const given = body.data
          .filter(({ roles }: Body) =>
            roles.some((each: Body) => each.role === role && each.scopes.includes(scopeType)),
          )
          .map(({ name }: Body) => name);
        const { apiKey } = await mint(app, { bindings: [{ role, scopeType, scopeId }] });
        expect(given.toSorted(), `${role} at ${scopeType}`).toEqual(apiKey.effectivePermissions);
        expect(given.length).toBeGreaterThan(10);
      }
    }
  });

  it('is allowed to every API key, and to no other credential', async () => {
    const { token } = await mint(app, restrictedTo(app, 'traces:view'));
    await expectList('narrow', token, { status: 200 });
    await expectList('none', null, { status: 401, code: 'missing_credentials' });
    await expectList('wrong', `${app.adminKey.slice(0, -1)}!`, { status: 401, code: 'invalid_credentials' });
    await expectList('project key', app.projectKey, { status: 401, code: 'credential_class_mismatch' });
  });
});

describe.each(SURFACES)('a permission that is none, over %s', (surface) => {
  it('gets the nearest one suggested', async () => {
    const outcome = await ask(app, [surface, 'create'], {
      body: { name: 'k', ...restrictedTo(app, 'traces:view', 'trace:creat') },
    });
    expect(outcome).toMatchObject({ status: 422, code: 'validation_error', body: { fields: ['permissions.1'] } });
    expect(outcome.body.reasons[0].meta).toMatchObject({
      type: 'invalid_enum_value',
      expected: ['traces:create'],
      received: 'trace:creat',
    });
    expect(outcome.message).toContain('the nearest is traces:create');
  });
});

it('a role binding gets the nearest permission suggested, too', async () => {
  const { status, body } = await callRest(app.address, {
    verb: 'POST',
    path: '/api/role-bindings',
    headers: { 'x-auth-token': app.adminKey },
    body: {
      userId: app.userId,
      role: 'CUSTOM',
      scopeType: 'PROJECT',
      scopeId: app.projectId,
      permissions: ['trace:view'],
    },
  });
  expect(status).toBe(422);
  expect(body.reasons[0].meta.expected).toEqual(['traces:view']);
});
