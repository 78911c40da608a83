import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PromptOutputType, PromptService } from '../../../gen/spandrel/v1/prompts_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { type Body, callRest, callRpc } from '../../support/surfaces.ts';
import { act, createPrompt, FILE, freshHandle, inPath, send } from './prompts-client.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.close();
});

const SYSTEMS = [
  { role: 'system', content: 'One' },
  { role: 'system', content: 'Two' },
];

const sync = (handle: string, configData: object, more: object = {}): Promise<Body> =>
  act(app, 'POST', `${inPath(handle)}/sync`, { body: { configData, ...more } });

describe('a sync', () => {
  it('creates what is not there, and then has nothing to do', async () => {
    const handle = `agents/${freshHandle()}`;
    const created = await sync(handle, FILE);
    expect(created).toMatchObject({
      action: 'created',
      prompt: { handle, scope: 'PROJECT', version: 1, commitMessage: 'Synced from local file' },
    });
    expect(created.prompt.inputs).toEqual([
      { identifier: 'input', type: 'str' },
      { identifier: 'name', type: 'str' },
    ]);
    const again = await sync(handle, FILE, { localVersion: 1 });
    expect(again).toMatchObject({ action: 'up_to_date', prompt: { version: 1 } });
    expect(again).not.toHaveProperty('conflictInfo');
  });

  it('makes a new version of a file that changed since the newest one', async () => {
    const handle = freshHandle();
    await sync(handle, FILE);
    const changed = { ...FILE, model: 'openai/gpt-5-mini', temperature: 0.2 };
    const updated = await sync(handle, changed, { localVersion: 1 });
    expect(updated).toMatchObject({
      action: 'updated',
      prompt: { version: 2, model: 'openai/gpt-5-mini', temperature: 0.2 },
    });
    expect(updated.prompt.commitMessage).toBe(
      'Updated from local file (model: openai/gpt-5-mini → openai/gpt-5; temperature: 0.2 → unset)',
    );
    const named = await sync(handle, FILE, { localVersion: 2, commitMessage: 'Back' });
    expect(named.prompt).toMatchObject({ version: 3, commitMessage: 'Back' });
  });

  it('leaves a prompt alone that changed while the file did not, however often the file is sent', async () => {
    const handle = freshHandle();
    await sync(handle, FILE);
    await act(app, 'PUT', inPath(handle), { body: { prompt: 'Changed there', commitMessage: 'There' } });
    const behind = await sync(handle, FILE, { localVersion: 1 });
    expect(behind).toMatchObject({ action: 'up_to_date', prompt: { version: 1 } });
    // As the command line of LangWatch does, which remembers the version of the answer.
    const again = await sync(handle, FILE, { localVersion: behind.prompt.version });
    expect(again).toMatchObject({ action: 'up_to_date', prompt: { version: 1 } });
    expect(await act(app, 'GET', inPath(handle))).toMatchObject({ version: 2, prompt: 'Changed there' });
  });

  it.each([
    ['is older, and both changed', 1, 1],
    ['is not known', undefined, 0],
    ['is newer than the newest one', 7, 7],
  ])('finds a conflict where the version of the file %s', async (_, localVersion, shown) => {
    const handle = freshHandle();
    await sync(handle, FILE, { parameters: { tone: 'calm' } });
    const body = { prompt: 'There', maxTokens: 10, parameters: { tone: 'warm' }, commitMessage: 'There' };
    await act(app, 'PUT', inPath(handle), { body });
    const file = { ...FILE, prompt: 'Here', top_p: 0.5 };
    const found = await sync(handle, file, { ...(localVersion !== undefined && { localVersion }), parameters: {} });
    expect(found).toEqual({
      action: 'conflict',
      conflictInfo: {
        localVersion: shown,
        remoteVersion: 2,
        differences: [
          'prompt content differs',
          'inputs differ',
          'max_tokens: unset → 10',
          'top_p: 0.5 → unset',
          'tone: unset → "warm"',
        ],
        remoteConfigData: {
          ...FILE,
          prompt: 'There',
          max_tokens: 10,
          inputs: [...FILE.inputs, { identifier: 'name', type: 'str' }],
        },
        remoteParameters: { tone: 'warm' },
      },
    });
    expect((await act(app, 'GET', inPath(handle))).version).toBe(2);
  });

  it('compares parameters only where the file has them, in any order of their members', async () => {
    const handle = freshHandle();
    await sync(handle, FILE, { parameters: { a: 1, b: { c: 2, d: 3 } } });
    expect((await sync(handle, FILE, { localVersion: 1 })).action).toBe('up_to_date');
    const parameters = { b: { d: 3, c: 2 }, a: 1 };
    expect((await sync(handle, FILE, { localVersion: 1, parameters })).action).toBe('up_to_date');
    const updated = await sync(handle, FILE, { localVersion: 1, parameters: { a: 2 } });
    expect(updated).toMatchObject({ action: 'updated', prompt: { parameters: { a: 2 } } });
    const other = await sync(handle, { ...FILE, temperature: 1 }, { localVersion: 2 });
    expect(other).toMatchObject({ action: 'updated', prompt: { parameters: { a: 2 } } });
  });

  it('keeps the response format of a file, and returns it until the outputs change', async () => {
    const handle = freshHandle();
    const format = { type: 'json_object' };
    await sync(handle, { ...FILE, response_format: format });
    expect((await act(app, 'GET', inPath(handle))).responseFormat).toEqual(format);
    expect((await sync(handle, { ...FILE, response_format: format }, { localVersion: 1 })).action).toBe('up_to_date');
    const conflict = await sync(handle, FILE);
    expect(conflict).toMatchObject({
      action: 'conflict',
      conflictInfo: { differences: ['response_format differs'], remoteConfigData: { response_format: format } },
    });
    expect(await sync(handle, FILE, { localVersion: 1 })).toMatchObject({ action: 'updated' });
    expect((await act(app, 'GET', inPath(handle))).responseFormat).toBeUndefined();
  });

  it('sees no difference in a prompt that was made over the API with the same content', async () => {
    const { model: _, ...content } = FILE;
    const { handle } = await createPrompt(app, content);
    expect((await sync(handle, { ...FILE, response_format: {} }, { localVersion: 1 })).action).toBe('up_to_date');
    const lifted = [{ role: 'system', content: FILE.prompt }, ...FILE.messages];
    const inMessages = { ...FILE, prompt: '', messages: lifted };
    expect((await sync(handle, inMessages, { localVersion: 1 })).action).toBe('up_to_date');
  });

  it('keeps every setting of a file', async () => {
    const settings = {
      ...{ temperature: 0.1, max_tokens: 9, top_p: 0.2, frequency_penalty: 0.3, presence_penalty: 0.4, seed: 5 },
      ...{ top_k: 6, min_p: 0.7, repetition_penalty: 0.8, reasoning: 'high', verbosity: 'low' },
      ...{ demonstrations: { inline: { records: {} } }, prompting_technique: { type: 'few_shot' } },
    };
    const handle = freshHandle();
    const { prompt } = await sync(handle, { ...FILE, ...settings });
    expect(prompt).toMatchObject({
      ...{ temperature: 0.1, maxTokens: 9, demonstrations: settings.demonstrations },
      promptingTechnique: settings.prompting_technique,
    });
    expect((await sync(handle, { ...FILE, ...settings }, { localVersion: 1 })).action).toBe('up_to_date');
    const { conflictInfo } = await sync(handle, FILE);
    expect(conflictInfo.remoteConfigData).toMatchObject(settings);
  });

  it('of two at the same time creates one prompt, without a loss', async () => {
    const handle = freshHandle();
    const both = await Promise.all([sync(handle, FILE), sync(handle, { ...FILE, prompt: 'Other' })]);
    expect(both.map(({ action }) => action).sort()).toEqual(['conflict', 'created']);
    expect(await act(app, 'GET', `${inPath(handle)}/versions`)).toHaveLength(1);
  });

  it.each([
    [{ ...FILE, outputs: [] }, 'configData.outputs'],
    [{ ...FILE, model: undefined }, 'configData.model'],
    [{ ...FILE, prompt: undefined }, 'configData.prompt'],
    [{ ...FILE, max_tokens: 0 }, 'configData.max_tokens'],
    [{ ...FILE, maxTokens: 5 }, 'configData.maxTokens'],
    [{ ...FILE, messages: [...FILE.messages, ...SYSTEMS] }, 'configData.messages'],
  ])('is refused with the path of what is wrong: %o', async (configData, field) => {
    const refused = await send(app, 'POST', `${inPath(freshHandle())}/sync`, { body: { configData } });
    expect([refused.status, refused.body.fields]).toEqual([422, [field]]);
  });

  it('is refused over RPC with a seed that a number of JSON cannot hold', async () => {
    const configData = { model: 'm', prompt: 'p', outputs: [{ identifier: 'o', type: PromptOutputType.STR }] };
    const request = { id: freshHandle(), configData: { ...configData, seed: 9_007_199_254_740_993n } };
    const headers = { 'x-auth-token': app.projectKey };
    const refused = await callRpc(app.address, { method: PromptService.method.syncPrompt, request, headers });
    expect(refused).toMatchObject({ ok: false, error: { code: 3, details: expect.stringContaining('seed') } });
  });

  it('needs a handle where there is no such prompt', async () => {
    const refused = await send(app, 'POST', '/Not%20a%20handle/sync', { body: { configData: FILE } });
    expect([refused.status, refused.body.target, refused.body.fields]).toEqual([422, 'param', ['id']]);
  });

  it('creates only with prompts:create', async () => {
    const binding = { role: 'CUSTOM', scopeType: 'PROJECT', scopeId: app.projectId };
    const permissions = ['prompts:update'];
    const body = { name: 'sync', keyType: 'service', permissionMode: 'restricted', permissions, bindings: [binding] };
    const headers = { 'x-auth-token': app.adminKey };
    const { token } = (await callRest(app.address, { verb: 'POST', path: '/api/api-keys', body, headers })).body;
    const { handle } = await createPrompt(app);
    const asked = { body: { configData: FILE }, key: token };
    expect((await send(app, 'POST', `${inPath(handle)}/sync`, asked)).body.action).toBe('conflict');
    const refused = await send(app, 'POST', `${inPath(freshHandle())}/sync`, asked);
    expect([refused.status, refused.body.permission]).toEqual([403, 'prompts:create']);
  });

  it('over gRPC does the same', async () => {
    const handle = freshHandle();
    await sync(handle, FILE);
    const outputs = [{ identifier: 'output', type: PromptOutputType.STR }];
    const configData = { prompt: 'Over gRPC', model: 'openai/gpt-5', outputs };
    const headers = { 'x-auth-token': app.projectKey };
    const request = { id: handle, configData, localVersion: 1 };
    const answer = await callRpc(app.address, { method: PromptService.method.syncPrompt, request, headers });
    expect(answer).toMatchObject({ ok: true, body: { action: 'updated', prompt: { version: 2 } } });
  });
});
