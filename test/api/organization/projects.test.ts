import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ProjectService } from '../../../gen/spandrel/v1/organization_pb.js';
import { mintApiKey } from '../../../src/domain/secrets.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { addKey, custom } from '../../support/fixtures.ts';
import { type Body, callRest, callRpc } from '../../support/surfaces.ts';
import { act, anyId, askAll, bearer, expectOnlyApiKeys, INSTANT } from './organization-client.ts';

const { listProjects, createProject, getProject, updateProject, archiveProject, rotateProjectKey } =
  ProjectService.method;

const API_KEY_SHAPED = mintApiKey('sk-lw-', randomBytes).token;

let nowMs = Date.now();
let app: TestApp;
let teamId: string;
let narrow: { readonly authorization: string };
beforeAll(async () => {
  app = await startApp({ clock: () => nowMs, environment: { SPANDREL_KEY_PREFIX: 'sk-lw-,acme-' } });
  teamId = (await act(app, 'GET', '/api/teams')).data[0].id;
  const bindings = [{ role: 'VIEWER', scopeType: 'PROJECT', scopeId: app.projectId, permissions: [] }] as const;
  narrow = bearer(await addKey(app, { bindings }));
});
afterAll(async () => {
  await app.close();
});

let made = 0;
function make(body: object = {}): Promise<Body> {
  made += 1;
  return act(app, 'POST', '/api/projects', { name: `P ${made}`, ...body });
}

const get = (id: string) => ({ rest: { path: `/api/projects/${id}` }, method: getProject, request: { id } });
const update = (id: string, body: object) => ({
  rest: { verb: 'PATCH', path: `/api/projects/${id}`, body },
  method: updateProject,
  request: { id, project: body },
});
const archive = (id: string) => ({
  rest: { verb: 'DELETE', path: `/api/projects/${id}` },
  method: archiveProject,
  request: { id },
});
const rotate = (id: string, { overlapSeconds, ...body }: { overlapSeconds?: number; apiKey?: string } = {}) => ({
  rest: {
    verb: 'POST',
    path: `/api/projects/${id}/rotate-api-key`,
    body: overlapSeconds === undefined ? body : { ...body, overlapSeconds },
  },
  method: rotateProjectKey,
  request: { id, ...body, ...(overlapSeconds === undefined ? {} : { overlapSeconds }) },
});

/** Whether a project key works, by the answer of a project route. */
async function works(token: string): Promise<boolean> {
  const answer = await callRest(app.address, { path: '/api/evaluators/none', headers: bearer(token) });
  return answer.status === 404;
}

describe('making projects, over REST and gRPC', () => {
  it('answers every field and a key that works', async () => {
    const body = { name: 'Shop 1', language: 'python', framework: 'fastapi' };
    const keys: string[] = [];
    await askAll(
      app,
      {
        rest: { verb: 'POST', path: '/api/projects', body },
        method: createProject,
        request: { ...body, name: 'Shop 2', teamId },
      },
      {
        status: 201,
        check: ({ apiKey, ...project }) => {
          keys.push(apiKey);
          expect(project).toEqual({
            id: anyId('project'),
            name: expect.stringMatching(/^Shop [12]$/),
            slug: expect.stringMatching(/^shop-[12]-/),
            teamId,
            language: 'python',
            framework: 'fastapi',
            createdAt: INSTANT,
            updatedAt: INSTANT,
            archivedAt: null,
            apiKeyHint: apiKey.slice(-4),
            apiKeyLastUsedAt: null,
          });
        },
      },
    );
    expect(await Promise.all(keys.map(works))).toEqual([true, true]);
  });

  it('keeps a key of an older installation, once', async () => {
    const apiKey = 'legacy_key_of_an_older_installation';
    expect((await make({ apiKey })).apiKey).toBe(apiKey);
    expect(await works(apiKey)).toBe(true);
    const again = { name: 'Again', apiKey };
    const both = { rest: { verb: 'POST', path: '/api/projects', body: again }, method: createProject, request: again };
    await askAll(app, both, { status: 409, code: 'project_key_taken' });
    const at = [custom('ORGANIZATION', app.organizationId, ['project:create'])];
    const headers = bearer(await addKey(app, { bindings: at }));
    await askAll(app, both, { headers, status: 403, code: 'administrator_required' });
  });

  it.each([
    ['no name', {}, ['name']],
    ['an empty name', { name: '' }, ['name']],
    ['a short key', { name: 'x', apiKey: 'short' }, ['apiKey']],
    ['a key with a space', { name: 'x', apiKey: `${'x'.repeat(23)} y` }, ['apiKey']],
    ['a key with the shape of an API key', { name: 'x', apiKey: API_KEY_SHAPED }, ['apiKey']],
    ['one with the second prefix', { name: 'x', apiKey: API_KEY_SHAPED.replace('sk-lw-', 'acme-') }, ['apiKey']],
    ['a long language', { name: 'x', language: 'x'.repeat(65) }, ['language']],
    ['U+0000', { name: 'a\0', framework: 'b\0' }, ['framework', 'name']],
  ])('refuses %s', async (_, body, fields) => {
    const check = (answer: Body) => {
      expect(answer.fields.toSorted()).toEqual(fields);
      expect(JSON.stringify(answer)).not.toContain('short');
      expect(JSON.stringify(answer)).not.toContain(API_KEY_SHAPED.slice(-48));
    };
    const both = { rest: { verb: 'POST', path: '/api/projects', body }, method: createProject, request: body };
    await askAll(app, both, { status: 422, code: 'validation_error', check });
  });

  it('refuses a taken name, an unknown team, and who may not', async () => {
    const { name } = await make();
    const create = (body: object) => ({
      rest: { verb: 'POST', path: '/api/projects', body },
      method: createProject,
      request: body,
    });
    await askAll(app, create({ name }), { status: 409, code: 'project_name_taken' });
    await askAll(app, create({ name: 'x', teamId: 'nope' }), { status: 404, code: 'team_not_found' });
    const check = (body: Body) => expect(body.requiredPermission).toBe('project:create');
    await askAll(app, create({}), { headers: narrow, status: 403, code: 'insufficient_permissions', check });
    await expectOnlyApiKeys(app, create({ name: 'x' }));
  });

  it('one idempotency key makes one project, and its key comes again', async () => {
    const headers = { ...bearer(app.adminKey), 'idempotency-key': 'project-once' };
    const rest = { verb: 'POST', path: '/api/projects', body: { name: 'Once' }, headers };
    const first = await callRest(app.address, rest);
    expect((await callRest(app.address, rest)).text).toBe(first.text);
    const rpc = await callRpc(app.address, { method: createProject, headers, request: { name: 'Once' } });
    expect(rpc).toMatchObject({ ok: true, body: { apiKey: first.body.apiKey } });
  });
});

