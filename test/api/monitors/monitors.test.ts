import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import { addKey, custom } from '../../support/fixtures.ts';
import { type Body, callRest, callRpc, expectEverywhere, type SurfaceCase } from '../../support/surfaces.ts';
import { createClient, createMonitor, type Expected, updateMonitor } from './monitors-client.ts';

let app: TestApp;
let evaluator: Body;
let elsewhere: { readonly key: string; readonly evaluator: Body; readonly monitor: Body };
const client = createClient(() => app);
const { make, rest } = client;
const ask = (each: SurfaceCase) => expectEverywhere(app.address, each);

const KEYS = [
  ...['id', 'name', 'slug', 'evaluatorId', 'checkType', 'enabled', 'sample', 'preconditions', 'mappings', 'parameters'],
  ...['executionMode', 'level', 'threadIdleTimeout', 'createdAt', 'updatedAt', 'platformUrl'],
];
const idsOf = (body: Body): string[] => body.map(({ id }: Body) => id);

async function addProject(name: string): Promise<string> {
  const { body } = await callRest(app.address, {
    verb: 'POST',
    path: '/api/projects',
    body: { name },
    headers: { authorization: `Bearer ${app.adminKey}` },
  });
  return body.apiKey;
}

beforeAll(async () => {
  app = await startApp();
  evaluator = await client.evaluator();
  const key = await addProject('Elsewhere');
  const headers = { 'x-auth-token': key };
  const other = await client.evaluator(undefined, headers);
  elsewhere = { key, evaluator: other, monitor: await make({ name: 'Not mine', evaluatorId: other.id }, headers) };
});
afterAll(async () => {
  await app.close();
});

