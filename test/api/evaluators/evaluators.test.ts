import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EvaluatorService } from '../../../gen/spandrel/v1/evaluators_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { addKey, custom } from '../../support/fixtures.ts';
import { type Body, callRest, callRpc, expectEverywhere, type SurfaceCase } from '../../support/surfaces.ts';

const { getEvaluator, createEvaluator } = EvaluatorService.method;

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ writer: 'in its thread' });
});
afterAll(async () => {
  await app.close();
});

const key = () => ({ 'x-auth-token': app.projectKey });

async function createOne(name: string, config: object): Promise<Body> {
  const answer = await callRpc(app.address, {
    method: createEvaluator,
    headers: key(),
    request: { name, configJson: JSON.stringify(config) },
  });
  if (!answer.ok) throw new Error(answer.error.details);
  return answer.body;
}

function getCase(idOrSlug: string, each: Partial<SurfaceCase<typeof getEvaluator>> & { status: number }): SurfaceCase {
  return {
    name: idOrSlug,
    headers: key(),
    rest: { path: `/api/v1/evaluators/${encodeURIComponent(idOrSlug)}` },
    rpc: { method: getEvaluator, request: { idOrSlug } },
    ...each,
  };
}

describe('reading an evaluator, over REST and gRPC', () => {
  it('every field of the interface is there, by id and by slug, on both paths', async () => {
    const created = await createOne('My Judge', {
      evaluatorType: 'langevals/exact_match',
      settings: { case_sensitive: true },
    });
    const whole = {
      id: expect.stringMatching(/^evaluator_[0-9A-Za-z]{21}$/),
      projectId: app.projectId,
      name: 'My Judge',
      slug: expect.stringMatching(/^my-judge-[0-9a-z]{5}$/),
      type: 'evaluator',
      config: {
        evaluatorType: 'langevals/exact_match',
        settings: { case_sensitive: true, trim_whitespace: true, remove_punctuation: true },
      },
      workflowId: null,
      copiedFromEvaluatorId: null,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updatedAt: created.createdAt,
      fields: [
        { identifier: 'output', type: 'str', optional: true },
        { identifier: 'expected_output', type: 'str', optional: true },
      ],
      outputFields: [{ identifier: 'passed', type: 'bool', optional: false }],
      platformUrl: `${app.address}/${await projectSlug()}/evaluators/${created.id}`,
      workflowName: null,
      workflowIcon: null,
    };
    const check = (body: Body) => expect(body).toEqual(whole);
    await expectEverywhere(app.address, getCase(created.id, { status: 200, check }));
    await expectEverywhere(app.address, getCase(created.slug, { status: 200, check }));
    const one = await callRest(app.address, { path: `/api/v1/evaluators/${created.slug}`, headers: key() });
    const other = await callRest(app.address, { path: `/api/evaluators/${created.slug}`, headers: key() });
    expect(other.text).toBe(one.text);
  });

  it('an unknown one is 404 with both texts', async () => {
    const check = (body: Body) =>
      expect(body).toMatchObject({ error: 'Evaluator not found', message: 'Evaluator not found' });
    await expectEverywhere(app.address, getCase('nope', { status: 404, code: 'evaluator_not_found', check }));
    await expectEverywhere(app.address, getCase('x'.repeat(201), { status: 404, code: 'evaluator_not_found', check }));
  });

  it('a call without a credential, with a wrong one, or without the permission is refused', async () => {
    await expectEverywhere(app.address, getCase('a', { headers: {}, status: 401, code: 'missing_credentials' }));
    await expectEverywhere(
      app.address,
      getCase('a', { headers: { authorization: 'Bearer nope' }, status: 401, code: 'invalid_credentials' }),
    );
    const token = await addKey(app, { bindings: [custom('PROJECT', app.projectId, ['traces:view'])] });
    await expectEverywhere(
      app.address,
      getCase('a', { headers: { authorization: `Bearer ${token}` }, status: 403, code: 'api_key_permission_denied' }),
    );
  });

  it('an empty id is not a route', async () => {
    const answer = await callRest(app.address, { path: '/api/v1/evaluators//', headers: key() });
    expect(answer.status).toBe(404);
    expect(answer.body).toMatchObject({ error: 'Not Found', code: 'route_not_found' });
  });
});

