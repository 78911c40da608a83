import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Row, rowOf } from '../../clients/row.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { callRest } from '../support/surfaces.ts';
import { DOCUMENTED, requestsOf } from './documented.ts';
import { readTrace, send } from './sending.ts';
import { sendLogs } from './sending-logs.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 10, 19);

/** A call of OpenAI has 1000 tokens of input, 400 of them cached, and 200 of output, 64 of them reasoning. */
const ALL: Omit<Row, 'types'> = {
  model: 'gpt-5-mini-2025-08-07',
  vendor: 'openai',
  input: 'Rain in Oslo?',
  output: 'It will rain.',
  toolCalls: 'forecast({"city":"Oslo"})',
  tokens: '1000/200',
  cached: 400,
  reasoning: 64,
  cost: 0.00056,
  firstTokens: 0,
  user: 'user-42',
  thread: 'thread-7',
  metadata: null,
  error: null,
};
const DOWN = 'the model is down';
const CLAUDE = 'claude-sonnet-4-5-20250929';
const TWO_CALLS = { tokens: '2000/400', cached: 800, reasoning: 128, cost: 0.00112 } as const;

const EXPECTED: { readonly [client: string]: Row } = {
  // Cached tokens are beside the prompt. The span of a call has no calls of tools.
  'claude-code': {
    ...ALL,
    types: 'agent llm tool tool',
    model: CLAUDE,
    vendor: 'anthropic',
    toolCalls: null,
    tokens: '100/200',
    cached: 600,
    reasoning: null,
    cost: 0.004605,
    firstTokens: 1,
  },
  // Its log records alone tell the user.
  'gemini-cli': {
    ...ALL,
    types: 'llm llm span tool',
    model: 'broken, gemini-2.5-pro',
    vendor: null,
    cost: 0.00344,
    user: null,
    error: DOWN,
  },
  // The first call is one of a version that counts thoughts beside the output.
  'google-adk': {
    ...ALL,
    ...TWO_CALLS,
    types: 'agent llm llm span tool',
    model: 'gemini-2.5-flash',
    vendor: 'gcp.vertex.agent, gcp.gemini',
    cost: 0.001544,
  },
  litellm: {
    ...ALL,
    types: 'guardrail llm llm span',
    model: `broken, ${ALL.model}`,
    output: '[{"id":"call-1","type":"function","function":{"name":"forecast","arguments":{"city":"Oslo"}}}]',
    reasoning: null,
    cost: 0.0007,
    firstTokens: 1,
    error: DOWN,
  },
  // It sends no usage of embeddings.
  llamaindex: {
    ...ALL,
    types: 'component llm rag tool workflow',
    model: `${CLAUDE}, text-embedding-3-small`,
    vendor: 'anthropic',
    input: '{"str_or_query_bundle":"Rain in Oslo?"}',
    cached: null,
    reasoning: null,
    cost: 0.006,
  },
  // A streamed call has no usage, unless the program asks for it.
  logfire: {
    ...ALL,
    types: 'llm llm span span',
    model: `gpt-5-mini, ${ALL.model}`,
    toolCalls: null,
  },
  mlflow: {
    ...ALL,
    types: 'agent llm llm tool',
    model: 'broken, gpt-5-mini',
    reasoning: null,
    metadata: 'plan',
    error: DOWN,
  },
  'openllmetry-go': { ...ALL, types: 'llm workflow', cached: null, reasoning: null, cost: 0.00065 },
  'opentelemetry-java': {
    ...ALL,
    types: 'component llm',
    model: `${ALL.model}, text-embedding-3-small`,
    output: '[{"id":"call-1","type":"function","function":{"name":"forecast","arguments":"{\\"city\\":\\"Oslo\\"}"}}]',
    tokens: '1009/200',
    cached: null,
    reasoning: null,
    cost: 0.00065018,
    user: null,
    thread: null,
  },
  // The second call is one of the earlier package, which sends no cached tokens.
  'opentelemetry-python': {
    ...ALL,
    types: 'llm llm llm span',
    model: `broken, ${ALL.model}`,
    tokens: '2000/400',
    cost: 0.00121,
    error: DOWN,
  },
  'pydantic-ai': { ...ALL, ...TWO_CALLS, types: 'agent llm llm tool', firstTokens: 1 },
  'qwen-code': {
    ...ALL,
    ...TWO_CALLS,
    types: 'agent llm llm llm llm tool',
    firstTokens: 1,
    model: `broken, gpt-5-mini, ${ALL.model}`,
    error: DOWN,
  },
  // Texts of calls are in logs of the application, and nobody is named. Anthropic's cached tokens are beside the prompt.
  'spring-ai': {
    ...ALL,
    types: 'component llm llm llm rag span tool',
    model: `broken, ${CLAUDE}, ${ALL.model}, text-embedding-3-small`,
    vendor: 'spring_ai, openai, anthropic',
    output: null,
    toolCalls: null,
    tokens: '2009/400',
    cached: 1000,
    reasoning: null,
    cost: 0.00786518,
    user: null,
    error: DOWN,
  },
  strands: {
    ...ALL,
    types: 'agent llm llm span tool',
    model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    vendor: 'strands-agents',
    tokens: '200/400',
    cached: 1200,
    reasoning: null,
    cost: 0.010131,
    firstTokens: 1,
  },
};

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ clock: () => NOW_MS });
});
afterAll(() => app.close());

