/** Serves the parts of the OpenAI API that the test clients call, on a local port. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type StandIn = { readonly url: string; close(): void };

const USAGE = {
  prompt_tokens: 1000,
  completion_tokens: 200,
  total_tokens: 1200,
  prompt_tokens_details: { cached_tokens: 400, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 64, audio_tokens: 0 },
};
const COMMON = { id: 'chatcmpl-1', created: 1_763_800_000, model: 'gpt-5-mini-2025-08-07' };
const TOOL_CALL = { id: 'call-1', type: 'function', function: { name: 'forecast', arguments: '{"city":"Oslo"}' } };

export async function startOpenAiStandIn(): Promise<StandIn> {
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  const completion = JSON.parse(Buffer.concat(pieces).toString());
  if (completion.model === 'broken')
    sendJson(response, 500, { error: { message: 'the model is down', type: 'server_error' } });
  else if (request.url?.endsWith('/embeddings')) {
    const usage = { prompt_tokens: 9, total_tokens: 9 };
    const data = [{ object: 'embedding', index: 0, embedding: [0.5, 0.25] }];
    sendJson(response, 200, { object: 'list', data, model: completion.model, usage });
  } else if (completion.stream) sendChunks(response);
  else {
    const message = { role: 'assistant', content: null, tool_calls: [TOOL_CALL], refusal: null };
    const choices = [{ index: 0, message, finish_reason: 'tool_calls', logprobs: null }];
    sendJson(response, 200, { ...COMMON, object: 'chat.completion', choices, usage: USAGE });
  }
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function sendChunks(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (choices: object[], more: object = {}) =>
    response.write(`data: ${JSON.stringify({ ...COMMON, object: 'chat.completion.chunk', choices, ...more })}\n\n`);
  send([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]);
  send([{ index: 0, delta: { content: 'It will ' }, finish_reason: null }]);
  send([{ index: 0, delta: { content: 'rain.' }, finish_reason: null }]);
  send([{ index: 0, delta: {}, finish_reason: 'stop' }]);
  send([], { usage: USAGE });
  response.end('data: [DONE]\n\n');
}
