import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import { type Body, expectEverywhere } from '../../support/surfaces.ts';
import { createClient as createEvaluatorClient } from '../evaluators/evaluators-client.ts';
import { mint, restrictedTo } from '../keys/keys-client.ts';
import { createClient, listEvaluatorTypes, type RunBody } from './evaluations-client.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.close();
});

const client = createClient(() => app);
const evaluators = createEvaluatorClient(() => app);

const MATCH = 'langevals/exact_match';
const EQUAL: RunBody = { data: { output: 'a', expected_output: 'a' } };
const PASSED = { status: 'processed', score: 1, passed: true, details: 'a == a' };

const expectRun = (evaluator: string, body: RunBody, expected: Parameters<typeof client.run>[2]) =>
  expectEverywhere(app.address, client.run(evaluator, body, expected));

const equals = (wanted: unknown) => (body: Body) => expect(body).toEqual(wanted);

describe('a run', () => {
  it('answers what the evaluator finds', async () => {
    await expectRun(MATCH, EQUAL, { status: 200, check: equals(PASSED) });
  });

  it('has a path of one part, of two parts, and one for saved evaluators, each also as a guardrail', async () => {
    const saved = await evaluators.create('Same', { evaluatorType: MATCH });
    const names = ['langevals%2Fexact_match', MATCH, saved.id, saved.slug, `evaluators/${saved.slug}`];
    for (const area of ['evaluations', 'guardrails']) {
      for (const name of names) {
        const { status, body } = await client.rest(`/api/${area}/${name}/evaluate`, EQUAL);
        expect([area, name, status, body]).toEqual([area, name, 200, PASSED]);
      }
    }
  });

  it('takes null for what is not sent', async () => {
    const nothing = { trace_id: null, span_id: null, evaluation_id: null, evaluator_id: null, name: null };
    const sent = { ...EQUAL, settings: null, as_guardrail: null, on_error: null, ...nothing };
    await expectRun(MATCH, sent, { status: 200, check: equals(PASSED) });
    const wanted = { status: 'processed', score: 1, passed: true, details: ' == ' };
    const data = { output: '', expected_output: null, unknown: null };
    await expectRun(MATCH, { data }, { status: 200, check: equals(wanted) });
  });

  it('takes any JSON for a text', async () => {
    const data = { output: { a: [1, true] }, expected_output: '{"a":[1,true]}' };
    await expectRun(MATCH, { data }, { status: 200, check: (body) => expect(body.passed).toBe(true) });
    const long = '{"data":{"output":9007199254740993,"expected_output":"9007199254740992"}}';
    expect((await client.rest(`/api/evaluations/${MATCH}/evaluate`, long)).body.passed).toBe(false);
  });

  it('lays its settings over the saved ones, and those over the defaults', async () => {
    const config = { evaluatorType: MATCH, settings: { case_sensitive: true } };
    const { id } = await evaluators.create('Strict', config);
    const data = { output: 'A', expected_output: 'a' };
    const passes = (passed: boolean) => ({ status: 200, check: (body: Body) => expect(body.passed).toBe(passed) });
    await expectRun(id, { data }, passes(false));
    await expectRun(id, { data, settings: { case_sensitive: false } }, passes(true));
    await expectRun(id, { data, settings: { case_sensitive: null } }, passes(false));
  });
});

