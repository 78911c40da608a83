/** Evaluations that are cheap to ask for: results that copy what they judged, and questions to a model that others pay. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { startTarget, type Target } from '../../support/attack-target.ts';
import { hex } from '../../support/fixtures.ts';
import { inParallel } from '../../support/scenario.ts';
import { callRest } from '../../support/surfaces.ts';
import { until } from '../../support/temp.ts';

const TRACES = 24;
const RUNS = 6;
const MONITORS = 100;
/** What the runs and monitors judge; together the runs judge 130 MiB, and the monitors 86 MiB. */
const OUTPUT = 'o'.repeat(900_000);
/** With up to 22 MiB of traces that were stored before, which SQLite moves from its log to the database meanwhile. */
const GROWN_MAX_BYTES = 40 * 1024 * 1024;
const RUNS_OF_HOUR = 60;
const QUESTIONS = 2_000;
const AT_ONCE = 64;
const SERVED_MEANWHILE = 60;
const BUDGET_USD = 0.05;
/** Of gpt-5-mini: 250,000 nano-USD for a thousand tokens of the prompt, 2,000 for each token of the answer. */
const ANSWER = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 };
const ANSWER_USD = 0.00045;
const REQUEST_MAX_BYTES = 256 * 1024;
const ANSWER_MAX_TOKENS = 200;

type Asked = { readonly bytes: number; readonly model: string; readonly tokensMax: number };

let target: Target;
let model: Server;
const asked: Asked[] = [];
beforeAll(async () => {
  model = await startModel();
  target = await startTarget({
    SPANDREL_LLM_BASE_URL: `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`,
    SPANDREL_LLM_MODELS: 'gpt-5-mini',
    SPANDREL_LLM_BUDGET_USD: String(BUDGET_USD),
    SPANDREL_LLM_MAX_TOKENS: String(ANSWER_MAX_TOKENS),
  });
});
beforeEach(() => target.revive());
afterAll(async () => {
  await target.close();
  model.closeAllConnections();
  model.close();
});

/** A model that answers every question with yes. */
async function startModel(): Promise<Server> {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const bytes = Buffer.concat(parts);
    const { model: name, max_completion_tokens: tokensMax } = JSON.parse(bytes.toString());
    asked.push({ bytes: bytes.length, model: name, tokensMax });
    const content = JSON.stringify({ reasoning: 'It is so.', passed: true });
    const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }];
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ choices, usage: ANSWER }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

const ask = (verb: string, path: string, body?: object) =>
  callRest(target.address, { verb, path, headers: { 'x-auth-token': target.key }, ...(body && { body }) });

async function make(path: string, body: object): Promise<string> {
  const answer = await ask('POST', path, body);
  expect([200, 201], answer.text.slice(0, 300)).toContain(answer.status);
  return answer.body.id;
}

const makeEvaluator = (evaluatorType: string) =>
  make('/api/evaluators', { name: `Judge ${hex(8)}`, config: { evaluatorType } });

async function send(traceId: string): Promise<void> {
  const startedAt = Date.now();
  const timestamps = { started_at: startedAt, finished_at: startedAt + 5 };
  const span = { span_id: 's', type: 'span', output: { type: 'text', value: OUTPUT }, timestamps };
  const answer = await ask('POST', '/api/collector', { trace_id: traceId, expected_output: 'right', spans: [span] });
  expect(answer.status, answer.text.slice(0, 300)).toBe(200);
}

/** Bytes that the database uses. */
async function storedBytes(): Promise<number> {
  const page = await (await fetch(`${target.address}/metrics`)).text();
  const read = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(page)?.[1] ?? 0);
  const bytes = read('spandrel_database_bytes');
  expect(bytes).toBeGreaterThan(0);
  return bytes - read('spandrel_database_free_bytes');
}

it(`P1: ${RUNS} runs over ${TRACES} large traces, and as many more as the hour allows`, async () => {
  const traceIds = Array.from({ length: TRACES }, () => hex(32));
  await inParallel(traceIds, 2, send);
  const evaluator = await makeEvaluator('langevals/exact_match');
  const run = (ids: readonly string[]) => ask('POST', `/api/evaluators/${evaluator}/run`, { traceIds: ids });
  const before = await storedBytes();
  await target.attack({ id: 'P1', n: RUNS_OF_HOUR }, async ({ serves }) => {
    const runAll = async () => {
      for (let begun = 0; begun < RUNS; begun += 1) {
        const { status, body } = await run(traceIds);
        expect(status).toBe(201);
        await until(async () => (await ask('GET', `/api/evaluations/runs/${body.id}`)).body.status === 'completed');
      }
    };
    await Promise.all([runAll(), serves(SERVED_MEANWHILE)]);
    await until(async () => {
      const { status, body } = await run(['none']);
      if (status === 201) return false;
      expect(body).toMatchObject({ error: 'evaluator_run_limit_reached' });
      // Also refused while twenty of them run.
      return body.message.includes(`${RUNS_OF_HOUR} runs of evaluators within an hour`);
    });
  });
  expect((await storedBytes()) - before).toBeLessThan(GROWN_MAX_BYTES);
});

it(`P2: ${MONITORS} monitors on one large trace`, async () => {
  const evaluatorId = await makeEvaluator('langevals/exact_match');
  for (let made = 0; made < MONITORS; made += 1) await make('/api/monitors', { name: `Monitor ${made}`, evaluatorId });
  const before = await storedBytes();
  const traceId = hex(32);
  await target.attack({ id: 'P2', n: MONITORS }, async ({ serves }) => {
    await Promise.all([send(traceId), serves(SERVED_MEANWHILE)]);
    const countResults = async () => {
      const { body } = await ask('GET', `/api/traces/${traceId}`);
      return body.evaluations?.length ?? 0;
    };
    await until(async () => (await countResults()) >= MONITORS);
  });
  expect((await storedBytes()) - before).toBeLessThan(GROWN_MAX_BYTES);
});

it(`P3: ${QUESTIONS} questions to a model, with prompts of megabytes and answers without end`, async () => {
  await target.attack({ id: 'P3', n: QUESTIONS }, async ({ serves }) => {
    const judge = async (index: number) => {
      // The first and the last may reach the model while there is a budget; the others ask for what is not allowed.
      const settings = [
        {},
        { prompt: 'p'.repeat(900_000) },
        { model: 'gpt-5-pro' },
        { model: 'openai/gpt-5-pro', max_tokens: 1e9 },
        { max_tokens: 1e9 },
      ][index % 5];
      const body = { data: { input: 'Who?', output: 'Me.' }, settings };
      const { status } = await ask('POST', '/api/evaluations/langevals/llm_boolean/evaluate', body);
      expect([200, 503]).toContain(status);
    };
    const questions = Array.from({ length: QUESTIONS }, (_, index) => index);
    await Promise.all([inParallel(questions, AT_ONCE, judge), serves(SERVED_MEANWHILE)]);
  });
  expect(asked.length).toBeGreaterThan(0);
  expect(asked.length * ANSWER_USD).toBeLessThanOrEqual(BUDGET_USD);
  for (const { bytes, model: name, tokensMax } of asked) {
    expect(bytes).toBeLessThanOrEqual(REQUEST_MAX_BYTES);
    expect(tokensMax).toBe(ANSWER_MAX_TOKENS);
    expect(name).toBe('gpt-5-mini');
  }
});
