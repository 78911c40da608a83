import { expect, it } from 'vitest';
import { CHAT, MESSAGES, MODEL, type Sent, startGateway } from '../gateway/gateway-fixture.ts';
import type { MockStep } from '../support/mock-provider.ts';
import { report } from '../support/scenario.ts';
import { until } from '../support/temp.ts';

const PROVIDER_KEY = `sk-${'ProviderSecret'.repeat(3)}`;
const CHAT_PATH = '/v1/chat/completions';
const STREAM = { ...CHAT, stream: true };
/** A provider that repeats what it was sent, as some do. */
const ECHO = { error: { message: `Incorrect API key provided: ${PROVIDER_KEY}.`, type: 'invalid_request_error' } };

const STEPS: readonly MockStep[] = [
  {},
  { status: 401, body: ECHO },
  { status: 401, body: { error: { ...ECHO.error, type: PROVIDER_KEY, code: PROVIDER_KEY } } },
  { status: 500, body: { detail: ECHO.error.message } },
  { status: 429 },
  { resets: true },
  { breaksAfterBytes: 300 },
  { redirect: `http://127.0.0.1:1/?key=${PROVIDER_KEY}` },
];

it('G1: no key of a provider and no virtual key appears in what is stored, logged or answered by the gateway', async () => {
  const gateway = await startGateway({ writer: 'in its thread' });
  const { app, addProvider, addKey, addBudget, manage, send } = gateway;
  const texts: string[] = [];
  const secrets = [PROVIDER_KEY];
  const provider = await addProvider({ name: 'secretive', kind: 'openai_compatible', api_key: PROVIDER_KEY });
  const anthropic = await addProvider({ name: 'secretive too', kind: 'anthropic', api_key: PROVIDER_KEY });
  const away = await addProvider({
    ...{ name: 'away', kind: 'openai_compatible', api_key: PROVIDER_KEY },
    base_url: 'http://127.0.0.1:1/v1',
  });
  const config = { providers: [provider, anthropic], fallback: { max_attempts: 1 } };
  const key = await addKey({ config });
  const ofAway = await addKey({ config: { ...config, providers: [away] } });
  const cached = await addKey({ config: { ...config, cache: { mode: 'exact', ttl_s: 60 } } });
  const limited = await addKey({ config: { ...config, rate_limits: { rpm: 1 } } });
  const poor = await addKey({ config });
  await addBudget({ scope: { kind: 'virtual_key', id: poor.id }, limit_usd: '0.000001', reserve: 'worst' });
  const revoked = await addKey({ config });
  await manage('POST', `/api/gateway/v1/virtual-keys/${revoked.id}/revoke`, {});
  const all = [key, ofAway, cached, limited, poor, revoked];
  secrets.push(...all.map(({ secret }) => secret), gateway.secret);
  const keep = ({ text, headers }: Sent) => texts.push(text, JSON.stringify([...headers]));
  for (const step of STEPS) {
    for (const body of [CHAT, STREAM]) {
      const sent = await send(CHAT_PATH, { secret: key.secret, body, step });
      const { headers } = sent;
      // What the provider itself answers passes as it is.
      if (step.body === undefined && step.redirect === undefined) keep(sent);
      texts.push(JSON.stringify([...headers]));
    }
  }
  for (const { secret } of all) {
    for (const body of [CHAT, CHAT, { ...CHAT, model: 'unknown' }, {}, '{'])
      keep(await send(CHAT_PATH, { secret, body }));
    keep(await send('/v1/messages', { secret: '', body: MESSAGES, headers: { 'x-api-key': secret } }));
    keep(await send('/v1/messages', { secret: 'no key', body: MESSAGES, headers: { 'api-key': secret } }));
    keep(await send(`${CHAT_PATH}?api_key=${secret}`, { secret, body: CHAT }));
    keep(await send(`/v1/${secret}`, { secret, verb: 'GET' }));
    keep(await send(`/v1/responses/${secret}`, { secret, verb: 'GET' }));
    keep(await send('/v1/embeddings', { secret, body: { model: MODEL, input: 'Hello' } }));
    keep(await send('/v1/models', { secret, verb: 'GET' }));
    keep(await send('/v1/me', { secret, verb: 'GET' }));
    keep(await send('/v1/me', { secret: `${secret.slice(0, -1)}0`, verb: 'GET' }));
  }
  await Promise.all([provider, away].map((id) => manage('POST', `/api/gateway/v1/model-providers/${id}/test`)));
  for (const path of ['/api/audit-log', '/api/gateway/v1/model-providers', '/api/gateway/v1/virtual-keys']) {
    texts.push(JSON.stringify(await manage('GET', path)));
  }
  texts.push(JSON.stringify(await manage('GET', '/api/webhooks/v1/events?from=0&to=9007199254740991&limit=200')));
  await until(() => app.logged.some((line) => line.includes('/v1/chat/completions')));
  await app.stop();
  await app.store.close();
  const stored = await app.database.contents();
  await gateway.mock.close();
  await app.database.remove();
  // The part after the prefix is the secret.
  const needles = secrets.map((secret) => secret.replace(/^(sk|vk-lw)-/, ''));
  const found = (places: readonly string[]) => needles.filter((needle) => places.some((text) => text.includes(needle)));
  const hits = { stored: found(stored), logged: found(app.logged), told: found(texts) };
  report({
    id: 'G1 gateway',
    seed: 0,
    n: stored.length + app.logged.length + texts.length,
    pass: !Object.values(hits).some((each) => each.length > 0),
  });
  expect(stored.length).toBeGreaterThan(0);
  expect(app.logged.length).toBeGreaterThan(needles.length);
  expect(hits).toEqual({ stored: [], logged: [], told: [] });
});