describe('a run is refused', () => {
  it('without a credential, with a wrong one, and without the permission', async () => {
    await expectRun(MATCH, EQUAL, { status: 401, code: 'missing_credentials', headers: {} });
    const wrong = { 'x-auth-token': `${app.projectKey.slice(0, -1)}!` };
    await expectRun(MATCH, EQUAL, { status: 401, code: 'invalid_credentials', headers: wrong });
    const { token } = await mint(app, restrictedTo(app, 'evaluations:view'));
    const headers = { 'x-auth-token': token, 'x-project-id': app.projectId };
    await expectRun(MATCH, EQUAL, { status: 403, code: 'api_key_permission_denied', headers });
  });

  it('for an evaluator that is not there, or was deleted', async () => {
    const { id } = await evaluators.create('Gone', { evaluatorType: MATCH });
    await evaluators.rest('DELETE', `/api/evaluators/${id}`);
    for (const name of [id, 'nobody', 'langevals/nothing', 'x'.repeat(300), 'a\0b']) {
      const message = `Evaluator not found: ${name.slice(0, 200)}`;
      await expectRun(name, EQUAL, { status: 404, code: 'evaluator_not_found' });
      const { body } = await client.rest(`/api/evaluations/${encodeURIComponent(name)}/evaluate`, EQUAL);
      expect([body.error, body.message]).toEqual([message, message]);
    }
    const { body } = await client.rest(`/api/evaluations/evaluators/${id}/evaluate`, EQUAL);
    expect(body.error).toBe(`Evaluator not found with slug or id: ${id}`);
    expect(body.message).toBe(body.error);
  });

  it('for types that are only kept', async () => {
    const workflow = { name: 'w', type: 'workflow', workflowId: 'workflow_1' };
    const { body } = await evaluators.rest('POST', '/api/evaluators', workflow);
    const refused = await client.rest(`/api/evaluations/${body.id}/evaluate`, {});
    expect(refused.status).toBe(422);
    expect(refused.body).toMatchObject({
      error: 'evaluator_not_runnable',
      code: 'evaluator_not_runnable',
      message: 'Evaluators of type workflow cannot be run by this server',
    });
    await expectRun(body.id, {}, { status: 422, code: 'evaluator_not_runnable' });
  });

  it.each([
    ['presidio/pii_detection', 'needs a local detection model'],
    ['openai/moderation', 'needs a cloud service'],
    ['langevals/similarity', 'needs an embeddings model'],
    ['ragas/faithfulness', 'not implemented in this version'],
  ])('for %s, which this server cannot run', async (id, reason) => {
    const message = `${id} is not available: ${reason}`;
    const check = (body: Body) => expect(body.message).toBe(message);
    const sent = { data: { input: 'x' }, settings: { min_threshold: 'no' } };
    await expectRun(id, sent, { status: 422, code: 'evaluator_unavailable', check });
  });

  it('for data that the evaluator would not see, before its settings and availability', async () => {
    const api = 'langwatch/api_keys_and_secrets_detection';
    const saved = await evaluators.create('Saved', { evaluatorType: MATCH });
    const reads = `${api} reads input, output`;
    const refusals: readonly (readonly [evaluator: string, data: unknown, message: string])[] = [
      [api, undefined, `data is required; ${reads}`],
      [api, null, `data is required; ${reads}`],
      [api, {}, `data must have a field that the evaluator reads; ${reads}`],
      [api, { output: null, trace_id: 't' }, `data must have a field that the evaluator reads; ${reads}`],
      [api, { contexts: ['AKIAIOSFODNN7EXAMPLE'] }, `data must have a field that the evaluator reads; ${reads}`],
      [api, { outptu: 'x' }, `data.outptu is not a known field, the nearest is output; ${reads}`],
      [api, { input: 'x', answer: 'y' }, `data.answer is not a known field; ${reads}`],
      [
        saved.slug,
        { input: 'y' },
        `data must have a field that the evaluator reads; ${MATCH} reads output, expected_output`,
      ],
      [
        'openai/moderation',
        {},
        'data must have a field that the evaluator reads; openai/moderation reads input, output',
      ],
    ];
    for (const [evaluator, data, message] of refusals) {
      const check = (body: Body) => expect(body).toMatchObject({ error: 'invalid_data', message });
      const sent = { ...(data === undefined ? {} : { data }), settings: { unknown: 1 } };
      await expectRun(evaluator, sent, { status: 422, code: 'invalid_data', check });
      const guardrail = await client.rest(`/api/guardrails/${encodeURIComponent(evaluator)}/evaluate`, sent);
      expect([guardrail.status, guardrail.body.message]).toEqual([422, message]);
    }
    const noBody = await client.rest(`/api/guardrails/${api}/evaluate`, undefined);
    expect([noBody.status, noBody.body.code]).toEqual([422, 'invalid_data']);
    // Beside `data` instead of inside.
    const beside = await client.rest(`/api/guardrails/${api}/evaluate`, { output: 'AKIAIOSFODNN7EXAMPLE' });
    expect([beside.status, beside.body.code]).toEqual([422, 'invalid_data']);
    const known = { output: 'x', contexts: [], conversation: [], trace_id: null };
    await expectRun(api, { data: known }, { status: 200, check: (body) => expect(body.passed).toBe(true) });
    // Its result would be stored on no trace.
    for (const member of ['trace_id', 'span_id']) {
      await expectRun(api, { data: { output: 'x', [member]: 5 } }, { status: 422, code: 'validation_error' });
    }
  });

  it('for settings of the wrong shape, before required data is missed', async () => {
    const message = 'Invalid settings for ragas/rouge_score evaluator: rouge_type: must be one of: rouge1, rougeL';
    const settings = { rouge_type: 'rouge2' };
    const check = (body: Body) => expect(body.message).toBe(message);
    await expectRun(
      'ragas/rouge_score',
      { data: { output: 'x' }, settings },
      { status: 422, code: 'invalid_settings', check },
    );
    await expectRun(
      'langevals/competitor_blocklist',
      { data: { output: 'x' }, settings: { competitors: [] } },
      { status: 422, code: 'invalid_settings' },
    );
  });

  it('for a required field that is missing or null', async () => {
    const message = 'expected_output is required for BLEU Score evaluator';
    const { status, body } = await client.rest('/api/evaluations/ragas/bleu_score/evaluate', {
      data: { output: '', expected_output: null },
    });
    expect(status).toBe(400);
    expect(body).toMatchObject({
      error: message,
      message,
      code: 'evaluator_missing_field',
      kind: 'evaluator_missing_field',
      meta: { field: 'expected_output', evaluatorName: 'BLEU Score' },
    });
    await expectRun('ragas/bleu_score', { data: { output: 'x' } }, { status: 400, code: 'evaluator_missing_field' });
  });

  it('for fields of the wrong type, all of them together', async () => {
    const wrong = { data: [], settings: 'x', as_guardrail: 'yes', on_error: 'maybe', name: '', trace_id: '' };
    const { status, body } = await client.rest(`/api/evaluations/nobody/evaluate`, wrong);
    expect(status).toBe(422);
    expect(body.code).toBe('validation_error');
    expect(body.fields.toSorted()).toEqual(['as_guardrail', 'data', 'name', 'on_error', 'settings', 'trace_id']);
    await expectRun('nobody', { data: [] }, { status: 422, code: 'validation_error' });
    await expectRun('nobody', { evaluation_id: 'x'.repeat(201) }, { status: 422, code: 'validation_error' });
    await expectRun('nobody', { data: { span_id: 'a\u0007' } }, { status: 422, code: 'validation_error' });
  });

  it('for more than 10 MiB', async () => {
    const { status, body } = await client.rest(`/api/evaluations/${MATCH}/evaluate`, {
      data: { output: 'x'.repeat(10_485_760) },
    });
    expect([status, body.code, body.limitBytes]).toEqual([413, 'payload_too_large', 10_485_760]);
  });
});

