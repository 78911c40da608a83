import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { completion, type Endpoint, startEndpoint } from '../../evaluation/judge/endpoint.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { type Body, callRest, expectEverywhere } from '../../support/surfaces.ts';
import { createClient as createEvaluatorClient } from '../evaluators/evaluators-client.ts';
import { createClient } from './evaluations-client.ts';

const KEY = 'llm-key-77aa';

let app: TestApp;
let endpoint: Endpoint;
beforeAll(async () => {
  endpoint = await startEndpoint();
  app = await startApp({ environment: { SPANDREL_LLM_BASE_URL: endpoint.baseUrl, SPANDREL_LLM_API_KEY: KEY } });
});
afterAll(async () => {
  await app.close();
  await endpoint.close();
});

const client = createClient(() => app);
const evaluators = createEvaluatorClient(() => app);

const JUDGE = 'langevals/llm_boolean';
const DATA = { input: 'Who?', output: 'Me.' };
const REFUSED = completion('', { message: { content: null, refusal: 'I will not.' } });

describe('a judgement', () => {
  it('is answered with its reasons and its cost, and kept with them', async () => {
    const answer = completion({ reasoning: 'It is so.', passed: true });
    endpoint.answer(answer, answer);
    const trace_id = 'judged-1';
    await expectEverywhere(
      app.address,
      client.run(
        JUDGE,
        { data: DATA, trace_id },
        {
          status: 200,
          check(body) {
            expect(body).toMatchObject({ status: 'processed', passed: true, details: 'It is so.', stored: true });
            expect(body.cost).toEqual({ currency: 'USD', amount: expect.any(Number) });
            expect(Object.keys(body)).not.toContain('score');
          },
        },
      ),
    );
    const stored = await client.evaluationsOf(trace_id);
    expect(stored).toHaveLength(2);
    expect(stored[0]).toMatchObject({ cost: { currency: 'USD' }, details: 'It is so.', inputs: DATA, type: JUDGE });
  });

  it('costs what the organization pays for the model, where it has set a price', async () => {
    const price = { model: 'house-judge', match: 'exact', inputCostPerToken: 1, outputCostPerToken: 0 };
    const headers = { 'x-auth-token': app.adminKey };
    const set = await callRest(app.address, { verb: 'POST', path: '/api/pricing/overrides', headers, body: price });
    expect(set.status).toBe(201);
    const usage = { prompt_tokens: 3, completion_tokens: 5 };
    endpoint.answer(completion({ reasoning: 'r', passed: true }, { top: { usage } }));
    const { body } = await client.rest(`/api/evaluations/${JUDGE}/evaluate`, {
      data: DATA,
      settings: { model: 'house-judge' },
    });
    expect(body.cost).toEqual({ currency: 'USD', amount: 3 });
  });

  it('makes its types available', async () => {
    const { body } = await callRest(app.address, { path: '/api/evaluations/list' });
    expect(body.evaluators[JUDGE]).toMatchObject({ available: true, unavailableReason: null });
  });

  it('sends the endpoint no key of this server, and shows nobody the key of the endpoint', async () => {
    const error = { message: `no such key: ${KEY.toUpperCase()}`, code: 'invalid_api_key' };
    endpoint.answer({ status: 401, text: JSON.stringify({ error }) });
    const { body } = await client.rest(`/api/evaluations/${JUDGE}/evaluate`, { data: DATA, trace_id: 'judged-2' });
    expect(body).toMatchObject({
      status: 'error',
      error_type: 'LLM_HTTP_ERROR',
      details: 'HTTP 401: invalid_api_key',
    });
    const sent = JSON.stringify(endpoint.received);
    expect(sent).toContain(KEY);
    for (const value of [app.projectKey, app.projectId, app.organizationId]) expect(sent).not.toContain(value);
    const [stored] = await client.evaluationsOf('judged-2');
    expect(stored).toMatchObject({ status: 'error', passed: null, details: body.details });
    expect(stored.error).toMatchObject({ has_error: true, message: `LLM_HTTP_ERROR: ${body.details}` });
    expect(app.logged.join('\n').toLowerCase()).not.toContain(KEY);
  });
});

describe('a guardrail whose judge fails', () => {
  const run = async (name: string, body: object): Promise<Body> => {
    endpoint.answer(REFUSED);
    return (await client.rest(`/api/guardrails/${name}/evaluate`, { data: DATA, ...body })).body;
  };

  it('passes or blocks as configured, and reports the failure in both cases', async () => {
    const failed = { status: 'error', error_type: 'LLM_REFUSED', details: 'I will not.' };
    expect(await run(JUDGE, {})).toEqual({ ...failed, passed: true });
    expect(await run(JUDGE, { on_error: 'pass' })).toEqual({ ...failed, passed: true });
    expect(await run(JUDGE, { on_error: 'block' })).toEqual({ ...failed, passed: false });
    const saved = await evaluators.create('Guard', { evaluatorType: JUDGE, onError: 'block' });
    expect(await run(saved.slug, {})).toEqual({ ...failed, passed: false });
    expect(await run(saved.slug, { on_error: 'pass' })).toEqual({ ...failed, passed: true });
  });

  it('says so over gRPC, too', async () => {
    endpoint.answer(REFUSED, REFUSED);
    const sent = { data: DATA, as_guardrail: true, on_error: 'block' };
    const check = (body: Body) => expect([body.status, body.passed]).toEqual(['error', false]);
    await expectEverywhere(app.address, client.run(JUDGE, sent, { status: 200, check }));
  });
});