describe('making a monitor', () => {
  it('answers all of it, with the defaults of what was not sent', async () => {
    await ask(
      client.create(
        { name: '  My Évaluator #1!  ', evaluatorId: evaluator.slug },
        {
          status: 201,
          check(body) {
            expect(Object.keys(body).toSorted()).toEqual(KEYS.toSorted());
            expect(body).toMatchObject({
              name: 'My Évaluator #1!',
              evaluatorId: evaluator.id,
              checkType: 'langevals/exact_match',
              enabled: true,
              sample: 1,
              preconditions: [],
              mappings: {},
              parameters: {},
              executionMode: 'ON_MESSAGE',
              level: 'trace',
              threadIdleTimeout: null,
            });
            expect(body.id).toMatch(/^monitor_[0-9A-Za-z]{21}$/);
            expect(body.slug).toMatch(/^my-evaluator-1-[0-9a-z]{5}$/);
            expect(body.updatedAt).toBe(body.createdAt);
            expect(body.platformUrl).toContain(`/monitors/${body.id}`);
          },
        },
      ),
    );
  });

  it('keeps what was sent, mappings in either form and under either name', async () => {
    const sent = {
      name: '日本語',
      evaluatorId: evaluator.id,
      enabled: false,
      sample: 0.25,
      preconditions: [
        { field: 'span.type', rule: 'is', value: 'llm' },
        { field: 'metadata.tries', value: 3 },
        { field: 'label', value: 'a' },
        { field: 'metadata.live', rule: null, value: true },
      ],
      mapping: { output: { source: 'span.llm.output' }, expected_output: 'metadata.expected' },
      parameters: { case_sensitive: true, own: [1] },
      executionMode: 'AS_GUARDRAIL',
      level: 'trace',
      threadIdleTimeout: null,
      unknown: 1,
    };
    const made = await make(sent);
    expect(made).toMatchObject({
      enabled: false,
      sample: 0.25,
      preconditions: sent.preconditions.map((each) => ({ ...each, rule: 'is' })),
      mappings: { output: 'span.llm.output', expected_output: 'metadata.expected' },
      parameters: sent.parameters,
      executionMode: 'AS_GUARDRAIL',
    });
    expect(made.slug).toMatch(/^monitor-[0-9a-z]{5}$/);
    for (const name of [made.id, made.slug]) {
      await ask(client.get(name, { status: 200, check: (body) => expect(body).toEqual(made) }));
    }
  });

  it('keeps the digits of a number that a double cannot hold', async () => {
    const value = JSON.rawJSON('12345678901234567890');
    const preconditions = [{ field: 'metadata.account', value }];
    const made = await make({ name: 'Digits', evaluatorId: evaluator.id, preconditions });
    expect((await rest('GET', `/api/monitors/${made.id}`)).text).toContain('"value":12345678901234567890}');
    const request = {
      name: 'Large',
      evaluatorId: evaluator.id,
      preconditions: [{ field: 'metadata.a', valueJson: '1e400' }],
    };
    const refused = await callRpc(app.address, { method: createMonitor, request, headers: client.key() });
    expect(refused).toMatchObject({ ok: false, code: 'validation_error', meta: { fields: ['preconditions.0.value'] } });
  });

  it.each<readonly [object, readonly [string]]>([
    [{ name: ' ' }, ['name']],
    [{ name: 'x'.repeat(256) }, ['name']],
    [{ sample: 1.5 }, ['sample']],
    [{ sample: -0.1 }, ['sample']],
    [{ preconditions: [{ field: 'other', value: 1 }] }, ['preconditions.0.field']],
    [{ preconditions: [{ field: 'label', rule: 'contains', value: 'x' }] }, ['preconditions.0.rule']],
    [{ preconditions: [{ field: 'label', value: ['x'] }] }, ['preconditions.0.value']],
    [{ preconditions: [{ field: 'label' }] }, ['preconditions.0.value']],
    [{ preconditions: Array.from({ length: 21 }, () => ({ field: 'label', value: 'x' })) }, ['preconditions']],
    [{ mappings: { output: 'nowhere' } }, ['mappings.output']],
    [{ mappings: { output: 'span.nothing.output' } }, ['mappings.output']],
    [{ mappings: { output: { source: 5 } } }, ['mappings.output']],
    [{ mappings: { contexts: 'contexts' } }, ['mappings']],
    [{ mappings: [] }, ['mappings']],
    [{ parameters: { case_sensitive: 'yes' } }, ['parameters.case_sensitive']],
    [{ parameters: { own: 'x'.repeat(70_000) } }, ['parameters']],
    [{ level: 'thread' }, ['level']],
    [{ threadIdleTimeout: 5 }, ['threadIdleTimeout']],
    [{ executionMode: 'SOMETIMES' }, ['executionMode']],
  ])('refuses what is wrong, number %#', async (wrong, fields) => {
    const body = { name: 'Wrong', evaluatorId: evaluator.id, ...wrong };
    const answer = await rest('POST', '/api/monitors', body);
    expect([answer.status, answer.body.code, answer.body.fields]).toEqual([422, 'validation_error', fields]);
    // Only requests over REST may have it, from clients of an older interface.
    if (fields[0] === 'threadIdleTimeout') return;
    await ask(
      client.create(body, {
        status: 422,
        code: 'validation_error',
        check: (error) => expect(error.fields).toEqual(fields),
      }),
    );
  });

  it('requires a name and an evaluator', async () => {
    const check = (body: Body) => expect(body.fields.toSorted()).toEqual(['evaluatorId', 'name']);
    await ask(client.create({}, { status: 422, code: 'validation_error', check }));
  });

  it('takes only evaluators of the project that this server runs', async () => {
    const moderation = await client.evaluator({ evaluatorType: 'openai/moderation' });
    const { body: code } = await rest('POST', '/api/evaluators', { name: 'C', type: 'code', config: { code: '1' } });
    const cases: readonly (readonly [string, Expected, string])[] = [
      ['nobody', { status: 404, code: 'evaluator_not_found' }, 'Evaluator not found'],
      [elsewhere.evaluator.id, { status: 404, code: 'evaluator_not_found' }, 'Evaluator not found'],
      [
        code.id,
        { status: 422, code: 'evaluator_not_runnable' },
        'Evaluators of type code cannot be run by this server',
      ],
      [
        moderation.id,
        { status: 422, code: 'evaluator_unavailable' },
        'openai/moderation is not available: needs a cloud service',
      ],
    ];
    for (const [evaluatorId, expected, message] of cases) {
      const check = (body: Body) => expect(body.message).toBe(message);
      await ask(client.create({ name: 'M', evaluatorId }, { ...expected, check }));
    }
  });

  it('is refused when a project has 100, and works again when one is deleted', async () => {
    const headers = { 'x-auth-token': await addProject('Full') };
    const { id: evaluatorId } = await client.evaluator(undefined, headers);
    const made: Body[] = [];
    for (let count = 0; count < 100; count += 1) made.push(await make({ name: `M ${count}`, evaluatorId }, headers));
    const body = { name: 'Too many', evaluatorId };
    await ask(client.create(body, { headers, status: 422, code: 'monitor_limit_reached' }));
    expect((await rest('DELETE', `/api/monitors/${made[0].id}`, undefined, headers)).status).toBe(200);
    await make(body, headers);
  });
});

