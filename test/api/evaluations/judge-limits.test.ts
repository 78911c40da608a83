import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { completion, type Endpoint, startEndpoint } from '../../evaluation/judge/endpoint.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { callRest, expectEverywhere } from '../../support/surfaces.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { createClient } from './evaluations-client.ts';

const JUDGE = 'langevals/llm_boolean';
const DATA = { input: 'Who?', output: 'Me.' };
const DAY_MS = 86_400_000;
/** Of gpt-5-mini on this day: 250,000 nano-USD for a thousand tokens of the prompt, 200,000 for a hundred of the answer. */
const NOW_MS = Date.parse('2026-11-20T12:00:00Z');
const CALL_USD = 0.00045;
const YES = completion({ reasoning: 'It is so.', passed: true });

let endpoint: Endpoint;
let app: TestApp;
let nowMs = NOW_MS;
beforeAll(async () => {
  endpoint = await startEndpoint();
});
afterEach(async () => {
  await app.close();
  nowMs = NOW_MS;
});
afterAll(() => endpoint.close());

const client = createClient(() => app);

async function start(settings: { readonly [name: string]: string }, options: Parameters<typeof startApp>[0] = {}) {
  const environment = { SPANDREL_LLM_BASE_URL: endpoint.baseUrl, ...settings };
  app = await startApp({ clock: () => nowMs, ...options, environment });
}

async function judge(body: object = {}, surface = 'evaluations') {
  endpoint.answer(YES);
  return (await client.rest(`/api/${surface}/${JUDGE}/evaluate`, { data: DATA, ...body })).body;
}

const askedCount = () => endpoint.received.length;

describe('what an operator allows to evaluators', () => {
  it('is at most so many tokens of an answer and bytes of a request, without any setting', async () => {
    await start({});
    expect(await judge({ settings: { max_tokens: 1_000_000_000 } })).toMatchObject({ status: 'processed' });
    expect(endpoint.received[0]?.body.max_completion_tokens).toBe(16_384);
    expect(await judge({ settings: { max_tokens: -5 } })).toMatchObject({ status: 'processed' });
    expect(endpoint.received[0]?.body.max_completion_tokens).toBe(1);
    expect(await judge({ settings: { prompt: 'x'.repeat(300_000) } })).toMatchObject({
      status: 'error',
      error_type: 'LLM_REQUEST_TOO_LARGE',
      details: expect.stringMatching(/^The request to the model takes 300\d{3} bytes; at most 262144 are allowed.$/),
    });
    expect(askedCount()).toBe(0);
  });

  it('is no way past a guardrail: what is too large to be looked at is refused', async () => {
    await start({});
    for (const [evaluator, characters] of [
      [JUDGE, 300_000],
      ['langwatch/api_keys_and_secrets_detection', 2_200_000],
    ] as const) {
      const asked = { data: { output: `${'x'.repeat(characters)} AKIAIOSFODNN7EXAMPLE` }, on_error: 'pass' };
      const { status, body } = await client.rest(`/api/guardrails/${evaluator}/evaluate`, asked);
      expect({ status, code: body.code }, evaluator).toEqual({ status: 422, code: 'invalid_data' });
      // Without a verdict to give, it is an error of the run.
      expect((await client.rest(`/api/evaluations/${evaluator}/evaluate`, asked)).body.status).toBe('error');
    }
    expect(askedCount()).toBe(0);
  });

  it('are the listed models and the default one', async () => {
    await start({ SPANDREL_LLM_MODELS: 'gpt-5, openai/gpt-5-nano' });
    for (const model of ['gpt-5', 'openai/gpt-5-nano', 'gpt-5-mini', '', null]) {
      expect(await judge({ settings: { model } })).toMatchObject({ status: 'processed' });
    }
    const run = { data: DATA, settings: { model: 'o1-pro' } };
    const details = 'The model o1-pro is not allowed by the operator of this server.';
    const check = (body: object) =>
      expect(body).toMatchObject({ status: 'error', error_type: 'LLM_MODEL_NOT_ALLOWED', details });
    endpoint.answer();
    await expectEverywhere(app.address, client.run(JUDGE, run, { status: 200, check }));
    expect(askedCount()).toBe(0);
    expect(await judge({ settings: { model: 'o1-pro' }, on_error: 'block' }, 'guardrails')).toMatchObject({
      status: 'error',
      passed: false,
    });
  });
});

