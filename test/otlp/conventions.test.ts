import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { hex } from '../support/fixtures.ts';
import { attributes, exportOf, id, JSON_TYPE, post, readTrace, SURFACES, send, toOtlpJson } from './sending.ts';

type Said = Parameters<typeof attributes>[0];

const NANO = BigInt(Date.now()) * 1_000_000n;

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ writer: 'in its thread' });
});
afterAll(() => app.close());

function oneSpan(traceId: string, said: Said, events: readonly (readonly [name: string, said: Said])[] = []) {
  return exportOf([
    {
      traceId: id(traceId),
      spanId: id(hex(16)),
      name: 'turn',
      startTimeUnixNano: NANO,
      attributes: attributes(said),
      events: events.map(([name, of]) => ({ name, timeUnixNano: NANO, attributes: attributes(of) })),
    },
  ]);
}

describe.each(SURFACES)('over %s', (surface) => {
  const read = async (...span: [Said, (readonly (readonly [string, Said])[])?]) => {
    const traceId = hex(32);
    expect(await send(app, surface, oneSpan(traceId, ...span))).toEqual({ rejectedSpans: 0, errorMessage: '' });
    return readTrace(app, traceId);
  };

  it('messages in an event are the texts of the trace', async () => {
    const details = {
      'gen_ai.input.messages': '[{"role":"user","parts":[{"type":"text","content":"Which platform?"}]}]',
      'gen_ai.output.messages': [{ role: 'assistant', parts: [{ type: 'text', content: 'Seven.' }] }],
    };
    const event = ['gen_ai.client.inference.operation.details', details] as const;
    expect(await read({ 'gen_ai.operation.name': 'chat' }, [event])).toMatchObject({
      input: { value: 'Which platform?' },
      output: { value: 'Seven.' },
    });
  });

  it('an evaluation in an event is one of the trace', async () => {
    const said = { 'gen_ai.evaluation.name': 'Relevance', 'gen_ai.evaluation.score.value': 0.5 };
    expect(await read({}, [['gen_ai.evaluation.result', said]])).toMatchObject({
      evaluations: [{ name: 'Relevance', score: 0.5, status: 'processed' }],
    });
  });

  it.each([
    ['0.5', 0.5],
    ['1', 1],
  ])('its score as the text %s is the number', async (text, score) => {
    const said = { 'gen_ai.evaluation.name': 'Relevance', 'gen_ai.evaluation.score.value': text };
    expect(await read({}, [['gen_ai.evaluation.result', said]])).toMatchObject({
      evaluations: [{ name: 'Relevance', score, status: 'processed' }],
    });
  });

  it('blank identities do not hide the next attributes', async () => {
    const said = { 'gen_ai.conversation.id': '', 'session.id': 'morning', 'user.id': 'none', 'enduser.id': 'kari' };
    expect(await read(said)).toMatchObject({ metadata: { thread_id: 'morning', user_id: 'kari' } });
  });

  it('the session of an application is the thread', async () => {
    const said = { 'ai.telemetry.metadata.sessionId': 'evening', 'ai.telemetry.metadata.userId': 'ola' };
    expect((await read({ 'operation.name': 'ai.generateText', ...said })).metadata).toEqual({
      thread_id: 'evening',
      user_id: 'ola',
    });
  });
});

describe('instants in langwatch.timestamps', () => {
  const atMs = Number(NANO / 1_000_000n);
  const send = async (stamps: object) => {
    const traceId = hex(32);
    const said = { 'langwatch.timestamps': JSON.stringify(stamps) };
    const answer = await post(app, '/v1/traces', toOtlpJson(oneSpan(traceId, said)), JSON_TYPE);
    const { partialSuccess } = JSON.parse(answer.body.toString());
    const { spans } = await readTrace(app, traceId);
    return { partialSuccess, timestamps: spans[0].timestamps };
  };

  it.each([
    ['seconds', Math.floor(atMs / 1000)],
    ['microseconds', atMs * 1000],
    ['before 2000', 500_000_000_000],
    ['days ahead', atMs + 3 * 86_400_000],
  ])('that are %s give way to those of the span, and are named', async (_, startedAt) => {
    const { partialSuccess, timestamps } = await send({ started_at: startedAt, finished_at: atMs + 5 });
    expect(partialSuccess).toEqual({
      rejectedSpans: 0,
      errorMessage: expect.stringMatching(/^spans\[0\]\.timestamps\.started_at: /),
    });
    expect(timestamps).toMatchObject({ started_at: atMs, finished_at: atMs + 5 });
  });

  it('come before those of the span', async () => {
    const { partialSuccess, timestamps } = await send({ started_at: atMs - 9, finished_at: atMs - 1 });
    expect([partialSuccess, timestamps]).toMatchObject([undefined, { started_at: atMs - 9, finished_at: atMs - 1 }]);
  });
});

describe("Langfuse's route", () => {
  const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

  it('takes spans with a project key as the password, whoever the user is', async () => {
    const traceId = hex(32);
    const said = {
      'langfuse.observation.type': 'generation',
      'langfuse.observation.model.name': 'gpt-5-mini',
      'langfuse.observation.input': 'hi',
      'langfuse.observation.output': 'yes',
      'langfuse.observation.usage_details': '{"input":600,"input_cached_tokens":400,"output":200,"total":1200}',
      'langfuse.observation.completion_start_time': JSON.stringify(new Date(Number(NANO / 1_000_000n)).toISOString()),
      'langfuse.observation.level': 'ERROR',
      'langfuse.observation.status_message': 'boom',
      'langfuse.trace.tags': ['beta'],
      'langfuse.trace.metadata.plan': 'pro',
      'user.id': 'user-42',
      'session.id': 'thread-7',
    };
    const authorization = basic('pk-lf-any', app.projectKey);
    const headers = { ...JSON_TYPE, 'x-auth-token': '', authorization };
    const answer = await post(app, '/api/public/otel/v1/traces', toOtlpJson(oneSpan(traceId, said)), headers);
    expect([answer.status, answer.body.toString()]).toEqual([200, '{}']);
    expect(await readTrace(app, traceId)).toMatchObject({
      input: { value: 'hi' },
      output: { value: 'yes' },
      metadata: { user_id: 'user-42', thread_id: 'thread-7', labels: ['beta'], plan: 'pro' },
      metrics: { prompt_tokens: 1000, completion_tokens: 200 },
      spans: [{ type: 'llm', model: 'gpt-5-mini', error: { message: 'boom' } }],
    });
  });

  it('refuses an unknown key', async () => {
    const headers = { ...JSON_TYPE, 'x-auth-token': '', authorization: basic('pk', 'sk-lf-unknown') };
    const answer = await post(app, '/api/public/otel/v1/traces', toOtlpJson(oneSpan(hex(32), {})), headers);
    expect(answer.status).toBe(401);
  });
});