describe('listing monitors', () => {
  it('gives the bare array, the one changed last first, and none of other projects', async () => {
    const [first, second] = [
      await make({ name: 'A', evaluatorId: evaluator.id }),
      await make({ name: 'B', evaluatorId: evaluator.id }),
    ];
    const { body: changed } = await rest('PATCH', `/api/monitors/${first.id}`, { name: 'A again' });
    await ask(
      client.list({
        status: 200,
        check(body) {
          expect(idsOf(body).slice(0, 2)).toEqual([first.id, second.id]);
          expect(body[0]).toEqual(changed);
          expect(idsOf(body)).not.toContain(elsewhere.monitor.id);
        },
      }),
    );
    const headers = { 'x-auth-token': elsewhere.key };
    await ask(client.list({ headers, status: 200, check: (body) => expect(body).toEqual([elsewhere.monitor]) }));
  });
});

describe('the backlog of monitors', () => {
  it('counts the jobs of the project, and of no other', async () => {
    const headers = { 'x-auth-token': await addProject('Growing') };
    const none = { due: 0, scheduled: 0, running: 0, oldestDueAt: null, tracesRefused: 0 };
    await ask(client.backlog({ headers, status: 200, check: (body) => expect(body).toEqual(none) }));
    const { id: evaluatorId } = await client.evaluator(undefined, headers);
    await make({ name: 'Waits', evaluatorId }, headers);
    const timestamps = { started_at: Date.now(), finished_at: Date.now() };
    // Without its root the trace may still grow, so its job waits for ten seconds.
    const spans = [{ span_id: 'child', parent_id: 'root', type: 'llm', timestamps }];
    expect((await rest('POST', '/api/collector', { trace_id: 'growing', spans }, headers)).status).toBe(200);
    await ask(
      client.backlog({ headers, status: 200, check: (body) => expect(body).toEqual({ ...none, scheduled: 1 }) }),
    );
    await ask(client.backlog({ status: 200, check: (body) => expect(body).toEqual(none) }));
  });
});

