/** What the errors of the gateway, and answers that end early, are to unmodified clients. */

import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MockStep } from '../support/mock-provider.ts';
import { CLAUDE, type GatewayFixture, MODEL, startGateway } from './gateway-fixture.ts';
import { collect, recordFetch } from './recorded-fetch.ts';

let gateway: GatewayFixture;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

type Options = { readonly maxRetries?: number; readonly fetch?: typeof fetch };

function openAi(apiKey: string, options: Options = {}): OpenAI {
  return new OpenAI({ baseURL: `${gateway.app.address}/v1`, apiKey, maxRetries: 0, ...options });
}

function anthropic(apiKey: string, options: Options = {}): Anthropic {
  return new Anthropic({ baseURL: gateway.app.address, apiKey, maxRetries: 0, ...options });
}

const HELLO = [{ role: 'user' as const, content: 'Say hello.' }];
const CHAT = { model: MODEL, messages: HELLO };
const MESSAGE = { model: CLAUDE, max_tokens: 64, messages: HELLO };

/** `step`: how the provider answers. */
function chatWith(client: OpenAI, body: OpenAI.ChatCompletionCreateParamsNonStreaming = CHAT, step: MockStep = {}) {
  return client.chat.completions.create(body, stepped(step));
}

function stepped(step: MockStep) {
  return { headers: { 'x-mock-step': JSON.stringify(step) } };
}

async function errorOf(call: Promise<unknown>): Promise<unknown> {
  return await call.then(
    () => {
      throw new Error('it was not refused');
    },
    (error: unknown) => error,
  );
}

/** A key that is refused with the code. */
const REFUSED_KEYS = {
  invalid_api_key: async () => 'vk-lw-00000000000000000000000000',
  budget_exceeded: async () => {
    const { id, secret } = await gateway.addKey();
    const scope = { kind: 'virtual_key', id };
    await gateway.addBudget({ scope, limit_usd: '0.000000001', reserve: 'worst' });
    await gateway.manage('PATCH', `/api/gateway/v1/virtual-keys/${id}`, { config: { models_allowed: null } });
    return secret;
  },
  model_not_allowed: async () => (await gateway.addKey({ config: { models_allowed: ['none'] } })).secret,
  virtual_key_revoked: async () => {
    const { id, secret } = await gateway.addKey();
    await gateway.manage('POST', `/api/gateway/v1/virtual-keys/${id}/revoke`, {});
    return secret;
  },
  rate_limited: async () => {
    const { secret } = await gateway.addKey({ config: { rate_limits: { rpm: 1 } } });
    await chatWith(openAi(secret));
    return secret;
  },
};

