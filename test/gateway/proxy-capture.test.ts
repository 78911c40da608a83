import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAT, type GatewayFixture, startGateway } from './gateway-fixture.ts';

const PATH = '/v1/chat/completions';
let gateway: GatewayFixture;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

describe('a key that captures metadata alone', () => {
  it('leaves no text with the results of its guardrails', async () => {
    const { addEvaluator, addKey, send, traceOf } = gateway;
    const judge = await addEvaluator('langevals/competitor_blocklist', { competitors: ['Acme'] });
    const guardrails = { pre: [judge], post: [judge] };
    const { secret } = await addKey({ config: { capture: 'metadata', guardrails } });
    const passed = await send(PATH, { secret, body: CHAT });
    expect(passed.status, passed.text).toBe(200);
    const trace = await traceOf(passed);
    expect(trace.evaluations).toHaveLength(2);
    expect(trace.evaluations[0]).toMatchObject({ passed: true, is_guardrail: true });
    expect(JSON.stringify(trace)).not.toContain('Say hello');
    const content = `Acme ${'Say hello. '.repeat(200)}`;
    const blocked = await send(PATH, { secret, body: { ...CHAT, messages: [{ role: 'user', content }] } });
    expect(blocked.status).toBe(403);
    const told = JSON.stringify(await traceOf(blocked));
    expect(told).toContain('"passed":false');
    for (const text of ['Say hello', 'Acme']) expect(told).not.toContain(text);
  });

  it('leaves no message of a provider, which may quote the request', async () => {
    const { addKey, send, traceOf, eventOf } = gateway;
    const step = { status: 400, body: { error: { type: 'content_filter', message: 'I will not "Say hello."' } } };
    const { secret } = await addKey({ config: { capture: 'metadata' } });
    const sent = await send(PATH, { secret, body: CHAT, step });
    expect(sent.text).toContain('Say hello');
    const trace = JSON.stringify(await traceOf(sent)) + JSON.stringify(await eventOf(sent));
    expect(trace).not.toContain('Say hello');
    expect(trace).toContain('content_filter');
    const open = await send(PATH, { secret: gateway.secret, body: CHAT, step });
    expect(JSON.stringify(await traceOf(open))).toContain('I will not');
  });
});

describe('what others write in records', () => {
  it.each([
    ['', 'provider_error'],
    ['x'.repeat(600), 'x'.repeat(200)],
    ['a\0b', 'a\ufffdb'],
  ])('the class of an error %j becomes %j', async (type, recorded) => {
    const { secret, send, eventOf } = gateway;
    const sent = await send(PATH, {
      secret,
      body: CHAT,
      step: { status: 400, body: { error: { type, message: '' } } },
    });
    expect((await eventOf(sent)).error).toEqual({ class: recorded, http_status: 400 });
  });

  it('a long name of a model is cut', async () => {
    const { secret, send, eventOf } = gateway;
    const sent = await send(PATH, { secret, body: { ...CHAT, model: 'm'.repeat(500) } });
    expect([sent.status, (await eventOf(sent)).model]).toEqual([200, 'm'.repeat(256)]);
  });

  it.each(['a\0b', 'a\ud800b'])('the end user %j counts in a budget of each', async (user) => {
    const { addKey, addBudget, send, budget, eventOf } = gateway;
    const { id, secret } = await addKey();
    const limit = await addBudget({ scope: { kind: 'attributed_user', id }, limit_usd: '1' });
    const sent = await send(PATH, { secret, body: { ...CHAT, user } });
    expect(sent.status, sent.text).toBe(200);
    expect((await eventOf(sent)).end_user_id).toBe('a\ufffdb');
    expect(Number((await budget(limit.id)).spent_usd)).toBeGreaterThan(0);
  });
});