describe('reading projects, over REST and gRPC', () => {
  it('one by id, and those the caller may see in pages', async () => {
    await askAll(app, get(app.projectId), {
      headers: narrow,
      status: 200,
      check: (body) => {
        expect(body).toMatchObject({ id: app.projectId, language: 'other', framework: 'other' });
        expect(body).not.toHaveProperty('apiKey');
      },
    });
    await askAll(
      app,
      { rest: { path: '/api/projects' }, method: listProjects, request: {} },
      {
        headers: narrow,
        status: 200,
        check: (body) => {
          expect(body.data.map(({ id }: Body) => id)).toEqual([app.projectId]);
          expect(body.pagination).toEqual({ page: 1, limit: 50, total: 1 });
        },
      },
    );
    await expectOnlyApiKeys(app, get(app.projectId));
    await expectOnlyApiKeys(app, { rest: { path: '/api/projects' }, method: listProjects, request: {} });
  });

  it('a hidden, an unknown and an archived one get the same 404, before any other check', async () => {
    const hidden = (await make()).id;
    const archived = (await make()).id;
    await act(app, 'DELETE', `/api/projects/${archived}`);
    const texts = new Set<string>();
    for (const [headers, id] of [
      [narrow, hidden],
      [narrow, 'nope'],
      [bearer(app.adminKey), archived],
      [bearer(app.adminKey), 'x'.repeat(201)],
    ] as const) {
      const check = (body: Body) => texts.add(body.message);
      for (const both of [get(id), archive(id), update(id, { name: '' }), rotate(id, { overlapSeconds: -1 })]) {
        await askAll<never>(app, both as never, { headers, status: 404, code: 'project_not_found', check });
      }
    }
    expect([...texts]).toEqual(['Project not found.']);
    const listed = await act(app, 'GET', '/api/projects?limit=1000');
    expect(listed.data.map(({ id }: Body) => id)).not.toContain(archived);
  });
});