describe('a refusal', () => {
  it.each([
    ['invalid_api_key', 401, OpenAI.AuthenticationError, Anthropic.AuthenticationError],
    ['budget_exceeded', 402, OpenAI.APIError, Anthropic.APIError],
    ['model_not_allowed', 403, OpenAI.PermissionDeniedError, Anthropic.PermissionDeniedError],
    ['virtual_key_revoked', 403, OpenAI.PermissionDeniedError, Anthropic.PermissionDeniedError],
    ['rate_limited', 429, OpenAI.RateLimitError, Anthropic.RateLimitError],
  ] as const)('of %s is an error of the client with our code', async (code, status, ofOpenAi, ofAnthropic) => {
    const secret = await REFUSED_KEYS[code]();
    const one = await errorOf(chatWith(openAi(secret), { ...CHAT, max_tokens: 1_000 }));
    if (!(one instanceof ofOpenAi)) throw one;
    expect([one.status, one.code]).toEqual([status, code]);
    const other = await errorOf(anthropic(secret).messages.create(MESSAGE));
    if (!(other instanceof ofAnthropic)) throw other;
    expect(other.status).toBe(status);
    expect(other.error).toMatchObject({ type: 'error', error: { code, message: expect.any(String) } });
    if (status !== 429) return;
    expect(Number(one.headers?.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(other.headers?.get('retry-after'))).toBeGreaterThan(0);
  });
});

it('of what a request in progress has reserved is tried again by a client that tries again', async () => {
  const { id, secret } = await gateway.addKey();
  // A request reserves 0.0006 USD of it at least, by the price of its model.
  await gateway.addBudget({ scope: { kind: 'virtual_key', id }, limit_usd: '0.0011', reserve: 'worst' });
  const asked = { model: MODEL, messages: HELLO, max_tokens: 1_000 };
  const before = gateway.mock.requests.length;
  const slow = chatWith(openAi(secret), asked, { firstByteMs: 800 });
  await expect.poll(() => gateway.mock.requests.length).toBe(before + 1);
  const { fetch, exchanges } = recordFetch();
  const retried = await openAi(secret, { maxRetries: 3, fetch }).chat.completions.create(asked);
  expect(retried.choices).toHaveLength(1);
  expect((await slow).choices).toHaveLength(1);
  const [first, ...others] = exchanges;
  expect([first?.status, first?.headers.get('retry-after')]).toEqual([429, '1']);
  expect(JSON.parse((await first?.text) ?? '').error.code).toBe('budget_reserved');
  expect(others.at(-1)?.status).toBe(200);
});

it('passes errors of the provider on as its own', async () => {
  const error = await errorOf(chatWith(openAi(gateway.secret), CHAT, { status: 429 }));
  if (!(error instanceof OpenAI.RateLimitError)) throw error;
  expect(error.headers?.get('retry-after')).toBe('2');
  expect(error.headers?.get('x-langwatch-provider')).toBe('openai');
});

describe('an answer that its provider breaks off', () => {
  const broken = stepped({ breaksAfterBytes: 1_200 });

  it.each([
    ['chat', (client: OpenAI) => client.chat.completions.create({ ...CHAT, stream: true }, broken)],
    ['responses', (client: OpenAI) => client.responses.create({ model: MODEL, input: 'Hi', stream: true }, broken)],
  ])('is an error of the client in a stream of %s', async (_, call) => {
    const stream: AsyncIterable<unknown> = await call(openAi(gateway.secret));
    const error = await errorOf(collect(stream));
    if (!(error instanceof OpenAI.APIError)) throw error;
    expect(error.code).toBe('upstream_mid_stream_failure');
  });

  it('is an error of the client in a stream of messages', async () => {
    const error = await errorOf(anthropic(gateway.secret).messages.stream(MESSAGE, broken).finalMessage());
    if (!(error instanceof Anthropic.APIError)) throw error;
    expect(error.error).toMatchObject({ error: { type: 'api_error', code: 'upstream_mid_stream_failure' } });
  });

  it('is an error of the client where it does not stream', async () => {
    const whole = await errorOf(chatWith(openAi(gateway.secret), CHAT, { breaksAfterBytes: 100 }));
    if (!(whole instanceof OpenAI.InternalServerError)) throw whole;
    expect([whole.status, whole.code]).toEqual([502, 'upstream_mid_stream_failure']);
    const begun = await errorOf(chatWith(openAi(gateway.secret), CHAT, { breaksAfterBytes: 100, partBytes: 20 }));
    expect(String(begun)).toContain('terminated');
  });
});

describe('a caller who aborts a stream', () => {
  const endless = stepped({ isEndless: true, betweenMs: 5 });
  const isAborted = () => gateway.mock.requests.at(-1)?.isAborted;

  it('of chat ends the request to the provider', async () => {
    const stream = await openAi(gateway.secret).chat.completions.create({ ...CHAT, stream: true }, endless);
    for await (const { choices } of stream) if ((choices[0]?.delta.content ?? '') !== '') break;
    await expect.poll(isAborted, { timeout: 5_000 }).toBe(true);
  });

  it('of messages ends the request to the provider', async () => {
    const run = anthropic(gateway.secret).messages.stream(MESSAGE, endless);
    run.on('text', () => run.abort());
    expect(await errorOf(run.done())).toBeInstanceOf(Anthropic.APIUserAbortError);
    await expect.poll(isAborted, { timeout: 5_000 }).toBe(true);
  });
});