describe('creating an evaluator', () => {
  it('over REST and gRPC the same is stored', async () => {
    const config = { evaluatorType: 'ragas/bleu_score' };
    await expectEverywhere(app.address, {
      name: 'create',
      headers: key(),
      rest: { verb: 'POST', path: '/api/evaluators', body: { name: 'Bleu', config } },
      rpc: { method: createEvaluator, request: { name: 'Bleu', configJson: JSON.stringify(config) } },
      status: 200,
      check: (body) =>
        expect(body).toMatchObject({ name: 'Bleu', config: { evaluatorType: 'ragas/bleu_score', settings: {} } }),
    });
  });

  it('every problem of a body is reported together', async () => {
    const answer = await callRest(app.address, {
      verb: 'POST',
      path: '/api/evaluators',
      headers: key(),
      body: { name: 5, type: 'EVALUATOR', config: { evaluatorType: 'nope' } },
    });
    expect(answer.status).toBe(422);
    expect(answer.body.fields.sort()).toEqual(['config.evaluatorType', 'name', 'type']);
  });

  it.each([[[5]], [[null]], [['a']], [[[]]]])('fields holding %j are refused by index', async (fields) => {
    const answer = await callRest(app.address, {
      verb: 'POST',
      path: '/api/evaluators',
      headers: key(),
      body: { name: 'W', type: 'workflow', workflowId: 'w1', fields },
    });
    expect(answer.status, answer.text).toBe(422);
    expect(answer.body.fields).toContain('fields.0');
  });

  it('a number outside the enum is a validation error over gRPC', async () => {
    const answer = await callRpc(app.address, {
      method: createEvaluator,
      headers: key(),
      request: { name: 'A', evaluatorType: 99 as 1, configJson: '{}' },
    });
    expect(answer).toMatchObject({ ok: false, code: 'validation_error' });
  });

  it('hostile bodies are refused quickly, in a small answer', async () => {
    const nuls = Array.from({ length: 5_000 }, () => '\0');
    let config: unknown = nuls;
    for (let level = 0; level < 100; level++) config = { [`k${'x'.repeat(5_000)}`]: config };
    const fields = Array.from({ length: 250_000 }, () => ({}));
    for (const body of [
      { name: 'x', config },
      { name: 'x', type: 'workflow', fields },
    ]) {
      const startedMs = performance.now();
      const answer = await callRest(app.address, { verb: 'POST', path: '/api/evaluators', headers: key(), body });
      expect(answer.status).toBe(422);
      expect(answer.body.reasons.length).toBeLessThanOrEqual(20);
      expect(answer.text.length).toBeLessThan(64_000);
      expect(performance.now() - startedMs).toBeLessThan(20_000);
    }
  });

  it('the details of an unknown evaluatorType survive the limit of trailers', async () => {
    const answer = await callRpc(app.address, {
      method: createEvaluator,
      headers: key(),
      request: { name: 'A', configJson: '{"evaluatorType":"zz"}' },
    });
    expect(answer).toMatchObject({
      ok: false,
      code: 'validation_error',
      meta: { target: 'json', fields: ['config.evaluatorType'] },
    });
  });

  it('bad input is a validation error everywhere', async () => {
    await expectEverywhere(app.address, {
      name: 'bad',
      headers: key(),
      rest: {
        verb: 'POST',
        path: '/api/evaluators',
        body: { name: ' ', config: { evaluatorType: 'ragas/bleu_score' } },
      },
      rpc: { method: createEvaluator, request: { name: ' ', configJson: '{"evaluatorType":"ragas/bleu_score"}' } },
      status: 422,
      code: 'validation_error',
      check: (body) => expect(body.fields).toEqual(['name']),
    });
  });
});

async function projectSlug(): Promise<string> {
  const project = await app.store.keys.findProject(app.projectId);
  return project?.slug ?? '';
}
