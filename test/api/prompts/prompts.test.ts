import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PromptScope, PromptService } from '../../../gen/spandrel/v1/prompts_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { callRest, expectEverywhere } from '../../support/surfaces.ts';
import { act, createPrompt, freshHandle, inPath, send } from './prompts-client.ts';

const { getPrompt, listPrompts, listPromptVersions, createPrompt: create, updatePrompt } = PromptService.method;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.close();
});

const key = () => ({ 'x-auth-token': app.projectKey });

/** Another project of the organization, by its key. */
async function anotherProject(): Promise<string> {
  const body = { name: freshHandle('project') };
  const headers = { 'x-auth-token': app.adminKey };
  return (await callRest(app.address, { verb: 'POST', path: '/api/projects', body, headers })).body.apiKey;
}

describe('a prompt', () => {
  it('is answered whole, with its defaults, the system prompt first and latest among its tags', async () => {
    const handle = `folder/${freshHandle()}`;
    const made = await createPrompt(app, { handle, messages: [{ role: 'user', content: '{{input}}' }] });
    expect(made).toEqual({
      id: expect.stringMatching(/^prompt_[0-9A-Za-z]{21}$/),
      handle,
      name: handle,
      scope: 'PROJECT',
      updatedAt: expect.any(String),
      createdAt: made.updatedAt,
      projectId: app.projectId,
      organizationId: app.organizationId,
      versionId: expect.stringMatching(/^promptversion_[0-9A-Za-z]{21}$/),
      authorId: null,
      version: 1,
      commitMessage: 'Initial version',
      prompt: 'You greet {{name}}.',
      messages: [
        { role: 'system', content: 'You greet {{name}}.' },
        { role: 'user', content: '{{input}}' },
      ],
      inputs: [{ identifier: 'input', type: 'str' }],
      outputs: [{ identifier: 'output', type: 'str' }],
      model: 'openai/gpt-5',
      tags: [{ name: 'latest', versionId: made.versionId }],
      parameters: {},
      platformUrl: expect.stringContaining(`/prompts/${made.id}`),
    });
    for (const id of [made.id, handle, `${handle}:latest`, `${handle}:1`]) {
      await expectEverywhere(app.address, {
        name: id,
        headers: key(),
        rest: { path: `/api/prompts${inPath(id)}` },
        rpc: { method: getPrompt, request: { id } },
        status: 200,
        check: (found) => expect(found).toEqual(made),
      });
    }
    const plain = await fetch(`${app.address}/api/prompts/${handle}`, { headers: key() });
    expect(await plain.json()).toEqual(made);
  });

  it('keeps all that is sent, and derives the response format from a JSON schema', async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    const sent = {
      model: 'anthropic/claude',
      temperature: 0.25,
      maxTokens: 512,
      commitMessage: 'Begin',
      authorId: 'somebody',
      schemaVersion: '1.0',
      inputs: [{ identifier: 'rows', type: 'list[str]' }],
      outputs: [{ identifier: 'answer', type: 'json_schema', json_schema: schema }],
      parameters: { z: 1.5, a: { nested: [true, null] } },
    };
    const { schemaVersion: _, ...kept } = sent;
    const made = await createPrompt(app, sent);
    expect(made).toMatchObject({
      ...kept,
      responseFormat: { type: 'json_schema', json_schema: { name: 'answer', schema } },
    });
    const parameters = '{"big":9007199254740993,"a":1.50}';
    const body = `{"commitMessage":"Numbers","parameters":${parameters}}`;
    const path = `/api/prompts/${made.id}`;
    const { text } = await callRest(app.address, { verb: 'PUT', path, body, headers: key() });
    expect(text).toContain(`"parameters":${parameters}`);
  });

  it('takes a system message for its system prompt, but not both', async () => {
    const messages = [
      { role: 'user', content: 'Hello' },
      { role: 'system', content: 'You are brief.' },
    ];
    const made = await createPrompt(app, { prompt: undefined, messages });
    expect(made.prompt).toBe('You are brief.');
    expect(made.messages.map(({ role }: { role: string }) => role)).toEqual(['system', 'user']);
    const both = await send(app, 'POST', '', { body: { handle: freshHandle(), prompt: 'You are long.', messages } });
    expect([both.status, both.body.code]).toEqual([409, 'system_prompt_conflict']);
    const none = await send(app, 'POST', '', { body: { handle: freshHandle() } });
    expect([none.status, none.body.code]).toEqual([422, 'system_prompt_required']);
  });

  it.each([
    [{ handle: 'Upper' }, 'handle'],
    [{ handle: 'a/b/c' }, 'handle'],
    [{ handle: 'tags' }, 'handle'],
    [{ handle: 'folder/try' }, 'handle'],
    [{ handle: 'x'.repeat(129) }, 'handle'],
    [{ handle: undefined }, 'handle'],
    [{ prompt: 'x'.repeat(16_385) }, 'prompt'],
    [{ temperature: 'hot' }, 'temperature'],
    [{ maxTokens: 0 }, 'maxTokens'],
    [{ inputs: [{ identifier: 'a', type: 'text' }] }, 'inputs.0.type'],
    [{ outputs: [] }, 'outputs'],
    [{ outputs: [{ identifier: 'a', type: 'json_schema', json_schema: [] }] }, 'outputs.0.json_schema'],
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages.0.role'],
    [{ messages: [{ role: 'user' }] }, 'messages.0.content'],
    [{ parameters: [] }, 'parameters'],
    [{ parameters: { a: 'x'.repeat(131_072) } }, '(root)'],
    [{ schemaVersion: '2.0' }, 'schemaVersion'],
    [{ topP: 1 }, 'topP'],
  ])('is refused with the path of what is wrong: %o', async (body, field) => {
    const sent = { handle: freshHandle(), prompt: 'You greet.', ...body };
    const refused = await send(app, 'POST', '', { body: sent });
    expect([refused.status, refused.body.code, refused.body.fields]).toEqual([422, 'validation_error', [field]]);
  });

  it('has a handle of its own in its scope', async () => {
    const { handle } = await createPrompt(app);
    await expectEverywhere(app.address, {
      name: 'taken',
      headers: key(),
      rest: { verb: 'POST', path: '/api/prompts', body: { handle, prompt: 'Another' } },
      rpc: { method: create, request: { handle, draft: { prompt: 'Another' } } },
      status: 409,
      code: 'prompt_handle_taken',
    });
    const shared = await createPrompt(app, { handle, scope: 'ORGANIZATION' });
    expect((await act(app, 'GET', inPath(handle))).id).not.toBe(shared.id);
    const other = await createPrompt(app);
    const renamed = await send(app, 'PUT', inPath(other.handle), { body: { handle, commitMessage: 'Rename' } });
    expect([renamed.status, renamed.body.code]).toEqual([409, 'prompt_handle_taken']);
  });
});

