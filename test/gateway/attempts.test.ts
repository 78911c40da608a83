import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { createBreakers } from '../../src/domain/gateway/breaker.ts';
import { attempt } from '../../src/gateway/attempts.ts';
import type { UpstreamAnswer } from '../../src/gateway/upstream.ts';

type Attempting = Parameters<typeof attempt>;

function attempting(answer: UpstreamAnswer, signal = new AbortController().signal) {
  let sent = 0;
  const provider = {
    id: 'p',
    kind: 'openai',
    baseUrl: 'https://provider.example/v1',
    timeoutMs: 1_000,
    extraHeaders: {},
    streamUsage: false,
  };
  const deps = {
    upstream: {
      async send() {
        sent += 1;
        return answer;
      },
      close: async () => undefined,
    },
    breakers: createBreakers({ nowMs: () => 0 }),
    providerKeys: { open: () => 'sk' },
  };
  const sending = {
    route: { kind: 'chat', dialect: 'openai', path: '/chat/completions' },
    ...{ query: '', headers: {}, bytes: Buffer.from('{}'), attemptsMax: 1, signal },
    body: { model: 'm', isStreamed: false, asksForUsage: false, params: {} },
    candidates: [{ provider, model: 'm' }],
    mayFallBackTo: async () => true,
  };
  return {
    tried: () => attempt(deps as unknown as Attempting[0], sending as unknown as Attempting[1]),
    sent: () => sent,
  };
}

it('asks no provider for a caller who has left already', async () => {
  const leaving = new AbortController();
  leaving.abort();
  const { tried, sent } = attempting({ kind: 'failed', reason: 'timeout', message: '', isSent: true }, leaving.signal);
  expect(await tried()).toEqual({ candidate: null, fallbackCount: 0, isSent: false, result: 'cancelled' });
  expect(sent()).toBe(0);
});

it.each([true, false])('says whether a provider that took too long may have read the request: %s', async (isSent) => {
  const { tried } = attempting({ kind: 'failed', reason: 'timeout', message: 'too long', isSent });
  expect(await tried()).toMatchObject({ isSent, result: { code: 'provider_timeout' } });
});

it.each([
  [408, 11],
  [429, 11],
  [500, 10],
])('after ten answers of %i a provider was asked %i times: 4xx open no breaker', async (status, times) => {
  const { tried, sent } = attempting({ kind: 'answered', status, headers: {}, body: Readable.from([]) });
  for (let round = 0; round < 11; round += 1) await tried();
  expect(sent()).toBe(times);
});