describe('changing a monitor', () => {
  it('changes what is sent and nothing else; lists and objects are replaced', async () => {
    const made = await make({
      name: 'Before',
      evaluatorId: evaluator.id,
      preconditions: [{ field: 'label', value: 'x' }],
      mappings: { output: 'input' },
      parameters: { case_sensitive: true },
    });
    const expectChange = (change: Body, shown: Body = change) =>
      ask(
        client.update(made.id, change, {
          status: 200,
          check: (body) => expect(body).toMatchObject(shown),
        }),
      );
    await expectChange({ name: ' After ' }, { ...made, name: 'After', updatedAt: expect.any(String) });
    await expectChange({ sample: 0, enabled: false });
    await expectChange({ mappings: { expected_output: 'metadata.x' }, parameters: { trim_whitespace: false } });
    await expectChange({ executionMode: 'MANUALLY' });
    const cleared = await rest('PATCH', `/api/monitors/${made.id}`, { preconditions: [] });
    expect(cleared.body).toMatchObject({
      preconditions: [],
      mappings: { expected_output: 'metadata.x' },
      parameters: { trim_whitespace: false },
      slug: made.slug,
      createdAt: made.createdAt,
    });
    const request = { idOrSlug: made.id, monitor: {}, updateMask: { paths: ['preconditions'] } };
    await rest('PATCH', `/api/monitors/${made.id}`, { preconditions: [{ field: 'label', value: 'y' }] });
    const answer = await callRpc(app.address, { method: updateMonitor, headers: client.key(), request });
    expect(answer).toMatchObject({ ok: true, body: { preconditions: [] } });
  });

  it('changes nothing, and no instant, when nothing is sent, null or the same', async () => {
    const made = await make({ name: 'Same', evaluatorId: evaluator.id });
    for (const body of [
      {},
      { name: null, sample: null, mappings: null, preconditions: null },
      { name: 'Same', evaluatorId: evaluator.slug },
    ]) {
      const answer = await rest('PATCH', `/api/monitors/${made.id}`, body);
      expect([answer.status, answer.body]).toEqual([200, made]);
    }
  });

  it('moves it to another evaluator, whose fields its mappings must name', async () => {
    const bleu = await client.evaluator({ evaluatorType: 'ragas/context_f1' });
    const made = await make({ name: 'Moves', evaluatorId: evaluator.id, mappings: { output: 'output' } });
    const check = (body: Body) => expect(body.fields).toEqual(['mappings']);
    await ask(client.update(made.id, { evaluatorId: bleu.id }, { status: 422, code: 'validation_error', check }));
    const moved = await rest('PATCH', `/api/monitors/${made.id}`, { evaluatorId: bleu.id, mappings: {} });
    expect(moved.body).toMatchObject({ evaluatorId: bleu.id, checkType: 'ragas/context_f1' });
  });

  it('loses none of many at once', async () => {
    const made = await make({ name: 'Crowd', evaluatorId: evaluator.id });
    const changes = Array.from({ length: 8 }, (_, index) => ({ parameters: { [`own_${index}`]: index } }));
    const answers = await Promise.all(
      [...changes, { sample: 0.5 }].map((change) => rest('PATCH', `/api/monitors/${made.id}`, change)),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect((await rest('GET', `/api/monitors/${made.id}`)).body).toMatchObject({ sample: 0.5 });
    expect(new Set(answers.map(({ body }) => body.updatedAt)).size).toBe(answers.length);
  });

  it('toggles', async () => {
    const { id } = await make({ name: 'Toggled', evaluatorId: evaluator.id });
    for (const enabled of [false, true]) {
      await ask(client.toggle(id, enabled, { status: 200, check: (body) => expect(body).toEqual({ id, enabled }) }));
      await ask(client.get(id, { status: 200, check: (body) => expect(body.enabled).toBe(enabled) }));
    }
    const answer = await rest('POST', `/api/monitors/${id}/toggle`, {});
    expect([answer.status, answer.body.fields]).toEqual([422, ['enabled']]);
  });
});

describe('deleting', () => {
  it('hides the monitor, and its slug no longer finds it', async () => {
    const [one, other] = [
      await make({ name: 'Gone', evaluatorId: evaluator.id }),
      await make({ name: 'Gone', evaluatorId: evaluator.id }),
    ];
    const answer = await rest('DELETE', `/api/monitors/${one.id}`);
    expect([answer.status, answer.text]).toEqual([200, `{"id":"${one.id}","deleted":true}`]);
    const { remove } = client;
    const overRpc = remove(other.id, { status: 200 }).rpc;
    expect(await callRpc(app.address, { ...overRpc, headers: client.key() })).toMatchObject({
      ok: true,
      body: { id: other.id, deleted: true },
    });
    const notFound = { status: 404, code: 'monitor_not_found' };
    for (const { id, slug } of [one, other]) {
      for (const name of [id, slug]) await ask(client.get(name, notFound));
      for (const question of [
        client.update(id, { name: 'X' }, notFound),
        client.toggle(id, true, notFound),
        remove(id, notFound),
      ]) {
        await ask(question);
      }
    }
  });

  it('the evaluator disables its monitors, which cannot be enabled again', async () => {
    const judge = await client.evaluator();
    const [running, off] = [
      await make({ name: 'Runs', evaluatorId: judge.id }),
      await make({ name: 'Off', evaluatorId: judge.id, enabled: false }),
    ];
    expect((await rest('DELETE', `/api/evaluators/${judge.id}`)).status).toBe(200);
    const { body: disabled } = await rest('GET', `/api/monitors/${running.id}`);
    expect(disabled).toMatchObject({ enabled: false, evaluatorId: judge.id });
    expect(disabled.updatedAt > running.updatedAt).toBe(true);
    expect((await rest('GET', `/api/monitors/${off.id}`)).body).toEqual(off);
    await ask(client.toggle(running.id, true, { status: 404, code: 'evaluator_not_found' }));
    await ask(client.update(running.id, { name: 'Still mine' }, { status: 200 }));
  });
});

describe('each of them', () => {
  const questions = (id: string): readonly (readonly [string, (expected: Partial<SurfaceCase>) => SurfaceCase])[] => [
    ['evaluations:view', (expected) => client.list({ status: 0, ...expected })],
    ['evaluations:view', (expected) => client.backlog({ status: 0, ...expected })],
    ['evaluations:view', (expected) => client.get(id, { status: 0, ...expected })],
    ['evaluations:manage', (expected) => client.create({ name: 'M', evaluatorId: id }, { status: 0, ...expected })],
    ['evaluations:manage', (expected) => client.update(id, { name: 'Mine' }, { status: 0, ...expected })],
    ['evaluations:manage', (expected) => client.toggle(id, true, { status: 0, ...expected })],
    ['evaluations:manage', (expected) => client.remove(id, { status: 0, ...expected })],
  ];

  it('refuses a call without a credential, with a wrong one, or without the permission', async () => {
    const token = await addKey(app, { bindings: [custom('PROJECT', app.projectId, ['traces:view'])] });
    for (const [permission, question] of questions('any')) {
      await ask(question({ headers: {}, status: 401, code: 'missing_credentials' }));
      await ask(question({ headers: { authorization: 'Bearer nope' }, status: 401, code: 'invalid_credentials' }));
      const code = 'api_key_permission_denied';
      const check = (body: Body) => expect(body.permission).toBe(permission);
      await ask(question({ headers: { authorization: `Bearer ${token}` }, status: 403, code, check }));
    }
  });

  it('takes preconditions only from who may read traces', async () => {
    const { id } = await make({ name: 'Open', evaluatorId: evaluator.id });
    const preconditions = [{ field: 'metadata.customer', rule: 'is', value: 'acme' }];
    const sent = [{ field: 'metadata.customer', rule: 'is', valueJson: '"acme"' }];
    const permissions = ['evaluations:manage'];
    const blind = await addKey(app, { bindings: [custom('PROJECT', app.projectId, permissions)] });
    const headers = { authorization: `Bearer ${blind}` };
    const check = (body: Body) => expect(body.permission).toBe('traces:view');
    const refused = { status: 403, code: 'api_key_permission_denied', headers, check };
    const draft = { name: 'Selective', evaluatorId: evaluator.id };
    const making = client.create({ ...draft, preconditions }, refused);
    await ask({ ...making, rpc: { ...making.rpc, request: { ...draft, preconditions: sent } } });
    const changing = client.update(id, { preconditions }, refused);
    const request = { idOrSlug: id, monitor: { preconditions: sent } };
    await ask({ ...changing, rpc: { ...changing.rpc, request } });
    await ask(client.update(id, { preconditions: [] }, { status: 200, headers }));
    await ask(client.create(draft, { status: 201, headers }));
  });

  it('answers for one of another project as for one that does not exist', async () => {
    const { id, slug } = elsewhere.monitor;
    const notFound = { status: 404, code: 'monitor_not_found' };
    const check = (body: Body) =>
      expect(body).toMatchObject({ error: 'Monitor not found', message: 'Monitor not found' });
    for (const name of [id, slug, 'nobody', 'x'.repeat(201)]) {
      await ask(client.get(name, { ...notFound, check }));
      await ask(client.update(name, { name: 'Mine' }, { ...notFound, check }));
      await ask(client.toggle(name, false, { ...notFound, check }));
      await ask(client.remove(name, { ...notFound, check }));
    }
    const headers = { 'x-auth-token': elsewhere.key };
    await ask(client.get(id, { headers, status: 200, check: (body) => expect(body).toEqual(elsewhere.monitor) }));
  });
});
