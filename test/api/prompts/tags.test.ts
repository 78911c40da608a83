import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PromptService } from '../../../gen/spandrel/v1/prompts_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { type Body, callRest, expectEverywhere } from '../../support/surfaces.ts';
import { act, createPrompt, freshHandle, inPath, send } from './prompts-client.ts';

const { listPromptTags, assignPromptTag, deletePromptTag } = PromptService.method;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.close();
});

const key = () => ({ 'x-auth-token': app.projectKey });
const namesOf = (tags: readonly Body[]) => tags.map(({ name }) => name);

/** A prompt with two versions. */
async function twoVersions(): Promise<readonly [Body, Body]> {
  const first = await createPrompt(app);
  const body = { prompt: 'Another', commitMessage: 'Another' };
  return [first, await act(app, 'PUT', inPath(first.handle), { body })];
}

const assign = (prompt: Body, tag: string, token?: string) =>
  send(app, 'PUT', `${inPath(prompt.handle)}/tags/${tag}`, {
    body: { versionId: prompt.versionId },
    ...(token !== undefined && { key: token }),
  });

describe('the tags of an organization', () => {
  it('begin with production and staging, also when the list is read first', async () => {
    await expectEverywhere(app.address, {
      name: 'list',
      headers: key(),
      rest: { path: '/api/prompts/tags' },
      rpc: { method: listPromptTags, request: {} },
      status: 200,
      check: (tags) =>
        expect(tags).toEqual([
          {
            id: expect.stringMatching(/^prompttag_/),
            name: 'production',
            protected: true,
            createdAt: expect.any(String),
          },
          {
            id: expect.stringMatching(/^prompttag_/),
            name: 'staging',
            protected: false,
            createdAt: expect.any(String),
          },
        ]),
    });
  });

  it('begin so also when a prompt is made first, and do not come back once they are deleted', async () => {
    const other = await startApp();
    try {
      await createPrompt(other);
      expect(namesOf(await act(other, 'GET', '/tags'))).toEqual(['production', 'staging']);
      for (const name of ['production', 'staging']) {
        const deleted = await send(other, 'DELETE', `/tags/${name}`);
        expect([deleted.status, deleted.text]).toEqual([204, '']);
      }
      await createPrompt(other);
      expect(await act(other, 'GET', '/tags')).toEqual([]);
    } finally {
      await other.close();
    }
  });

  it('are created, renamed with what they name, and deleted', async () => {
    const name = freshHandle('tag');
    const made = await send(app, 'POST', '/tags', { body: { name } });
    expect([made.status, made.body]).toEqual([
      201,
      { id: expect.stringMatching(/^prompttag_/), name, protected: false, createdAt: expect.any(String) },
    ]);
    const [first] = await twoVersions();
    await assign(first, name);
    const renamed = await act(app, 'PUT', `/tags/${name}`, { body: { name: `${name}-b` } });
    expect(renamed).toEqual({ ...made.body, name: `${name}-b` });
    expect((await act(app, 'GET', inPath(`${first.handle}:${name}-b`))).version).toBe(1);
    await expectEverywhere(app.address, {
      name: 'unknown',
      headers: key(),
      rest: { verb: 'DELETE', path: `/api/prompts/tags/${name}` },
      rpc: { method: deletePromptTag, request: { tag: name } },
      status: 404,
      code: 'prompt_tag_not_found',
    });
    expect((await send(app, 'DELETE', `/tags/${name}-b`)).status).toBe(204);
    expect((await send(app, 'GET', inPath(`${first.handle}:${name}-b`))).body.code).toBe('prompt_tag_not_found');
    const path = `/api/audit-log?targetId=${made.body.id}`;
    const { body } = await callRest(app.address, { path, headers: { 'x-auth-token': app.adminKey } });
    const actions = body.data.map(({ action }: Body) => action);
    expect(actions).toEqual(['promptTag.delete', 'promptTag.update', 'promptTag.create']);
  });

  it.each([
    [{ name: 'latest' }, 422, 'validation_error'],
    [{ name: 'Upper' }, 422, 'validation_error'],
    [{ name: '1st' }, 422, 'validation_error'],
    [{}, 422, 'validation_error'],
    [{ name: 'staging' }, 409, 'prompt_tag_taken'],
  ])('are refused: %o', async (body, status, code) => {
    const created = await send(app, 'POST', '/tags', { body });
    expect([created.status, created.body.code]).toEqual([status, code]);
    const renamed = await send(app, 'PUT', '/tags/production', { body });
    expect([renamed.status, renamed.body.code]).toEqual([status, code]);
  });
});