describe('changing projects, over REST and gRPC', () => {
  it('only what is sent changes, and nothing at all when nothing is', async () => {
    const project = await make({ language: 'go' });
    nowMs += 1_000;
    const check = (body: Body) => expect(body).toMatchObject({ name: 'Renamed', language: 'go', slug: project.slug });
    await askAll(app, update(project.id, { name: 'Renamed' }), { status: 200, check });
    const { updatedAt } = await act(app, 'GET', `/api/projects/${project.id}`);
    nowMs += 1_000;
    await askAll(app, update(project.id, {}), { status: 200, check: (body) => expect(body.updatedAt).toBe(updatedAt) });
    await act(app, 'PATCH', `/api/projects/${project.id}`, { name: 'Renamed' });
    const { data } = await act(app, 'GET', `/api/audit-log?targetId=${project.id}&action=project.update`);
    expect(data).toMatchObject([{ fields: ['name'], outcome: 'success', status: 200 }]);
  });

  it('refuses what is wrong, taken or not permitted', async () => {
    const { id } = await make();
    const other = await make();
    for (const body of [{ name: '' }, { teamId: '' }, { framework: 'a\0' }]) {
      await askAll(app, update(id, body), { status: 422, code: 'validation_error' });
    }
    const headers = bearer(app.adminKey);
    const nulls = await callRest(app.address, { ...update(id, { name: null, teamId: null }).rest, headers });
    expect(nulls).toMatchObject({ status: 422, body: { fields: ['name', 'teamId'] } });
    await askAll(app, update(id, { name: other.name }), { status: 409, code: 'project_name_taken' });
    await askAll(app, update(id, { teamId: 'nope' }), { status: 404, code: 'team_not_found' });
    const refused = { headers: narrow, status: 403, code: 'insufficient_permissions' };
    await askAll(app, update(app.projectId, { name: '' }), refused);
    await expectOnlyApiKeys(app, update(id, { name: 'x' }));
  });

  it('archiving ends the key and leaves the name free', async () => {
    const [one, two] = [await make(), await make()];
    expect(await works(one.apiKey)).toBe(true);
    const first = await callRest(app.address, { ...archive(one.id).rest, headers: bearer(app.adminKey) });
    expect(first).toMatchObject({ status: 200, body: { id: one.id, name: one.name, archivedAt: INSTANT } });
    const rpc = await callRpc(app.address, { ...archive(two.id), headers: bearer(app.adminKey) });
    expect(rpc).toMatchObject({ ok: true, body: { id: two.id, name: two.name, archivedAt: INSTANT } });
    expect(await Promise.all([works(one.apiKey), works(two.apiKey)])).toEqual([false, false]);
    await make({ name: one.name });
    await askAll(app, archive(app.projectId), { headers: narrow, status: 403, code: 'insufficient_permissions' });
    await expectOnlyApiKeys(app, archive(app.projectId));
  });
});

describe('replacing the key of a project, over REST and gRPC', () => {
  it('the key before ends at once, or after the overlap', async () => {
    const { id, apiKey } = await make();
    const { apiKey: second, overlapEndsAt } = await act(app, 'POST', `/api/projects/${id}/rotate-api-key`);
    expect(overlapEndsAt).toBeNull();
    expect(await Promise.all([works(apiKey), works(second)])).toEqual([false, true]);
    const headers = bearer(app.adminKey);
    const answer = await callRpc(app.address, { ...rotate(id, { overlapSeconds: 60 }), headers });
    if (!answer.ok) throw answer.error;
    expect(answer.body.overlapEndsAt).toBe(new Date(nowMs + 60_000).toISOString());
    expect(await Promise.all([works(second), works(answer.body.apiKey)])).toEqual([true, true]);
    nowMs += 60_000;
    expect(await Promise.all([works(second), works(answer.body.apiKey)])).toEqual([false, true]);
  });

  it("the key before is not another project's until its overlap ends", async () => {
    const { id, apiKey } = await make();
    const other = await make();
    await act(app, 'POST', `/api/projects/${id}/rotate-api-key`, { overlapSeconds: 60 });
    await askAll(app, rotate(other.id, { apiKey }), { status: 409, code: 'project_key_taken' });
    const again = { name: 'With a key in its overlap', apiKey };
    const both = { rest: { verb: 'POST', path: '/api/projects', body: again }, method: createProject, request: again };
    await askAll(app, both, { status: 409, code: 'project_key_taken' });
    expect(await Promise.all([works(apiKey), works(other.apiKey)])).toEqual([true, true]);
    nowMs += 60_000;
    expect((await act(app, 'POST', `/api/projects/${other.id}/rotate-api-key`, { apiKey })).apiKey).toBe(apiKey);
    expect(await works(apiKey)).toBe(true);
  });

  it('refuses bad input, who may not, and who could not do what the key can', async () => {
    const { id } = await make();
    const keys = ['é'.repeat(30), API_KEY_SHAPED, app.adminKey].map((apiKey) => ({ apiKey }));
    for (const body of [{ overlapSeconds: -1 }, { overlapSeconds: 86_401 }, ...keys]) {
      await askAll(app, rotate(id, body), { status: 422, code: 'validation_error' });
    }
    await askAll(app, rotate(app.projectId), { headers: narrow, status: 403, code: 'insufficient_permissions' });
    const at = [custom('PROJECT', id, ['project:manage'])];
    const headers = bearer(await addKey(app, { bindings: at }));
    const check = (body: Body) =>
      expect(body).toMatchObject({ scopeType: 'PROJECT', scopeId: id, missingPermissions: expect.any(Array) });
    await askAll(app, rotate(id), { headers, status: 403, code: 'api_key_scope_violation', check });
    const apiKey = 'brought-along-by-somebody-else';
    await askAll(app, rotate(id, { apiKey }), { headers, status: 403, code: 'administrator_required' });
    await act(app, 'POST', `/api/projects/${id}/rotate-api-key`, { apiKey });
    await askAll(app, rotate(id, { apiKey }), { status: 409, code: 'project_key_taken' });
    await expectOnlyApiKeys(app, rotate(id));
  });
});
