/** Serves what clients call of the APIs of OpenAI and Anthropic, on a local port: a model that asks for a tool, then answers. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Provider = { readonly address: string; close(): void };

/** A request, as far as the answer depends on it. */
type Asked = {
  readonly model: string;
  readonly stream?: boolean;
  readonly tools?: readonly unknown[];
  readonly messages?: readonly unknown[];
  readonly input?: unknown;
};

const USAGE = {
  prompt_tokens: 1000,
  completion_tokens: 200,
  total_tokens: 1200,
  prompt_tokens_details: { cached_tokens: 400, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 64, audio_tokens: 0 },
};
const COMMON = { id: 'chatcmpl-1', created: 1_763_800_000, model: 'gpt-5-mini-2025-08-07' };
const CALL = { name: 'forecast', arguments: '{"city":"Oslo"}' };
const TOOL_CALL = { id: 'call-1', type: 'function', function: CALL };
const WORDS = ['It will ', 'rain.'];
const TEXT = WORDS.join('');

/** Longer than any program runs. */
const KEEP_ALIVE_MS = 300_000;

export async function startProvider(): Promise<Provider> {
  const server = createServer((request, response) => void answer(request, response));
  // A client that sends on a connection as it closes fails, and most do not try again here.
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  const asked: Asked = JSON.parse(Buffer.concat(pieces).toString());
  const path = request.url ?? '';
  if (asked.model === 'broken') {
    sendJson(response, 500, { type: 'error', error: { message: 'the model is down', type: 'server_error' } });
  } else if (path.endsWith('/embeddings')) sendJson(response, 200, embedding(asked));
  else if (path.endsWith('/responses')) answerResponse(asked, response);
  else if (path.endsWith('/messages')) answerMessage(asked, response);
  else if (asked.stream) sendChunks(response, asked);
  else sendJson(response, 200, completion(asked));
}

/** A model asks for its tool once: a request with the result of the tool is answered. */
function asksForTool({ tools = [], messages, input }: Asked): boolean {
  return tools.length > 0 && !/"(tool|tool_result|function_call_output)"/.test(JSON.stringify(messages ?? input));
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

type Event = { readonly event?: string; readonly data: object | string };

function sendEvents(response: ServerResponse, events: readonly Event[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const { event, data } of events) {
    if (event !== undefined) response.write(`event: ${event}\n`);
    response.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
  }
  response.end();
}

function embedding({ model }: Asked): object {
  const data = [{ object: 'embedding', index: 0, embedding: [0.5, 0.25] }];
  return { object: 'list', data, model, usage: { prompt_tokens: 9, total_tokens: 9 } };
}

function completion(asked: Asked): object {
  const [finish_reason, said] = asksForTool(asked)
    ? ['tool_calls', { content: null, tool_calls: [TOOL_CALL] }]
    : ['stop', { content: TEXT }];
  const message = { role: 'assistant', refusal: null, ...said };
  return {
    ...COMMON,
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason, logprobs: null }],
    usage: USAGE,
  };
}

function sendChunks(response: ServerResponse, asked: Asked): void {
  const [reason, deltas] = asksForTool(asked)
    ? ['tool_calls', [{ tool_calls: [{ index: 0, ...TOOL_CALL }] }]]
    : ['stop', WORDS.map((content) => ({ content }))];
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    choices: [{ index: 0, delta, finish_reason }],
  });
  const chunks = [
    chunk({ role: 'assistant', content: '' }),
    ...deltas.map((delta) => chunk(delta)),
    chunk({}, reason),
    { choices: [], usage: USAGE },
  ];
  const events: Event[] = chunks.map((each) => ({ data: { ...COMMON, object: 'chat.completion.chunk', ...each } }));
  sendEvents(response, [...events, { data: '[DONE]' }]);
}

const RESPONSE_USAGE = {
  input_tokens: 1000,
  input_tokens_details: { cached_tokens: 400 },
  output_tokens: 200,
  output_tokens_details: { reasoning_tokens: 64 },
  total_tokens: 1200,
};

function answerResponse(asked: Asked, response: ServerResponse): void {
  const content = [{ type: 'output_text', text: TEXT, annotations: [], logprobs: [] }];
  const item = asksForTool(asked)
    ? { type: 'function_call', id: 'fc_1', call_id: 'call-1', status: 'completed', ...CALL }
    : { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content };
  const begun = {
    id: 'resp_1',
    object: 'response',
    created_at: COMMON.created,
    model: COMMON.model,
    status: 'in_progress',
    output: [] as object[],
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    tools: [],
    tool_choice: 'auto',
  };
  const completed = { ...begun, status: 'completed', output: [item], usage: RESPONSE_USAGE };
  if (!asked.stream) {
    sendJson(response, 200, completed);
    return;
  }
  const place = { item_id: item.id, output_index: 0, content_index: 0 };
  const text = WORDS.map((delta) => ({ type: 'response.output_text.delta', ...place, delta, logprobs: [] }));
  const events = [
    { type: 'response.created', response: begun },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress' } },
    ...(item.type === 'message' ? text : []),
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: completed },
  ];
  sendEvents(
    response,
    events.map((data, index) => ({ event: data.type, data: { ...data, sequence_number: index } })),
  );
}

const MESSAGE_INPUT = { input_tokens: 100, cache_read_input_tokens: 600, cache_creation_input_tokens: 300 };

function answerMessage(asked: Asked, response: ServerResponse): void {
  const isCall = asksForTool(asked);
  const block = isCall
    ? { type: 'tool_use', id: 'call-1', name: CALL.name, input: JSON.parse(CALL.arguments) }
    : { type: 'text', text: TEXT };
  const stop_reason = isCall ? 'tool_use' : 'end_turn';
  const begun = { id: 'msg_1', type: 'message', role: 'assistant', model: asked.model, stop_sequence: null };
  if (!asked.stream) {
    const usage = { ...MESSAGE_INPUT, output_tokens: 200 };
    sendJson(response, 200, { ...begun, content: [block], stop_reason, usage });
    return;
  }
  const usage = { ...MESSAGE_INPUT, output_tokens: 1 };
  const deltas = isCall
    ? [{ type: 'input_json_delta', partial_json: CALL.arguments }]
    : WORDS.map((text) => ({ type: 'text_delta', text }));
  const events = [
    { type: 'message_start', message: { ...begun, content: [], stop_reason: null, usage } },
    { type: 'content_block_start', index: 0, content_block: isCall ? { ...block, input: {} } : { ...block, text: '' } },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 200 } },
    { type: 'message_stop' },
  ];
  sendEvents(
    response,
    events.map((data) => ({ event: data.type, data })),
  );
}
