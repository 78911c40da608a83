import { Code, createClient as createConnectClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EvaluatorService } from '../../../gen/spandrel/v1/evaluators_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { addKey, custom } from '../../support/fixtures.ts';
import { isFullTier } from '../../support/scenario.ts';
import { type Body, callRest, callRpc, expectEverywhere, type SurfaceCase } from '../../support/surfaces.ts';
import { createClient, deleteEvaluator, listEvaluators, updateEvaluator } from './evaluators-client.ts';

let app: TestApp;
let elsewhere: { readonly key: string; readonly evaluator: Body };
const client = createClient(() => app);
const { create, rest, key, pathOf } = client;
const ask = (each: SurfaceCase) => expectEverywhere(app.address, each);

/** More than is read, or sent, at once. */
const LARGE = isFullTier ? 80 : 24;
const EXACT = { evaluatorType: 'langevals/exact_match' };
const openList = (request: { readonly pageSize?: number; readonly pageToken?: string }) =>
  createConnectClient(
    EvaluatorService,
    createConnectTransport({ baseUrl: app.address, httpVersion: '1.1' }),
  ).listEvaluators(request, { headers: key() });
const idsOf = (body: Body): string[] => body.map(({ id }: Body) => id);

beforeAll(async () => {
  app = await startApp();
  const made = await callRest(app.address, {
    verb: 'POST',
    path: '/api/projects',
    body: { name: 'Elsewhere' },
    headers: { authorization: `Bearer ${app.adminKey}` },
  });
  const headers = { 'x-auth-token': made.body.apiKey };
  elsewhere = { key: made.body.apiKey, evaluator: await create('Not mine', EXACT, headers) };
});
afterAll(async () => {
  await app.close();
});

