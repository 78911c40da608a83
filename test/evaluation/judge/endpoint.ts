/** A chat endpoint that says what a test tells it to, and remembers what it was asked. */

import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever JSON was sent.
type Json = any;

export type ChatRequest = {
  readonly url: string | undefined;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  readonly body: Json;
};

/** What the endpoint does with one question; `hang` does nothing at all. */
export type Reply =
  | 'hang'
  | 'reset'
  | { readonly status?: number; readonly headers?: { readonly [name: string]: string }; readonly text: string };

export type Endpoint = {
  readonly baseUrl: string;
  readonly received: readonly ChatRequest[];
  /** The next questions are answered by these, in this order; one too many is a 500 that says so. */
  answer(...replies: readonly Reply[]): void;
  close(): Promise<void>;
};

export async function startEndpoint(): Promise<Endpoint> {
  const received: ChatRequest[] = [];
  let replies: Reply[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const text = Buffer.concat(parts).toString();
    received.push({ url: request.url, headers: request.headers, body: text === '' ? null : JSON.parse(text) });
    reply(response, replies.shift() ?? { status: 500, text: 'nobody planned me what to say' });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    received,
    answer(...next) {
      received.length = 0;
      replies = [...next];
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function reply(response: ServerResponse, planned: Reply): void {
  if (planned === 'hang') return;
  if (planned === 'reset') {
    response.destroy();
    return;
  }
  response.writeHead(planned.status ?? 200, { 'content-type': 'application/json', ...planned.headers });
  response.end(planned.text);
}

/** A completion whose content is the answer, or the text as it is. */
export function completion(answer: unknown, members: Json = {}): Reply {
  const content = typeof answer === 'string' ? answer : JSON.stringify(answer);
  const message = { role: 'assistant', content, refusal: null, ...members.message };
  const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 };
  return { text: JSON.stringify({ choices: [{ index: 0, finish_reason: 'stop', message }], usage, ...members.top }) };
}
