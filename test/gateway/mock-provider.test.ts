import { createOpenAI } from '@ai-sdk/openai';
import { streamText } from 'ai';
import OpenAI from 'openai';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { streamErrorEvent } from '../../src/domain/gateway/dialects/gateway-error.ts';
import { documentedBody, documentedStream } from '../support/documented-answers.ts';
import { type MockProvider, type MockStep, startMockProvider, withoutUsage } from '../support/mock-provider.ts';

let provider: MockProvider;
beforeEach(async () => {
  provider = await startMockProvider();
});
afterEach(() => provider.close());

const HELLO = [{ role: 'user' as const, content: 'hello' }];

function createOpenAi(): OpenAI {
  return new OpenAI({ baseURL: provider.url, apiKey: 'sk-test', maxRetries: 0 });
}

function post(path: string, body: object, init: RequestInit = {}): Promise<Response> {
  return fetch(`${provider.url}/${path}`, { method: 'POST', body: JSON.stringify(body), redirect: 'manual', ...init });
}

async function until(holds: () => boolean): Promise<void> {
  await expect.poll(holds, { timeout: 10_000 }).toBe(true);
}

it("OpenAI's own client reads its chats, tools and embeddings", async () => {
  const client = createOpenAi();
  const chat = await client.chat.completions.create({ model: 'm', messages: HELLO });
  expect(chat.choices[0]?.message.content).toBe('Grüße aus 京都');

  const options = { include_usage: true };
  const stream = await client.chat.completions.create({
    model: 'm',
    messages: HELLO,
    stream: true,
    stream_options: options,
  });
  let text = '';
  let tokens = 0;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? '';
    tokens += chunk.usage?.total_tokens ?? 0;
  }
  expect({ text, tokens }).toEqual({ text: 'Grüße aus 京都 🍵', tokens: 26 });

  provider.next({ tools: true });
  const run = client.chat.completions.stream({ model: 'm', messages: HELLO });
  const [message] = (await run.finalChatCompletion()).choices;
  expect(message?.message.tool_calls?.map((call) => call.type === 'function' && call.function)).toMatchObject([
    { name: 'get_weather', arguments: '{"city":"Köln"}' },
    { name: 'get_time', arguments: '{}' },
  ]);

  const embeddings = await client.embeddings.create({ model: 'm', input: 'tea', encoding_format: 'float' });
  expect(embeddings.data.map(({ embedding }) => embedding.length)).toEqual([3, 3]);
  const models = await client.models.list();
  expect(models.data.map(({ id }) => id)).toEqual(['gpt-4o-mini', 'text-embedding-3-small']);
});

it("OpenAI's own client reads its responses", async () => {
  const client = createOpenAi();
  expect((await client.responses.create({ model: 'm', input: 'hello' })).output_text).toBe('Grüße aus 京都');
  const final = await client.responses.stream({ model: 'm', input: 'hello' }).finalResponse();
  expect(final).toMatchObject({ output_text: 'Grüße aus 京都', usage: { input_tokens: 37, output_tokens: 24 } });
});

it.each(['chat', 'responses'] as const)(
  "OpenAI's own client sees the error that ends a broken stream of %s",
  async (route) => {
    const broken = documentedStream(`${route}-stream`)
      .toString()
      .split(/(?<=\n\n)/)
      .slice(0, 3)
      .join('');
    const error = streamErrorEvent(route, { code: 'upstream_mid_stream_failure', message: 'The provider broke off.' });
    provider.next({ body: broken + error.toString(), headers: { 'content-type': 'text/event-stream' } });
    const client = createOpenAi();
    const stream =
      route === 'chat'
        ? await client.chat.completions.create({ model: 'm', messages: HELLO, stream: true })
        : await client.responses.create({ model: 'm', input: 'x', stream: true });
    let failure: unknown = null;
    try {
      for await (const event of stream as AsyncIterable<unknown>) expect(event).toBeDefined();
    } catch (error) {
      failure = error;
    }
    expect(failure).toMatchObject({ code: 'upstream_mid_stream_failure', message: 'The provider broke off.' });
  },
);

it.each(['chat', 'responses'] as const)(
  "Vercel's client reads a stream of %s, and the error that ends one",
  async (route) => {
    const client = createOpenAI({ baseURL: provider.url, apiKey: 'sk-test' });
    const read = async () => {
      const parts: string[] = [];
      const errors: unknown[] = [];
      const { fullStream } = streamText({
        model: client[route]('m'),
        prompt: 'hello',
        maxRetries: 0,
        onError: () => undefined,
      });
      for await (const part of fullStream) {
        if (part.type === 'text-delta') parts.push(part.text);
        if (part.type === 'error') errors.push(part.error);
      }
      return { text: parts.join(''), errors };
    };
    expect(await read()).toEqual({ text: expect.stringContaining('Grüße aus 京都'), errors: [] });
    const error = streamErrorEvent(route, { code: 'upstream_mid_stream_failure', message: 'The provider broke off.' });
    const begun = documentedStream(`${route}-stream`)
      .toString()
      .split(/(?<=\n\n)/)
      .slice(0, 3)
      .join('');
    provider.next({ body: begun + error.toString(), headers: { 'content-type': 'text/event-stream' } });
    const { errors } = await read();
    expect(JSON.stringify(errors)).toContain('The provider broke off.');
  },
);

