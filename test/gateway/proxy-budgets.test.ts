import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAT, type GatewayFixture, MESSAGES, startGateway } from './gateway-fixture.ts';

let gateway: GatewayFixture;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const PATH = '/v1/chat/completions';
/** Costs more than 2 USD, far above its estimate. */
const DEAR = {
  body: {
    ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: CHAT.model },
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 4_000_000, total_tokens: 4_000_010 },
  },
};

describe('a budget that is spent', () => {
  it('admits nothing more, although a lease of it has something left', async () => {
    const { addKey, addBudget, send, eventOf, mock, budget } = gateway;
    const { id, secret } = await addKey();
    const limit = await addBudget({ scope: { kind: 'virtual_key', id }, limit_usd: '1', reserve: 'expected' });
    const first = await send(PATH, { secret, body: CHAT, step: DEAR });
    expect([first.status, (await eventOf(first)).status]).toEqual([200, 'success']);
    const { spent_usd: spent } = await budget(limit.id);
    expect(Number(spent)).toBeGreaterThan(2);
    for (let round = 0; round < 3; round += 1) {
      const refused = await send(PATH, { secret, body: CHAT });
      expect([refused.status, refused.body.error.reason]).toEqual([402, 'spent']);
    }
    expect((await budget(limit.id)).spent_usd).toBe(spent);
    const asked = mock.requests.length;
    expect((await send(PATH, { secret, body: CHAT })).status).toBe(402);
    expect(mock.requests.length).toBe(asked);
  });

  it('admits again once its limit is raised', async () => {
    const { addKey, addBudget, send, eventOf, manage } = gateway;
    const { id, secret } = await addKey();
    const limit = await addBudget({ scope: { kind: 'virtual_key', id }, limit_usd: '1' });
    await eventOf(await send(PATH, { secret, body: CHAT, step: DEAR }));
    expect((await send(PATH, { secret, body: CHAT })).status).toBe(402);
    await manage('PATCH', `/api/gateway/v1/budgets/${limit.id}`, { limit_usd: '100' });
    expect((await send(PATH, { secret, body: CHAT })).status).toBe(200);
  });

  it('refuses nothing when it only warns', async () => {
    const { addKey, addBudget, send, eventOf } = gateway;
    const { id, secret } = await addKey();
    await addBudget({ scope: { kind: 'virtual_key', id }, limit_usd: '1', on_breach: 'warn' });
    await eventOf(await send(PATH, { secret, body: CHAT, step: DEAR }));
    expect((await send(PATH, { secret, body: CHAT })).status).toBe(200);
  });
});

describe('a budget for each end user', () => {
  it('needs none where it only warns', async () => {
    const { addKey, addBudget, send } = gateway;
    const { id, secret } = await addKey();
    await addBudget({ scope: { kind: 'attributed_user', id }, limit_usd: '1', on_breach: 'warn' });
    expect((await send(PATH, { secret, body: CHAT })).status).toBe(200);
  });

  it('needs none to count tokens', async () => {
    const { addKey, addBudget, send } = gateway;
    const { id, secret } = await addKey();
    await addBudget({ scope: { kind: 'attributed_user', id }, limit_usd: '1' });
    expect((await send('/v1/messages/count_tokens', { secret, body: MESSAGES })).status).toBe(200);
    expect((await send('/v1/messages', { secret, body: MESSAGES })).status).toBe(400);
  });

  it('counts one with a long name in the body as one in a header', async () => {
    const { addKey, addBudget, send, eventOf } = gateway;
    const { id, secret } = await addKey();
    await addBudget({ scope: { kind: 'attributed_user', id }, limit_usd: '1' });
    const user = 'u'.repeat(300);
    const inBody = await send(PATH, { secret, body: { ...CHAT, user } });
    const inHeader = await send(PATH, { secret, body: CHAT, headers: { 'x-langwatch-end-user-id': user } });
    for (const sent of [inBody, inHeader]) expect((await eventOf(sent)).end_user_id).toBe('u'.repeat(256));
  });
});