describe('a guardrail', () => {
  it('always says whether something may pass', async () => {
    const sent = { ...EQUAL, as_guardrail: true };
    await expectRun(MATCH, sent, { status: 200, check: equals(PASSED) });
    const skipped = {
      status: 'skipped',
      details: 'LLM endpoint is not configured: set SPANDREL_LLM_BASE_URL',
    };
    await expectRun('langevals/llm_score', EQUAL, { status: 200, check: equals(skipped) });
    const passed = { ...skipped, passed: true };
    await expectRun('langevals/llm_score', sent, { status: 200, check: equals(passed) });
  });
});

describe('the catalogue', () => {
  it('needs no credential', async () => {
    await expectEverywhere(app.address, {
      name: 'types',
      headers: {},
      rest: { path: '/api/evaluations/list' },
      rpc: { method: listEvaluatorTypes, request: {} },
      status: 200,
      check(body) {
        expect(Object.keys(body.evaluators)).toHaveLength(36);
        expect(body.evaluators['langevals/off_topic']).toMatchObject({
          name: 'Off Topic Evaluator',
          category: 'policy',
          isGuardrail: true,
          requiredFields: ['input'],
          optionalFields: [],
          available: false,
          unavailableReason: 'no LLM endpoint is configured (SPANDREL_LLM_BASE_URL)',
          envVars: ['SPANDREL_LLM_BASE_URL', 'SPANDREL_LLM_API_KEY'],
        });
        const { settings, settings_json_schema: schema, result, available } = body.evaluators['ragas/rouge_score'];
        expect(available).toBe(true);
        expect(settings.rouge_type).toEqual({ default: 'rouge1' });
        expect(schema.properties.rouge_type).toEqual({
          type: 'string',
          enum: ['rouge1', 'rougeL'],
          default: 'rouge1',
        });
        expect(Object.keys(result)).toEqual(['score']);
        const descriptions = Object.values<Body>(body.evaluators).map(({ description, name }) => [description, name]);
        for (const [description, name] of descriptions) expect(description).not.toBe(name);
      },
    });
  });
});