it.each<readonly [string, object, string]>([
  ['messages', { stream: true }, 'messages-stream'],
  ['messages', {}, 'messages'],
  ['messages/count_tokens', {}, 'count-tokens'],
  ['responses', { stream: true }, 'responses-stream'],
])('%s with %j is answered as documented', async (path, body, name) => {
  const text = await (await post(path, body)).text();
  expect(text).toBe('stream' in body ? documentedStream(name).toString() : JSON.stringify(documentedBody(name)));
  expect(provider.requests).toMatchObject([
    { method: 'POST', path: `/v1/${path}`, isFinished: true, isAborted: false },
  ]);
  expect(provider.requests[0]?.sent().toString()).toBe(text);
  expect(provider.requests[0]?.body.toString()).toBe(JSON.stringify(body));
});

it('models are those of the dialect that asks', async () => {
  const answer = await fetch(`${provider.url}/models`, { headers: { 'anthropic-version': '2023-06-01' } });
  expect(await answer.json()).toEqual(documentedBody('models-anthropic'));
});

it('the usage comes to those who ask, unless it is off', async () => {
  const documented = documentedStream('chat-stream').toString();
  const asking = { stream: true, stream_options: { include_usage: true } };
  const textOf = async (body: object, step: MockStep) => {
    provider.next(step);
    return (await post('chat/completions', body)).text();
  };
  expect(await textOf(asking, {})).toBe(documented);
  expect(await textOf({ stream: true }, {})).toBe(withoutUsage(documented));
  expect(await textOf({ stream: true }, { usage: 'always' })).toBe(documented);
  expect(await textOf(asking, { usage: 'off' })).toBe(withoutUsage(documented));
  expect(await textOf({}, { usage: 'off' })).not.toContain('usage');
  provider.next({ usage: 'off' });
  expect(await (await post('messages', { stream: true })).text()).not.toMatch(/usage|tokens/);
});

it.each<readonly [string, object, MockStep, number, RegExp, Record<string, string>]>([
  ['chat/completions', { stream_options: {} }, { refusesStreamOptions: true }, 400, /stream_options/, {}],
  ['chat/completions', {}, { refusesStreamOptions: true }, 200, /chat\.completion/, {}],
  ['chat/completions', {}, { status: 401 }, 401, /invalid_api_key/, {}],
  ['chat/completions', {}, { status: 404 }, 404, /model_not_found/, {}],
  ['chat/completions', {}, { status: 408 }, 408, /timed out/, {}],
  ['chat/completions', {}, { status: 429 }, 429, /rate_limit_exceeded/, { 'retry-after': '2' }],
  ['chat/completions', {}, { status: 500 }, 500, /server_error/, {}],
  ['messages', {}, { status: 529 }, 529, /overloaded_error/, {}],
  ['messages', {}, { status: 404 }, 404, /not_found_error/, {}],
  ['messages', {}, { redirect: 'http://a.example/' }, 307, /^$/, { location: 'http://a.example/' }],
  ['other', {}, {}, 404, /error/, {}],
])('%s with %j and %j has status %i', async (path, body, step, status, text, headers) => {
  const answer = await post(path, body, { headers: { 'x-mock-step': JSON.stringify(step) } });
  expect(answer.status).toBe(status);
  expect(await answer.text()).toMatch(text);
  expect(Object.fromEntries(answer.headers)).toMatchObject(headers);
});

it('a stream breaks after the bytes that a test names', async () => {
  provider.next({ breaksAfterBytes: 700, partBytes: 64 });
  const answer = await post('messages', { stream: true });
  let bytes = 0;
  const read = async () => {
    for await (const part of answer.body ?? []) bytes += part.length;
  };
  await expect(read()).rejects.toThrow();
  expect(bytes).toBe(700);
  await until(() => provider.requests[0]?.isAborted === true);
});

it('a connection breaks before the head', async () => {
  provider.next({ resets: true });
  await expect(post('messages', {})).rejects.toThrow();
});

it('an endless stream ends when the caller leaves, and waits for one that does not read', async () => {
  provider.next({ isEndless: true });
  const stop = new AbortController();
  const answer = await post('chat/completions', { stream: true }, { signal: stop.signal });
  await answer.body?.getReader().read();
  await until(() => (provider.requests[0]?.sentBytes() ?? 0) > 100_000);
  stop.abort();
  await until(() => provider.requests[0]?.isAborted === true);
  expect(provider.requests[0]?.sentBytes()).toBeLessThan(64 * 1024 * 1024);
});

it('a huge body is as long as asked for', async () => {
  provider.next({ hugeBytes: 9_000_000 });
  const { choices } = JSON.parse(await (await post('chat/completions', {})).text());
  expect(choices[0].message.content).toHaveLength(9_000_000);
});

it('a slow answer waits before its first byte and between parts', async () => {
  provider.next({ firstByteMs: 40, betweenMs: 10, partBytes: 400 });
  const startedAt = performance.now();
  const answer = await post('messages', { stream: true });
  const headAt = performance.now();
  await answer.text();
  expect(headAt - startedAt).toBeGreaterThan(35);
  expect(performance.now() - headAt).toBeGreaterThan(25);
});

it('a request that hangs is open until the caller leaves', async () => {
  provider.next({ hangs: true });
  const stop = new AbortController();
  const sent = post('messages', {}, { signal: stop.signal });
  await until(() => provider.requests.length === 1);
  expect(provider.requests[0]).toMatchObject({ isAborted: false, isFinished: false });
  stop.abort();
  await expect(sent).rejects.toThrow();
  await until(() => provider.requests[0]?.isAborted === true);
});