describe('versions', () => {
  it('never change: an update makes a new one of what is sent and what was there', async () => {
    const made = await createPrompt(app, { temperature: 0.5, messages: [{ role: 'user', content: '{{input}}' }] });
    const body = { model: 'openai/gpt-5-mini', commitMessage: 'Smaller' };
    const changed = await act(app, 'PUT', inPath(made.handle), { body });
    expect(changed).toMatchObject({
      ...body,
      version: 2,
      prompt: made.prompt,
      messages: made.messages,
      temperature: 0.5,
    });
    expect(changed.tags).toEqual([{ name: 'latest', versionId: changed.versionId }]);
    const emptied = await act(app, 'PUT', inPath(made.id), { body: { messages: [], commitMessage: 'No messages' } });
    expect(emptied.messages).toEqual([{ role: 'system', content: made.prompt }]);
    await expectEverywhere(app.address, {
      name: 'versions',
      headers: key(),
      rest: { path: `/api/prompts${inPath(made.handle)}/versions` },
      rpc: { method: listPromptVersions, request: { id: made.handle } },
      status: 200,
      check: (versions) => {
        expect(versions.map(({ version }: { version: number }) => version)).toEqual([3, 2, 1]);
        expect(versions[2]).toMatchObject({ versionId: made.versionId, model: 'openai/gpt-5', tags: [] });
      },
    });
    const { updatedAt, ...first } = await act(app, 'GET', `${inPath(made.handle)}?version=1`);
    expect(first).toEqual({ ...made, updatedAt: undefined, tags: [] });
    expect(updatedAt).toBe(emptied.updatedAt);
  });

  it('need a message that says what changes, over every protocol', async () => {
    const { handle } = await createPrompt(app);
    await expectEverywhere(app.address, {
      name: 'no message',
      headers: key(),
      rest: { verb: 'PUT', path: `/api/prompts${inPath(handle)}`, body: { prompt: 'Another' } },
      rpc: { method: updatePrompt, request: { id: handle, draft: { prompt: 'Another' } } },
      status: 422,
      code: 'validation_error',
      check: ({ fields }) => expect(fields).toEqual(['commitMessage']),
    });
  });

  it('are restored as new ones', async () => {
    const made = await createPrompt(app, { parameters: { a: 1 } });
    const body = { prompt: 'Other', parameters: {}, commitMessage: 'Other' };
    await act(app, 'PUT', inPath(made.handle), { body });
    const restored = await act(app, 'POST', `${inPath(made.handle)}/versions/${made.versionId}/restore`);
    expect(restored).toMatchObject({ version: 3, prompt: made.prompt, parameters: { a: 1 } });
    expect(restored.commitMessage).toBe('Restore from version 1');
    const foreign = await createPrompt(app);
    const refused = await send(app, 'POST', `${inPath(made.handle)}/versions/${foreign.versionId}/restore`);
    expect([refused.status, refused.body.code]).toEqual([404, 'prompt_version_not_found']);
  });

  it('that are made at the same time all have numbers of their own', async () => {
    const { handle } = await createPrompt(app);
    const bodies = Array.from({ length: 8 }, (_, index) => ({ prompt: `Text ${index}`, commitMessage: `${index}` }));
    const made = await Promise.all(bodies.map((body) => act(app, 'PUT', inPath(handle), { body })));
    expect(made.map(({ version }) => version).sort()).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it.each([
    ['?version=1&tag=production', 422, 'validation_error'],
    [':production?version=1', 422, 'validation_error'],
    [':latest?tag=production', 422, 'validation_error'],
    ['?version=0', 422, 'validation_error'],
    [':9', 404, 'prompt_version_not_found'],
    ['?version=9', 404, 'prompt_version_not_found'],
    [':nothing', 404, 'prompt_tag_not_found'],
  ])('that are named %s are refused with %i %s', async (suffix, status, code) => {
    const { handle } = await createPrompt(app);
    const refused = await send(app, 'GET', `/${handle}${suffix}`);
    expect([refused.status, refused.body.code]).toEqual([status, code]);
  });
});

describe('a prompt that the organization shares', () => {
  it('is read by its other projects, which cannot change it', async () => {
    const made = await createPrompt(app, { scope: 'ORGANIZATION' });
    const hidden = await createPrompt(app);
    const another = await anotherProject();
    expect((await act(app, 'GET', inPath(made.handle), { key: another })).id).toBe(made.id);
    expect((await act(app, 'GET', '', { key: another })).map(({ id }: { id: string }) => id)).toContain(made.id);
    for (const id of [hidden.handle, hidden.id]) {
      expect((await send(app, 'GET', inPath(id), { key: another })).body.code).toBe('prompt_not_found');
    }
    const body = { prompt: 'Mine', commitMessage: 'Mine' };
    const refused = await send(app, 'PUT', inPath(made.handle), { key: another, body });
    expect([refused.status, refused.body.code]).toEqual([403, 'prompt_not_owned']);
    for (const [verb, path] of [
      ['DELETE', inPath(made.handle)],
      ['POST', `${inPath(made.id)}/versions/${made.versionId}/restore`],
    ] as const) {
      expect((await send(app, verb, path, { key: another })).body.code).toBe('prompt_not_owned');
    }
    const own = await act(app, 'POST', '', { key: another, body: { handle: made.handle, prompt: 'Own' } });
    expect((await act(app, 'GET', inPath(made.handle), { key: another })).id).toBe(own.id);
  });

  it('is shared and hidden again by an update', async () => {
    const made = await createPrompt(app);
    const another = await anotherProject();
    const share = (scope: string) => act(app, 'PUT', inPath(made.id), { body: { scope, commitMessage: scope } });
    expect((await share('ORGANIZATION')).scope).toBe('ORGANIZATION');
    expect((await send(app, 'GET', inPath(made.handle), { key: another })).status).toBe(200);
    await share('PROJECT');
    expect((await send(app, 'GET', inPath(made.handle), { key: another })).status).toBe(404);
  });
});

describe('the list of prompts', () => {
  it('has the one that changed last first, in pages only where a limit is sent', async () => {
    const made = [await createPrompt(app), await createPrompt(app), await createPrompt(app)];
    await act(app, 'PUT', inPath(made[0].handle), { body: { commitMessage: 'Again' } });
    const all = await act(app, 'GET', '');
    const newest = [made[0].id, made[2].id, made[1].id];
    expect(all.slice(0, 3).map(({ id }: { id: string }) => id)).toEqual(newest);
    const first = await send(app, 'GET', '?limit=2');
    const cursor = first.headers.get('x-next-cursor') ?? '';
    expect(first.body).toEqual(all.slice(0, 2));
    const second = await send(app, 'GET', `?limit=200&cursor=${cursor}`);
    expect(second.body).toEqual(all.slice(2));
    expect(second.headers.get('x-next-cursor')).toBeNull();
    expect((await send(app, 'GET', '?limit=2&cursor=none')).body.code).toBe('invalid_cursor');
    await expectEverywhere(app.address, {
      name: 'list',
      headers: key(),
      rest: { path: '/api/prompts?limit=2' },
      rpc: { method: listPrompts, request: { pageSize: 2 } },
      status: 200,
      check: (prompts) => expect(prompts).toEqual(all.slice(0, 2)),
    });
  });

  it.each([0, 201])('has no page of %i prompts', async (pageSize) => {
    await expectEverywhere(app.address, {
      name: `a page of ${pageSize}`,
      headers: key(),
      rest: { path: `/api/prompts?limit=${pageSize}` },
      rpc: { method: listPrompts, request: { pageSize } },
      status: 422,
      code: 'validation_error',
    });
  });
});

describe('a deleted prompt', () => {
  it('is gone with its versions, frees its handle, and is in the audit log', async () => {
    const made = await createPrompt(app, { tags: ['staging'] });
    expect(await act(app, 'DELETE', inPath(made.handle))).toEqual({ success: true });
    expect((await send(app, 'GET', inPath(made.id))).status).toBe(404);
    expect((await send(app, 'DELETE', inPath(made.id))).status).toBe(404);
    const again = await createPrompt(app, { handle: made.handle });
    expect(again).toMatchObject({ version: 1, tags: [{ name: 'latest' }] });
    const path = `/api/audit-log?targetId=${made.id}`;
    const { body } = await callRest(app.address, { path, headers: { 'x-auth-token': app.adminKey } });
    const actions = body.data.map(({ action }: { action: string }) => action);
    expect(actions).toEqual(['prompt.delete', 'prompt.create']);
  });

  it('cannot be reached over gRPC either', async () => {
    const made = await createPrompt(app);
    await act(app, 'DELETE', inPath(made.id));
    await expectEverywhere(app.address, {
      name: 'gone',
      headers: key(),
      rest: { verb: 'PUT', path: `/api/prompts/${made.id}`, body: { scope: 'PROJECT', commitMessage: 'Back' } },
      rpc: {
        method: updatePrompt,
        request: { id: made.id, scope: PromptScope.PROJECT, draft: { commitMessage: 'Back' } },
      },
      status: 404,
      code: 'prompt_not_found',
    });
  });
});
