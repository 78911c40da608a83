import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAT, CLAUDE, type GatewayFixture, MESSAGES, MODEL, type Sent, startGateway } from './gateway-fixture.ts';

const PATH = '/v1/chat/completions';
const MILLION = 1_000_000;
let gateway: GatewayFixture;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** The cost of a request as its event, its budget and its trace have it, in USD. */
async function costsOf(sent: Sent, budgetId: string) {
  expect(sent.status, sent.text).toBe(200);
  const event = await gateway.eventOf(sent);
  const { spans } = await gateway.traceOf(sent);
  const { spent_usd } = await gateway.budget(budgetId);
  return { event: event.cost && Number(event.cost.total_usd), budget: Number(spent_usd), trace: spans[0].metrics.cost };
}

const same = (usd: number) => ({ event: usd, budget: usd, trace: usd });

const chatOf = (prompt: number, completion: number, more: object = {}) => ({
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion, ...more },
});
const chatWith = (prompt: number, completion: number, tier: string) => ({
  ...chatOf(prompt, completion),
  service_tier: tier,
});
const streamOf = (...events: object[]) => ({
  headers: { 'content-type': 'text/event-stream' },
  body: events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''),
});

const HUNDRED = 100_000;
const written = { cache_creation_input_tokens: MILLION, cache_creation: { ephemeral_1h_input_tokens: MILLION } };
const claudeUsage = { input_tokens: 10, output_tokens: 10, cache_read_input_tokens: 0, ...written };
const message = { type: 'message', role: 'assistant', model: CLAUDE, content: [{ type: 'text', text: 'Hi' }] };
const responseOf = (tier: string) => ({
  ...{ object: 'response', status: 'completed', model: 'gpt-5', service_tier: tier },
  output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] }],
  usage: { input_tokens: HUNDRED, output_tokens: HUNDRED },
});
const gpt5 = { ...CHAT, model: 'gpt-5' };

type Case = readonly [what: string, usd: number, asked: object, step: object, path: string];
const CASES: readonly Case[] = [
  [
    'audio',
    12,
    { ...CHAT, model: 'gpt-4o-audio-preview' },
    {
      body: chatOf(HUNDRED, HUNDRED, {
        prompt_tokens_details: { audio_tokens: HUNDRED },
        completion_tokens_details: { audio_tokens: HUNDRED },
      }),
    },
    PATH,
  ],
  [
    'caches of an hour',
    12.000285,
    MESSAGES,
    { body: { ...message, stop_reason: 'end_turn', usage: claudeUsage } },
    '/v1/messages',
  ],
  [
    'caches of an hour in a stream',
    12.000285,
    { ...MESSAGES, stream: true },
    streamOf(
      { type: 'message_start', message: { ...message, content: [], usage: { ...claudeUsage, output_tokens: 1 } } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 10 } },
      { type: 'message_stop' },
    ),
    '/v1/messages',
  ],
  ['the tier asked for', 2.25, { ...gpt5, service_tier: 'priority' }, { body: chatOf(HUNDRED, HUNDRED) }, PATH],
  [
    'a cheaper tier that nobody served',
    1.125,
    { ...gpt5, service_tier: 'flex' },
    { body: chatOf(HUNDRED, HUNDRED) },
    PATH,
  ],
  ['a cheaper tier', 0.5625, { ...gpt5, service_tier: 'flex' }, { body: chatWith(HUNDRED, HUNDRED, 'flex') }, PATH],
  [
    'the tier served',
    1.125,
    { ...gpt5, service_tier: 'priority' },
    { body: chatWith(HUNDRED, HUNDRED, 'default') },
    PATH,
  ],
  ['a tier that nobody asked for', 2.25, gpt5, { body: chatWith(HUNDRED, HUNDRED, 'priority') }, PATH],
  [
    'the tier at the end of a stream',
    1.125,
    { model: 'gpt-5', input: 'Hi', stream: true, service_tier: 'priority' },
    streamOf(
      { type: 'response.created', response: { ...responseOf('priority'), output: [], usage: null } },
      { type: 'response.completed', response: responseOf('default') },
    ),
    '/v1/responses',
  ],
  ['fees of requests', 0.014, { ...CHAT, model: 'sonar' }, { body: chatOf(1_000, 1_000) }, PATH],
];

describe.each(['full', 'metadata'])('a key that captures %s', (capture) => {
  it.each(CASES)('counts %s: %d USD in event, budget and trace', async (_, usd, asked, step, path) => {
    const { addKey, addBudget, send } = gateway;
    const { id, secret } = await addKey({ config: { capture } });
    const { id: budgetId } = await addBudget({ scope: { kind: 'virtual_key', id }, limit_usd: '100' });
    expect(await costsOf(await send(path, { secret, body: asked, step }), budgetId)).toEqual(same(usd));
  });
});

it('a key that captures metadata alone stores no text that its caller sent as the tier', async () => {
  const { secret } = await gateway.addKey({ config: { capture: 'metadata' } });
  const sent = await gateway.send(PATH, {
    secret,
    body: { ...CHAT, service_tier: 'my secret' },
    step: { body: chatOf(1, 1) },
  });
  expect(JSON.stringify(await gateway.traceOf(sent))).not.toContain('my secret');
});

describe('the name of a compatible provider is the vendor of its prices', () => {
  async function sendTo(name: string, model: string, config: object = {}) {
    const { addProvider, addKey, addBudget, send } = gateway;
    const provider = await addProvider({ name, kind: 'openai_compatible' });
    const { id, secret } = await addKey({ config: { providers: [provider], ...config } });
    const { id: budgetId } = await addBudget({ scope: { kind: 'virtual_key', id }, limit_usd: '100' });
    const step = { body: chatOf(HUNDRED, HUNDRED) };
    return { sent: await send(PATH, { secret, body: { ...CHAT, model }, step }), budgetId };
  }

  it('where it has a price list', async () => {
    const { sent, budgetId } = await sendTo('groq', 'llama-3.3-70b-versatile');
    expect(await costsOf(sent, budgetId)).toEqual(same(0.138));
  });

  it('where it is hosted by its user: then it has no price', async () => {
    const { sent, budgetId } = await sendTo('ollama', 'mistral-large-latest', { allow_unpriced: true });
    expect(await costsOf(sent, budgetId)).toEqual({ event: null, budget: 0, trace: null });
    const refused = await sendTo('vLLM', MODEL);
    expect([refused.sent.status, refused.sent.body.error.reason]).toEqual([402, 'price_unknown']);
  });
});