describe('a tag', () => {
  it('names one version of each prompt', async () => {
    const [first, second] = await twoVersions();
    const assigned = await assign(first, 'staging');
    expect(assigned.body).toEqual({
      ...{ configId: first.id, versionId: first.versionId, tag: 'staging', updatedAt: expect.any(String) },
    });
    const tagged = await act(app, 'GET', inPath(`${first.handle}:staging`));
    expect(tagged).toMatchObject({ version: 1, tags: [{ name: 'staging', versionId: first.versionId }] });
    await assign(second, 'staging');
    const moved = await act(app, 'GET', `${inPath(first.handle)}?tag=staging`);
    expect(moved).toMatchObject({ version: 2, tags: [{ name: 'latest' }, { name: 'staging' }] });
    expect((await act(app, 'GET', inPath(`${first.handle}:1`))).tags).toEqual([]);
  });

  it('comes with a new version', async () => {
    const made = await createPrompt(app, { tags: ['staging', 'production'] });
    expect(namesOf(made.tags)).toEqual(['latest', 'production', 'staging']);
    const body = { commitMessage: 'Again', tags: ['staging'] };
    const changed = await act(app, 'PUT', inPath(made.handle), { body });
    expect(namesOf(changed.tags)).toEqual(['latest', 'staging']);
    expect((await act(app, 'GET', inPath(`${made.handle}:production`))).version).toBe(1);
    const unknown = await send(app, 'PUT', inPath(made.handle), { body: { ...body, tags: ['none'] } });
    expect([unknown.status, unknown.body.code]).toEqual([404, 'prompt_tag_not_found']);
    expect((await act(app, 'GET', inPath(made.handle))).version).toBe(2);
  });

  it('names no version of another prompt, and none that is unknown', async () => {
    const [first] = await twoVersions();
    const [foreign] = await twoVersions();
    await expectEverywhere(app.address, {
      name: 'foreign',
      headers: key(),
      rest: {
        verb: 'PUT',
        path: `/api/prompts${inPath(first.handle)}/tags/staging`,
        body: { versionId: foreign.versionId },
      },
      rpc: { method: assignPromptTag, request: { id: first.handle, tag: 'staging', versionId: foreign.versionId } },
      status: 404,
      code: 'prompt_version_not_found',
    });
    expect((await assign(first, 'none')).body.code).toBe('prompt_tag_not_found');
    expect((await assign(first, 'latest')).body.code).toBe('prompt_tag_not_found');
  });

  it('that is protected is assigned only with prompts:manage', async () => {
    const permissions = ['prompts:view', 'prompts:create', 'prompts:update'];
    const binding = { role: 'CUSTOM', scopeType: 'PROJECT', scopeId: app.projectId };
    const body = { name: 'ci', keyType: 'service', permissionMode: 'restricted', permissions, bindings: [binding] };
    const made = await callRest(app.address, {
      ...{ verb: 'POST', path: '/api/api-keys', body, headers: { 'x-auth-token': app.adminKey } },
    });
    const token = made.body.token;
    const [first] = await twoVersions();
    expect((await assign(first, 'staging', token)).status).toBe(200);
    const refused = await assign(first, 'production', token);
    expect([refused.status, refused.body.code, refused.body.permission]).toEqual([
      ...[403, 'api_key_permission_denied', 'prompts:manage'],
    ]);
    const draft = { handle: freshHandle(), prompt: 'Mine', tags: ['production'] };
    expect((await send(app, 'POST', '', { body: draft, key: token })).status).toBe(403);
    await act(app, 'PUT', '/tags/production', { body: { name: 'production', protected: false } });
    expect((await assign(first, 'production', token)).status).toBe(200);
    await act(app, 'PUT', '/tags/production', { body: { name: 'production', protected: true } });
    expect((await assign(first, 'production', token)).status).toBe(403);
    expect((await assign(first, 'production')).status).toBe(200);
  });
});