describe('listing evaluators', () => {
  it('gives the bare array of whole evaluators, the one changed last first, on both paths', async () => {
    const [first, second, third] = [await create('A', EXACT), await create('B', EXACT), await create('C', EXACT)];
    const { body: changed } = await rest('PATCH', pathOf(first.id), { name: 'A again' });
    await ask(
      client.list({
        status: 200,
        check(body) {
          expect(idsOf(body).filter((id) => [first.id, second.id, third.id].includes(id))[0]).toBe(first.id);
          const listed = body.map(({ updatedAt, id }: Body) => [updatedAt, id]);
          const ordered = listed.toSorted(([a, i]: string[], [b, j]: string[]) =>
            a === b ? ((i ?? '') < (j ?? '') ? -1 : 1) : (a ?? '') < (b ?? '') ? 1 : -1,
          );
          expect(listed).toEqual(ordered);
          expect(body.find(({ id }: Body) => id === first.id)).toEqual(changed);
          expect(body.find(({ id }: Body) => id === second.id)).toEqual(second);
        },
      }),
    );
    const [one, other] = [await rest('GET', '/api/evaluators'), await rest('GET', '/api/v1/evaluators')];
    expect(other.text).toBe(one.text);
    expect(one.text.startsWith('[{')).toBe(true);
  });

  it('is complete for every requested page: there are no cursors', async () => {
    const whole = await rest('GET', '/api/evaluators');
    for (const query of ['limit=1', 'limit=-1', 'cursor=x', 'limit=1&limit=2', 'page=9']) {
      const answer = await rest('GET', `/api/evaluators?${query}`);
      expect([answer.status, answer.text], query).toEqual([200, whole.text]);
    }
  });

  it('has pages over RPC, which together are the whole list', async () => {
    const whole = await rest('GET', '/api/evaluators');
    const ids: string[] = [];
    for (let pageToken = '', isFirst = true; isFirst || pageToken !== ''; isFirst = false) {
      const answer = await openList({ pageSize: 2, pageToken });
      expect(answer.evaluators.length).toBeLessThanOrEqual(2);
      ids.push(...answer.evaluators.map(({ id }) => id));
      pageToken = answer.nextPageToken;
    }
    expect(ids).toEqual(idsOf(whole.body));
    await expect(openList({ pageToken: 'x' })).rejects.toMatchObject({ code: Code.InvalidArgument });
    await expect(openList({ pageSize: 1_001 })).rejects.toMatchObject({ code: Code.InvalidArgument });
  });

  it(`is whole, however large: ${LARGE} evaluators of a megabyte`, async () => {
    const { body } = await callRest(app.address, {
      verb: 'POST',
      path: '/api/projects',
      body: { name: 'Large' },
      headers: { authorization: `Bearer ${app.adminKey}` },
    });
    const headers = { 'x-auth-token': body.apiKey };
    const own = 'x'.repeat(1_000_000);
    for (let count = 0; count < LARGE; count += 1)
      await create(`Large ${count}`, { ...EXACT, settings: { own } }, headers);
    const { status, text } = await callRest(app.address, { path: '/api/evaluators', headers });
    expect(status).toBe(200);
    const found: Body[] = JSON.parse(text);
    expect(found.map(({ name }) => name).toSorted()).toEqual(
      Array.from({ length: LARGE }, (_, count) => `Large ${count}`).toSorted(),
    );
    expect(found.every(({ config }) => config.settings.own === own)).toBe(true);
    const head = await fetch(`${app.address}/api/evaluators`, { method: 'HEAD', headers });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('reaches beyond what is read at once', async () => {
    for (let count = 0; count < 60; count += 1) await create(`Many ${count}`, EXACT);
    await ask(client.list({ status: 200, check: (body) => expect(new Set(idsOf(body)).size).toBeGreaterThan(60) }));
  });

  it('is empty where a project has none, and never shows those of another', async () => {
    const headers = { 'x-auth-token': elsewhere.key };
    await ask(client.list({ headers, status: 200, check: (body) => expect(body).toEqual([elsewhere.evaluator]) }));
    await ask(client.list({ status: 200, check: (body) => expect(idsOf(body)).not.toContain(elsewhere.evaluator.id) }));
    const { body } = await callRest(app.address, {
      verb: 'POST',
      path: '/api/projects',
      body: { name: 'Empty' },
      headers: { authorization: `Bearer ${app.adminKey}` },
    });
    await ask(
      client.list({
        headers: { 'x-auth-token': body.apiKey },
        status: 200,
        check: (empty) => expect(empty).toEqual([]),
      }),
    );
  });
});

describe('updating an evaluator', () => {
  it('changes what is sent and nothing else, by id and by slug', async () => {
    const made = await create('Before', { ...EXACT, settings: { case_sensitive: true }, onError: 'block' });
    await ask(
      client.update(
        made.slug,
        { name: '  After  ' },
        {
          status: 200,
          check({ updatedAt, ...body }) {
            expect({ ...body, updatedAt: made.updatedAt }).toEqual({ ...made, name: 'After' });
            expect(updatedAt > made.updatedAt).toBe(true);
          },
        },
      ),
    );
    await ask(
      client.update(
        made.id,
        { config: { settings: { trim_whitespace: false } } },
        {
          status: 200,
          check: (body) =>
            expect(body.config).toEqual({
              ...EXACT,
              settings: { case_sensitive: false, trim_whitespace: false, remove_punctuation: true },
              onError: 'block',
            }),
        },
      ),
    );
    await ask(
      client.update(
        made.id,
        { config: { ...EXACT, onError: 'pass', other: 1 } },
        {
          status: 200,
          check: (body) =>
            expect(body.config).toMatchObject({ ...EXACT, onError: 'pass', settings: { trim_whitespace: false } }),
        },
      ),
    );
    await ask(client.get(made.id, { status: 200, check: (body) => expect(body.name).toBe('After') }));
  });

  it('works by PUT as by PATCH, on both paths, and answers as a read does', async () => {
    const made = await create('Put', EXACT);
    const ways = ['/api/evaluators', '/api/v1/evaluators'].flatMap((base) => [`PUT ${base}`, `PATCH ${base}`]);
    for (const [index, way] of ways.entries()) {
      const [verb = '', base] = way.split(' ');
      const { status, text, body } = await rest(verb, `${base}/${made.id}`, { name: `Name ${index}` });
      expect([status, body.name], way).toEqual([200, `Name ${index}`]);
      expect((await rest('GET', pathOf(made.id))).text).toBe(text);
    }
  });

  it('changes nothing, and no instant, when nothing is sent, null or the same', async () => {
    const made = await create('Same', EXACT);
    const bodies = [{}, { name: null, config: null }, { config: {} }, { config: { settings: null, onError: null } }];
    for (const body of [...bodies, { name: 'Same', type: 'evaluator', config: EXACT }, { slug: 'x', id: 'y' }]) {
      for (const verb of ['PUT', 'PATCH']) {
        const answer = await rest(verb, pathOf(made.id), body);
        expect([answer.status, answer.body], JSON.stringify(body)).toEqual([200, made]);
      }
    }
    expect((await rest('PUT', pathOf(made.id))).body).toEqual(made);
    expect((await rest('PATCH', pathOf(made.id), '')).body.code).toBe('malformed_request');
    const request = { idOrSlug: made.id, updateMask: { paths: ['name', 'config_json'] } };
    const answer = await callRpc(app.address, { method: updateEvaluator, headers: key(), request });
    expect(answer).toMatchObject({ ok: true, body: made });
  });

  it('keeps what code and workflows are made of', async () => {
    const inputs = [{ identifier: 'a', type: 'str', optional: false }];
    const code = await rest('POST', '/api/evaluators', { name: 'C', type: 'code', config: { code: '1', inputs } });
    const outputs = [{ identifier: 'b' }];
    await ask(
      client.update(
        code.body.id,
        { config: { outputs } },
        {
          status: 200,
          check: (body) =>
            expect(body).toMatchObject({
              config: { code: '1', inputs },
              fields: inputs,
              outputFields: [{ identifier: 'b' }],
            }),
        },
      ),
    );
    const flow = { name: 'W', type: 'workflow', workflowId: 'w1', fields: inputs };
    const { body: made } = await rest('POST', '/api/evaluators', flow);
    await ask(
      client.update(
        made.id,
        { name: 'V', config: { code: 'x' } },
        {
          status: 200,
          check: ({ updatedAt: _, ...body }) =>
            expect({ ...body, updatedAt: made.updatedAt }).toEqual({ ...made, name: 'V' }),
        },
      ),
    );
  });

  it.each<readonly [string, object, string]>([
    ['another evaluatorType', { config: { evaluatorType: 'ragas/bleu_score' } }, 'langevals/exact_match'],
    ['another type', { type: 'code' }, 'evaluator'],
  ])('with %s is refused with what it is', async (_, body, current) => {
    const made = await create('Fixed', EXACT);
    const message = `evaluatorType cannot be changed after creation. Current type: "${current}"`;
    await ask(
      client.update(made.id, body, {
        status: 400,
        code: 'evaluator_type_immutable',
        check: (error) => expect(error).toMatchObject({ error: message, message }),
      }),
    );
  });

  it.each<readonly [object, readonly string[]]>([
    [{ name: '  ' }, ['name']],
    [{ name: 'x'.repeat(256) }, ['name']],
    [{ type: 'other' }, ['type']],
    [{ config: { evaluatorType: 'nope' } }, ['config.evaluatorType']],
    [{ config: { onError: 'stop' } }, ['config.onError']],
    [{ config: { settings: [] } }, ['config.settings']],
    [{ config: { ...EXACT, settings: { case_sensitive: 'yes' } } }, ['config.settings.case_sensitive']],
    [{ config: { settings: { own: 'a\0' } } }, ['config.settings.own']],
  ])('with %j is a validation error, also for one that is not there', async (body, fields) => {
    const made = await create('Judged', EXACT);
    const check = (error: Body) => expect(error.fields).toEqual(fields);
    for (const id of [made.id, 'nobody'])
      await ask(client.update(id, body, { status: 422, code: 'validation_error', check }));
  });

  it('validates settings by the stored type', async () => {
    const made = await create('Judged', EXACT);
    const body = { config: { settings: { case_sensitive: 'yes' } } };
    const check = (error: Body) => expect(error.fields).toEqual(['config.settings.case_sensitive']);
    await ask(client.update(made.id, body, { status: 422, code: 'validation_error', check }));
  });

  it('refuses a body of the wrong types over REST, and a mask that omits what is set over gRPC', async () => {
    const made = await create('Typed', EXACT);
    const answer = await rest('PATCH', pathOf(made.id), { name: 5, config: 'x' });
    expect([answer.status, answer.body.fields.sort()]).toEqual([422, ['config', 'name']]);
    expect((await rest('PATCH', pathOf(made.id), [])).body.code).toBe('malformed_request');
    const request = { idOrSlug: made.id, evaluator: { name: 'X' }, updateMask: { paths: ['config_json'] } };
    const refused = await callRpc(app.address, { method: updateEvaluator, headers: key(), request });
    expect(refused).toMatchObject({ ok: false, code: 'validation_error' });
  });

  it('loses none of many at once', async () => {
    const made = await create('Crowd', { ...EXACT, onError: 'block' });
    const names = Array.from({ length: 12 }, (_, index) => ({ name: `Crowd ${index}` }));
    const changes = [...names, { config: { settings: { case_sensitive: true } } }, { config: { onError: 'pass' } }];
    const answers = await Promise.all(changes.map((change) => rest('PATCH', pathOf(made.id), change)));
    expect(answers.map(({ status }) => status)).toEqual(changes.map(() => 200));
    expect(new Set(answers.map(({ body }) => body.updatedAt)).size).toBe(changes.length);
    const { body } = await rest('GET', pathOf(made.id));
    expect(body.config).toMatchObject({ onError: 'pass', settings: { case_sensitive: true } });
  });
});

describe('deleting an evaluator', () => {
  it('hides it everywhere from then on, and its room is free', async () => {
    const [byId, bySlug] = [await create('Gone', EXACT), await create('Gone', EXACT)];
    const overRest = await rest('DELETE', pathOf(byId.id));
    expect([overRest.status, overRest.text]).toEqual([200, '{"success":true}']);
    const request = { idOrSlug: bySlug.slug };
    const overRpc = await callRpc(app.address, { method: deleteEvaluator, headers: key(), request });
    expect(overRpc).toMatchObject({ ok: true, body: { success: true } });
    const notFound = { status: 404, code: 'evaluator_not_found' };
    for (const name of [byId.id, byId.slug, bySlug.id, bySlug.slug]) {
      for (const question of [
        client.get(name, notFound),
        client.update(name, { name: 'X' }, notFound),
        client.remove(name, notFound),
      ]) {
        await ask(question);
      }
    }
    await ask(client.list({ status: 200, check: (body) => expect(idsOf(body)).not.toContain(byId.id) }));
  });

  it('works on both paths', async () => {
    const made = await create('Aliased', EXACT);
    expect((await rest('DELETE', `/api/v1/evaluators/${made.slug}`)).body).toEqual({ success: true });
    expect((await rest('GET', pathOf(made.id))).status).toBe(404);
  });
});

describe('each of them', () => {
  const questions = (id: string): readonly (readonly [string, (expected: Partial<SurfaceCase>) => SurfaceCase])[] => [
    ['evaluations:view', (expected) => client.list({ status: 0, ...expected })],
    ['evaluations:update', (expected) => client.update(id, { name: 'Mine' }, { status: 0, ...expected })],
    ['evaluations:delete', (expected) => client.remove(id, { status: 0, ...expected })],
  ];

  it('refuses a call without a credential, with a wrong one, or without the permission', async () => {
    const others = ['evaluations:view', 'evaluations:create', 'evaluations:update', 'evaluations:delete'];
    for (const [permission, question] of questions('any')) {
      await ask(question({ headers: {}, status: 401, code: 'missing_credentials' }));
      const headers = { authorization: 'Bearer nope' };
      await ask(question({ headers, status: 401, code: 'invalid_credentials' }));
      const held = ['traces:view', ...others.filter((each) => each !== permission)].filter(
        // Permissions to change or delete include viewing.
        (each) => permission !== 'evaluations:view' || each === 'traces:view',
      );
      const token = await addKey(app, { bindings: [custom('PROJECT', app.projectId, held)] });
      const code = 'api_key_permission_denied';
      const check = (body: Body) => expect(body.permission).toBe(permission);
      await ask(question({ headers: { authorization: `Bearer ${token}` }, status: 403, code, check }));
    }
  });

  it('lets in a key that has just its permission', async () => {
    for (const [permission] of questions('any')) {
      const token = await addKey(app, { bindings: [custom('PROJECT', app.projectId, [permission])] });
      const headers = { authorization: `Bearer ${token}` };
      const { id } = await create('Allowed', EXACT);
      const question = questions(id).find(([name]) => name === permission)?.[1];
      const { rest: listRequest } = question?.({}) ?? client.list({ status: 200 });
      expect((await callRest(app.address, { ...listRequest, headers })).status, permission).toBe(200);
    }
  });

  it('answers for one of another project as for one that does not exist', async () => {
    const { id, slug } = elsewhere.evaluator;
    const notFound = { status: 404, code: 'evaluator_not_found' };
    const check = (body: Body) =>
      expect(body).toMatchObject({ error: 'Evaluator not found', message: 'Evaluator not found' });
    for (const name of [id, slug, 'nobody', 'x'.repeat(201)]) {
      await ask(client.update(name, { name: 'Mine' }, { ...notFound, check }));
      await ask(client.remove(name, { ...notFound, check }));
    }
    const headers = { 'x-auth-token': elsewhere.key };
    await ask(client.get(id, { headers, status: 200, check: (body) => expect(body).toEqual(elsewhere.evaluator) }));
  });

  it('is a method of its route, and a refusal of other methods names the allowed ones', async () => {
    const one = await rest('POST', '/api/evaluators/x', {});
    expect([one.status, one.headers.get('allow')]).toEqual([405, 'GET, PATCH, PUT, DELETE, HEAD, OPTIONS']);
    const all = await rest('DELETE', '/api/evaluators');
    expect([all.status, all.headers.get('allow')]).toEqual([405, 'GET, POST, HEAD, OPTIONS']);
    const listed = await callRpc(app.address, { method: listEvaluators, headers: key(), request: {} });
    expect(listed.ok).toBe(true);
  });
});
