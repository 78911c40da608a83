/** What has to be read of each client, here and in the tests that send its recorded requests. */

import type { ClientName } from './clients.ts';
import type { Row } from './row.ts';

const FORECAST = 'forecast({"city":"Oslo"})';
const CLAUDE = 'claude-sonnet-4-5-20250929';
const DATED = 'gpt-5-mini-2025-08-07';

/** A call of OpenAI has 1000 tokens of input, 400 of them cached, and 200 of output, 64 of them reasoning. */
const TWO_CALLS = { tokens: '2000/400', cached: 800, reasoning: 128, cost: 0.00112 } as const;

const ALL: Omit<Row, 'types' | 'model'> = {
  vendor: 'openai',
  input: 'Rain in Oslo?',
  output: 'It will rain.',
  toolCalls: FORECAST,
  ...TWO_CALLS,
  firstTokens: 0,
  user: 'user-42',
  thread: 'thread-7',
  metadata: null,
  error: 'the model is down',
};

/** Of Anthropic: 100 tokens of input, 600 read from the cache, 300 written to it, and 200 of output. */
const TWO_CALLS_OF_CLAUDE = { tokens: '2000/400', cached: 1200, reasoning: null, cost: 0.00921 } as const;

export const EXPECTED: { readonly [Name in ClientName]: Row } = {
  opentelemetry: { ...ALL, types: 'agent llm llm llm tool', model: `broken, ${DATED}`, error: 'ServerError' },
  'ai-sdk-openai': {
    ...ALL,
    types: 'agent agent agent component component llm llm llm llm span span span span span tool',
    firstTokens: 1,
    model: `broken, gpt-5-mini, ${DATED}, text-embedding-3-small`,
    tokens: '3009/600',
    cached: 1200,
    reasoning: 192,
    cost: 0.00168018,
  },
  'ai-sdk-anthropic': {
    ...ALL,
    vendor: 'anthropic',
    types: 'agent agent agent llm llm llm llm span span span span span tool',
    firstTokens: 1,
    model: `broken, ${CLAUDE}`,
    tokens: '3000/600',
    cached: 1800,
    reasoning: null,
    cost: 0.013815,
  },
  // It sends no usage of streams and embeddings, and no span of a call that fails.
  'openinference-openai': {
    ...ALL,
    types: 'chain component llm llm llm',
    model: `gpt-5-mini, ${DATED}, text-embedding-3-small`,
    error: null,
  },
  // Anthropic's package sends each call a second time.
  'openinference-anthropic': {
    ...ALL,
    ...TWO_CALLS_OF_CLAUDE,
    vendor: 'anthropic',
    types: 'chain llm llm llm llm llm llm',
    firstTokens: 1,
    model: `broken, ${CLAUDE}`,
    // The second is that of the SDK's own span of the same call.
    error: '500 {"type":"error","error":{"message":"the model is down","type":"server_error"}}, server_error',
  },
  // It sends no cached and reasoning tokens. Texts come as log records.
  'instrumentation-openai': {
    ...ALL,
    types: 'component llm llm llm llm span',
    model: `broken, ${DATED}, text-embedding-3-small`,
    tokens: '3009/600',
    cached: null,
    reasoning: null,
    cost: 0.00195018,
    error: '500 the model is down',
  },
  // Anthropic's package sends each call a second time.
  'openllmetry-anthropic': {
    ...ALL,
    ...TWO_CALLS_OF_CLAUDE,
    vendor: 'anthropic',
    types: 'llm llm llm llm llm llm workflow',
    firstTokens: 1,
    model: `broken, ${CLAUDE}`,
    error: '500 {"type":"error","error":{"message":"the model is down","type":"server_error"}}, server_error',
  },
  // It sends no cached tokens, estimates the usage of streams, and knows neither embeddings nor failed calls.
  'openllmetry-openai': {
    ...ALL,
    types: 'llm llm llm workflow',
    model: DATED,
    tokens: '2009/404',
    cached: null,
    reasoning: null,
    cost: 0.00131025,
    error: null,
  },
  // It sends no texts.
  'anthropic-sdk': {
    ...TWO_CALLS_OF_CLAUDE,
    vendor: 'anthropic',
    types: 'llm llm llm span',
    firstTokens: 1,
    model: `broken, ${CLAUDE}`,
    input: null,
    output: null,
    toolCalls: null,
    user: null,
    thread: null,
    metadata: null,
    error: 'server_error',
  },
  // It sends no usage of embeddings.
  langfuse: {
    ...ALL,
    types: 'agent llm llm llm llm llm',
    firstTokens: 1,
    model: `broken, gpt-5-mini, ${DATED}, text-embedding-3-small`,
    tokens: '3000/600',
    cached: 1200,
    reasoning: 192,
    cost: 0.00168,
    vendor: null,
    metadata: 'labels, metadata, status, tools',
    error: 'Error: 500 the model is down',
  },
  // A streamed call is sent as the root of the trace, where it looks like the same call as its first child. It knows no
  // embeddings, and a failed call has no error.
  langsmith: {
    ...ALL,
    types: 'llm llm llm llm',
    vendor: 'openai, langchain',
    model: `broken, ${DATED}`,
    error: null,
  },
  mastra: {
    ...ALL,
    types: 'agent agent llm llm llm span span span span span span span span tool',
    firstTokens: 2,
    metadata: 'labels, runId',
    model: `broken, ${DATED}`,
  },
  'openinference-langchain': {
    ...ALL,
    types: 'chain llm llm llm tool',
    metadata: 'ls_integration, ls_model_name, ls_model_type, ls_provider, versions',
    model: 'broken, gpt-5-mini',
    error: '500 the model is down\n\nError: 500 the model is down',
  },
  // It sends no user.
  'openinference-openai-agents': {
    ...ALL,
    types: 'agent agent chain chain chain llm llm tool',
    model: DATED,
    user: null,
    thread: null,
    error: null,
  },
  langwatch: {
    ...ALL,
    types: 'agent llm tool',
    vendor: null,
    model: 'gpt-5-mini',
    tokens: '1000/200',
    cached: null,
    reasoning: null,
    cost: 0.00065,
  },
};