const known = new Set<string>();

/** Those that have come since the last call, oldest first. */
async function newTraces() {
  const body = { pageSize: 100, sortBy: 'started_at', sortDirection: 'asc', startDate: 0, endDate: NOW_MS + DAY_MS };
  const headers = { 'x-auth-token': app.projectKey };
  const found = await callRest(app.address, { verb: 'POST', path: '/api/traces/search', headers, body });
  const ids = found.body.traces.map(({ trace_id: id }: { readonly trace_id: string }) => id);
  const fresh = ids.filter((id: string) => !known.has(id));
  for (const id of fresh) known.add(id);
  return Promise.all(fresh.map((id: string) => readTrace(app, id)));
}

it('each client has its row', () => {
  expect(Object.keys(EXPECTED).toSorted()).toEqual(DOCUMENTED.toSorted());
});

it.each(DOCUMENTED)('what %s sends by its sources is read as its row of the table says', async (client) => {
  const { spans, logs } = requestsOf(client);
  expect(await send(app, 'protobuf', spans)).toEqual({ rejectedSpans: 0, errorMessage: '' });
  if (logs !== undefined) expect(await sendLogs(app, 'protobuf', logs)).toMatchObject({ rejectedLogRecords: 0 });
  const traces = await newTraces();
  expect(rowOf(traces)).toEqual(EXPECTED[client]);
});

/** The spans of a client by their names. */
async function spansOf(client: string) {
  const { spans } = requestsOf(client);
  await send(app, 'JSON', spans);
  const [trace] = await newTraces();
  return (name: string) => trace.spans.find((span: { readonly name: string }) => span.name === name);
}

it('parameters that are sent as text are what the text says', async () => {
  const span = await spansOf('spring-ai');
  expect(span('chat gpt-5-mini').params).toEqual({
    temperature: 0.7,
    max_tokens: 500,
    stop: ['END'],
    stream: true,
    finish_reasons: ['TOOL_CALLS'],
  });
  expect(span('execute_tool forecast')).toMatchObject({
    input: { value: { city: 'Oslo' } },
    output: { value: 'rain' },
  });
});

it('definitions of tools are parameters', async () => {
  const span = await spansOf('opentelemetry-python');
  expect(span('chat gpt-5-mini').params).toMatchObject({
    tools: [{ type: 'function', name: 'forecast' }],
    finish_reasons: ['tool_calls'],
  });
});

it('the first token of Strands is in milliseconds', async () => {
  const span = await spansOf('strands');
  const { started_at: startedAt, first_token_at: firstTokenAt } = span('chat').timestamps;
  expect(firstTokenAt - startedAt).toBe(250);
});
