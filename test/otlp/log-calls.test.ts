import { readFileSync } from 'node:fs';
import { fromJson } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ExportLogsServiceRequestSchema } from '../../gen/opentelemetry/proto/collector/logs/v1/logs_service_pb.js';
import { startApp, type TestApp } from '../support/app.ts';
import { hex } from '../support/fixtures.ts';
import { callRest } from '../support/surfaces.ts';
import { attributes, id, JSON_TYPE, post, readTrace, SURFACES } from './sending.ts';
import { type LogsInit, logsOf, logsToJson, type RecordInit, sendLogs } from './sending-logs.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ environment: { SPANDREL_MAX_SPANS_PER_REQUEST: '100' } });
});
afterAll(() => app.close());

/** Written from the public documentation and sources of the clients, not recorded. */
function documented(client: string): LogsInit {
  const text = readFileSync(new URL(`./documented/${client}-logs.json`, import.meta.url), 'utf8');
  return fromJson(ExportLogsServiceRequestSchema, JSON.parse(text), { ignoreUnknownFields: true });
}

/** The trace of a session. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads arbitrary JSON.
async function traceOf(threadId: string): Promise<any> {
  const { body } = await callRest(app.address, {
    verb: 'POST',
    path: '/api/traces/search',
    headers: { 'x-auth-token': app.projectKey },
    body: { filters: { 'metadata.thread_id': [threadId] } },
  });
  expect(body.traces).toHaveLength(1);
  return readTrace(app, body.traces[0].trace_id);
}

async function countEvents(): Promise<number> {
  const { body } = await callRest(app.address, {
    path: `/api/webhooks/v1/events?from=0&to=${Date.now() + 60_000}&limit=200`,
    headers: { 'x-auth-token': app.adminKey },
  });
  return body.data.length;
}

const CLIENTS = ['claude-code', 'codex', 'gemini-cli'];
const NO_LOSS = { rejectedLogRecords: 0, errorMessage: '' };

describe('log records that describe calls', () => {
  it('of Claude Code become spans of their session, with usage, cost, times, user and errors', async () => {
    expect(await sendLogs(app, 'JSON', documented('claude-code'))).toEqual(NO_LOSS);
    const { spans, metadata } = await traceOf('claude-session-1');
    expect(metadata).toMatchObject({ thread_id: 'claude-session-1', user_id: '0b5f6c' });
    expect(spans).toMatchObject([
      {
        type: 'llm',
        name: 'claude_code.api_request',
        model: 'claude-sonnet-4-5-20250929',
        metrics: {
          prompt_tokens: 100,
          completion_tokens: 200,
          cache_read_input_tokens: 600,
          cache_creation_input_tokens: 300,
          cost: 0.004605,
        },
        timestamps: { started_at: 1795000000500, first_token_at: 1795000000900, finished_at: 1795000003000 },
        error: null,
      },
      {
        type: 'llm',
        name: 'claude_code.api_error',
        timestamps: { started_at: 1795000004100, finished_at: 1795000005000 },
        error: { message: 'overloaded_error' },
      },
    ]);
  });

  it('of Claude Code show the answer that another record has, whichever comes first', async () => {
    const about = { 'session.id': 'claude-answers', request_id: 'req_9', model: 'claude-sonnet-4-5' };
    const record = (name: string, more: { readonly [key: string]: string | number }): RecordInit => ({
      timeUnixNano: BigInt(Date.now()) * 1_000_000n,
      body: { value: { case: 'stringValue', value: `claude_code.${name}` } },
      attributes: attributes({ 'event.name': name, ...about, ...more }),
    });
    const call = record('api_request', { input_tokens: 100, output_tokens: 200 });
    const answer = record('assistant_response', { response: 'Yes, from noon.', response_length: 15 });
    for (const each of [answer, call]) {
      await sendLogs(app, 'JSON', logsOf([each], { 'service.name': 'claude-code' }));
    }
    const { spans, output } = await traceOf('claude-answers');
    expect(spans).toMatchObject([{ name: 'claude_code.api_request', metrics: { prompt_tokens: 100 } }]);
    expect(output).toMatchObject({ value: 'Yes, from noon.' });
  });

  it('of Codex become spans, also where counts are texts and the record has no instant of its own', async () => {
    expect(await sendLogs(app, 'gRPC', documented('codex'))).toEqual(NO_LOSS);
    const { spans, metadata } = await traceOf('codex-session-1');
    expect(metadata).toMatchObject({ thread_id: 'codex-session-1', user_id: 'acc-7' });
    expect(spans).toMatchObject([
      {
        type: 'llm',
        name: 'codex.sse_event',
        model: 'gpt-5-mini',
        metrics: {
          prompt_tokens: 1000,
          completion_tokens: 200,
          cache_read_input_tokens: 400,
          reasoning_tokens: 64,
          // 600 × 0.25 + 400 × 0.025 + 200 × 2, for a million.
          cost: 0.00056,
        },
        timestamps: { started_at: 1795000001500, finished_at: 1795000001500 },
      },
    ]);
  });

  it('of Gemini CLI become spans, with the messages of the record that repeats the call', async () => {
    expect(await sendLogs(app, 'protobuf', documented('gemini-cli'))).toEqual(NO_LOSS);
    const { spans, metadata } = await traceOf('gemini-session-1');
    expect(metadata).toMatchObject({ thread_id: 'gemini-session-1', user_id: 'ada@example.com' });
    expect(spans).toHaveLength(2);
    expect(spans).toMatchObject([
      {
        type: 'llm',
        name: 'gemini_cli.api_response',
        model: 'gemini-2.5-pro',
        metrics: {
          prompt_tokens: 12000,
          completion_tokens: 350,
          cache_read_input_tokens: 8000,
          reasoning_tokens: 420,
          // 4000 × 1.25 + 8000 × 0.125 + (350 + 420) × 10, for a million.
          cost: 0.0137,
        },
        timestamps: { started_at: 1795000000000, finished_at: 1795000002311 },
        input: { value: [{ role: 'system', content: [{ content: 'Be brief.' }] }, { role: 'user' }] },
        output: { value: [{ role: 'assistant', content: [{ content: 'Yes, from noon.' }] }] },
      },
      { name: 'gemini_cli.api_error', error: { message: 'quota exceeded' } },
    ]);
  });

  it.each(CLIENTS)('of %s, any of them sent twice, in any order, leave the same trace', async (client) => {
    const [group] = documented(client).resourceLogs ?? [];
    const [{ scope, logRecords = [] } = {}] = group?.scopeLogs ?? [];
    const one = (record: RecordInit) => ({
      resourceLogs: [{ resource: group?.resource, scopeLogs: [{ scope, logRecords: [record] }] }],
    });
    await sendLogs(app, 'JSON', documented(client));
    const thread = `${client.split('-')[0]}-session-1`;
    const { timestamps: _, ...trace } = await traceOf(thread);
    for (const record of [...logRecords, ...logRecords].toReversed()) {
      await sendLogs(app, 'JSON', one(record) as LogsInit);
      expect(await traceOf(thread)).toMatchObject(trace);
    }
  });

  it.each(SURFACES)('sent again over %s change nothing', async (surface) => {
    await sendLogs(app, 'protobuf', documented('codex'));
    const [trace, events] = [await traceOf('codex-session-1'), await countEvents()];
    await sendLogs(app, surface, documented('codex'));
    const again = await traceOf('codex-session-1');
    expect(again).toEqual({ ...trace, timestamps: again.timestamps });
    expect(await countEvents()).toBe(events);
  });

  it('of two UTC days are in two traces of the session, and those without a session in one each', async () => {
    const call = (changes: { readonly [key: string]: string | number }, timeMs = Date.now()): RecordInit => ({
      timeUnixNano: BigInt(timeMs) * 1_000_000n,
      eventName: 'gen_ai.client.inference.operation.details',
      attributes: attributes({
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'gpt-5-mini',
        'gen_ai.usage.input_tokens': 10,
        'gen_ai.usage.output_tokens': 2,
        'gen_ai.input.messages': '[{"role":"user","parts":[{"type":"text","content":"Rain?"}]}]',
        'user.id': 'days',
        ...changes,
      }),
    });
    const DAY_MS = 86_400_000;
    const inSession = { 'session.id': 'session-of-two-days' };
    await sendLogs(
      app,
      'protobuf',
      logsOf([call(inSession), call(inSession, Date.now() - DAY_MS), call({}), call({ n: 1 })]),
    );
    const { body } = await callRest(app.address, {
      verb: 'POST',
      path: '/api/traces/search',
      headers: { 'x-auth-token': app.projectKey },
      body: { filters: { 'metadata.user_id': ['days'] } },
    });
    expect(body.traces).toHaveLength(4);
    expect(body.traces[0].input.value).toBe('Rain?');
  });

  it('with a trace id and no span id become spans of that trace, once however often they are sent', async () => {
    const traceId = hex(32);
    const ofTrace = (record: RecordInit): RecordInit => ({ traceId: id(traceId), ...record });
    const about = { 'gen_ai.request.model': 'gpt-5-mini', 'gen_ai.usage.input_tokens': 10 };
    const records = [
      ofTrace({
        timeUnixNano: BigInt(Date.now()) * 1_000_000n,
        eventName: 'gen_ai.client.inference.operation.details',
        attributes: attributes({ 'gen_ai.operation.name': 'chat', 'gen_ai.usage.output_tokens': 2, ...about }),
      }),
      ofTrace(documentedCall()),
    ];
    for (const _ of ['once', 'again']) expect(await sendLogs(app, 'protobuf', logsOf(records))).toEqual(NO_LOSS);
    const { spans, metrics } = await readTrace(app, traceId);
    expect(spans.map(({ type, model }: { type: string; model: string }) => [type, model]).toSorted()).toEqual([
      ['llm', 'gemini-2.5-pro'],
      ['llm', 'gpt-5-mini'],
    ]);
    expect(metrics).toMatchObject({ prompt_tokens: 11, completion_tokens: 3 });
  });

  it('are refused one by one, with their place in the request', async () => {
    const broken = { ...documentedCall(), attributes: [] };
    const json = JSON.parse(logsToJson(logsOf([documentedCall({ timeUnixNano: 5n }), broken, documentedCall()])));
    json.resourceLogs[0].scopeLogs[0].logRecords[1].traceId = 'abc';
    const answer = await post(app, '/api/otel/v1/logs', JSON.stringify({ ...json, resource_logs: [] }), JSON_TYPE);
    const { rejectedLogRecords, errorMessage } = JSON.parse(answer.body.toString()).partialSuccess;
    expect(rejectedLogRecords).toBe(2);
    expect(errorMessage).toMatch(
      /^logRecords\[0\]\.startTimeUnixNano: must be nanoseconds .*; logRecords\[1\]\.traceId: must be 16 bytes .*; resource_logs: is not a member/,
    );
  });

  it('may be as many as spans', async () => {
    const many = logsOf(Array.from({ length: 101 }, () => ({})));
    for (const surface of SURFACES)
      await expect(sendLogs(app, surface, many)).rejects.toThrow(/Too many log records|413/);
  });
});

function documentedCall(changes: RecordInit = {}): RecordInit {
  return {
    timeUnixNano: BigInt(Date.now()) * 1_000_000n,
    attributes: attributes({
      'event.name': 'gemini_cli.api_response',
      model: 'gemini-2.5-pro',
      input_token_count: 1,
      output_token_count: 1,
      'session.id': 'refusals',
    }),
    ...changes,
  };
}