describe('the budget of a project for a day', () => {
  const BUDGET = { SPANDREL_LLM_BUDGET_USD: '0.002', SPANDREL_LLM_MAX_TOKENS: '100' };
  const EXCEEDED = { status: 'error', error_type: 'LLM_BUDGET_EXCEEDED' };

  /** Judges until the budget is used up; returns the number of judgements. */
  async function useUp(): Promise<number> {
    for (let judged = 0; judged < 20; judged += 1) {
      const answer = await judge();
      if (answer.status === 'error') {
        expect(answer).toMatchObject(EXCEEDED);
        expect(askedCount()).toBe(0);
        return judged;
      }
      expect(answer.cost.amount).toBe(CALL_USD);
      expect(endpoint.received[0]?.body.max_completion_tokens).toBe(100);
    }
    throw new Error('the budget has no end');
  }

  it('ends judgements before it is exceeded, over a restart and until the next day', async () => {
    const database = await createTestDatabase();
    const kept = { ...database, remove: async () => undefined };
    await start(BUDGET, { database: kept });
    // The last of five calls could still be afforded by its cost, but not by the highest price that it may have.
    expect(await useUp()).toBe(4);
    const { projectKey } = app;
    await app.close();
    await start(BUDGET, { database });
    app = { ...app, projectKey };
    expect(await judge()).toMatchObject(EXCEEDED);
    expect(await judge({ on_error: 'block' }, 'guardrails')).toMatchObject({ ...EXCEEDED, passed: false });
    expect(await judge({ on_error: 'pass' }, 'guardrails')).toMatchObject({ ...EXCEEDED, passed: true });
    nowMs += DAY_MS / 2 - 1;
    expect(await judge()).toMatchObject(EXCEEDED);
    nowMs += 1;
    expect(await useUp()).toBe(4);
  });

  it('is one of each project', async () => {
    await start(BUDGET);
    await useUp();
    const headers = { 'x-auth-token': app.adminKey };
    const made = await callRest(app.address, { verb: 'POST', path: '/api/projects', headers, body: { name: 'Other' } });
    app = { ...app, projectKey: made.body.apiKey };
    expect(await useUp()).toBe(4);
  });

  it('is not touched by calls that were refused, and pays the highest price for answers that tell no usage', async () => {
    await start(BUDGET);
    for (let round = 0; round < 20; round += 1) {
      endpoint.answer({ status: 401, text: '{}' });
      const { body } = await client.rest(`/api/evaluations/${JUDGE}/evaluate`, { data: DATA });
      expect(body).toMatchObject({ error_type: 'LLM_HTTP_ERROR' });
    }
    endpoint.answer(completion('I think so.', { top: { usage: null } }), YES);
    await client.rest(`/api/evaluations/${JUDGE}/evaluate`, { data: DATA });
    expect(await useUp()).toBe(2);
  });

  it('does not follow the prices that an organization sets for itself', async () => {
    await start(BUDGET);
    const body = { model: 'gpt-5-mini', match: 'exact', inputCostPerToken: 0, outputCostPerToken: 0 };
    const headers = { 'x-auth-token': app.adminKey };
    const set = await callRest(app.address, { verb: 'POST', path: '/api/pricing/overrides', headers, body });
    expect(set.status).toBe(201);
    for (let judged = 0; judged < 4; judged += 1) {
      expect(await judge()).toMatchObject({ status: 'processed', cost: { amount: 0 } });
    }
    expect(await judge()).toMatchObject(EXCEEDED);
  });

  it.each(['refuse', 'allow'])('can %s models without a price', async (rule) => {
    await start({ ...BUDGET, SPANDREL_LLM_UNPRICED: rule });
    const answer = await judge({ settings: { model: 'house-judge' } });
    if (rule === 'allow') expect(answer).toMatchObject({ status: 'processed' });
    else expect(answer).toMatchObject({ status: 'error', error_type: 'LLM_MODEL_UNPRICED' });
    expect(askedCount()).toBe(rule === 'allow' ? 1 : 0);
  });
});
