import { expect, it } from 'vitest';
import { startApp } from '../support/app.ts';
import { addKey, llmTrace } from '../support/fixtures.ts';
import { report } from '../support/scenario.ts';
import { type Answer, type Body, callRest } from '../support/surfaces.ts';
import { until } from '../support/temp.ts';
import { TEST_SECRET } from '../support/test-database.ts';

type Headers = { readonly [name: string]: string };

const ENDPOINTS = '/api/webhooks/v1/endpoints';
const QUEUE_URL = 'https://sqs.eu-west-1.amazonaws.com/123456789012/events';
const PROVIDERS = '/api/gateway/v1/model-providers';
const VIRTUAL_KEYS = '/api/gateway/v1/virtual-keys';
const PROVIDER_KEY = `sk-${'ProviderSecret'.repeat(3)}`;
const QUEUE_SECRET = `queue/${'Secret'.repeat(6)}`;
/** Nothing listens there. */
const REFUSING_URL = 'http://127.0.0.1:9/hook';

/** All answers without their intended tokens, and those tokens. */
type Seen = { readonly texts: string[]; readonly minted: string[] };

/** Calls every rpc that returns a token, some of them twice with the same idempotency key. */
async function mintEverything(call: (verb: string, path: string, body?: object, headers?: Headers) => Promise<Answer>) {
  const minted: string[] = [];
  const keep = ({ status, text, body }: Answer): Body => {
    expect(status, text).toBeLessThan(300);
    for (const token of [body.token, body.apiKey, body.data?.secret]) if (typeof token === 'string') minted.push(token);
    return body;
  };
  const once = { 'idempotency-key': 'the same again' };
  for (let round = 0; round < 2; round++) {
    keep(await call('POST', '/api/api-keys', { name: 'repeated', keyType: 'service' }, once));
  }
  const { id } = keep(await call('POST', '/api/api-keys', { name: 'personal' }));
  keep(await call('POST', `/api/api-keys/${id}/rotate`, {}));
  keep(await call('POST', `/api/api-keys/${id}/rotate`, { overlapSeconds: 600 }, once));
  const project = keep(await call('POST', '/api/projects', { name: 'another' }));
  keep(await call('POST', `/api/projects/${project.id}/rotate-api-key`, { overlapSeconds: 600 }));
  const imported = `imported-${'x'.repeat(12)}-${'y'.repeat(12)}`;
  keep(await call('POST', '/api/projects', { name: 'imported', apiKey: imported }, once));
  const endpoint = keep(await call('POST', ENDPOINTS, { url: REFUSING_URL, enabled_events: ['*'] })).data.id;
  keep(await call('POST', `${ENDPOINTS}/${endpoint}/roll-secret`, undefined, once));
  keep(await call('POST', `${ENDPOINTS}/${endpoint}/test`));
  const sqs = { queue_url: QUEUE_URL, access_key_id: 'AKIA0000000000000000', secret_access_key: QUEUE_SECRET };
  // No event of its subscription occurs, so nothing is sent.
  keep(await call('POST', ENDPOINTS, { destination_kind: 'sqs', sqs, enabled_events: ['gateway.budget.*'] }));
  minted.push(...(await mintGateway(call, keep, project.id)));
  const lists = ['/api/api-keys', '/api/projects', '/api/audit-log', ENDPOINTS, PROVIDERS, VIRTUAL_KEYS];
  for (const path of [`/api/api-keys/${id}`, ...lists]) await call('GET', path);
  expect(new Set(minted).size).toBe(minted.length - 1);
  return [...new Set(minted)];
}

type Call = (verb: string, path: string, body?: object, headers?: Headers) => Promise<Answer>;

/** A provider with its key, which a test sends nowhere, and the secrets of virtual keys. */
async function mintGateway(call: Call, keep: (answer: Answer) => Body, projectId: string): Promise<readonly string[]> {
  const provider = { name: 'private', kind: 'openai', base_url: 'http://127.0.0.1:9/v1', api_key: PROVIDER_KEY };
  const { id } = keep(await call('POST', PROVIDERS, provider)).model_provider;
  keep(await call('POST', `${PROVIDERS}/${id}/test`));
  keep(await call('PATCH', `${PROVIDERS}/${id}`, { api_key: PROVIDER_KEY, enabled: false }));
  const once = { 'idempotency-key': 'a virtual key' };
  const body = { name: 'app', trace_project_id: projectId };
  const { virtual_key: key, secret } = keep(await call('POST', VIRTUAL_KEYS, body, once));
  const rotated = keep(await call('POST', `${VIRTUAL_KEYS}/${key.id}/rotate`, {}, once));
  keep(await call('POST', `${VIRTUAL_KEYS}/${key.id}/disable`, { reason: 'as a test' }));
  await call('GET', `${VIRTUAL_KEYS}/${rotated.secret}`);
  await call('POST', `${VIRTUAL_KEYS}/${secret}/revoke`, {});
  return [secret, rotated.secret, PROVIDER_KEY];
}

it('G1: no secret appears in the data folder, the log or an error', async () => {
  const app = await startApp({
    writer: 'in its thread',
    environment: { SPANDREL_WEBHOOK_ALLOW: '127.0.0.1', SPANDREL_GATEWAY_ALLOW: '127.0.0.1' },
  });
  const seen: Seen = { texts: [], minted: [] };
  const call = async (verb: string, path: string, body?: object, headers: Headers = {}) => {
    const answer = await callRest(app.address, { verb, path, headers, ...(body === undefined ? {} : { body }) });
    seen.texts.push(JSON.stringify([...answer.headers]));
    return answer;
  };
  const asAdministrator = async (verb: string, path: string, body?: object, headers: Headers = {}) => {
    const answer = await call(verb, path, body, { ...headers, authorization: `Bearer ${app.adminKey}` });
    if (verb === 'GET') seen.texts.push(answer.text);
    return answer;
  };
  seen.minted.push(...(await mintEverything(asAdministrator)));
  const service = await addKey(app, {
    bindings: [{ role: 'ADMIN', scopeType: 'ORGANIZATION', scopeId: app.organizationId, permissions: [] }],
  });
  const unknown = `sk-lw-${'0'.repeat(16)}_${'A'.repeat(42)}2fwxgK`;
  const secrets = [app.projectKey, app.adminKey, service, unknown, TEST_SECRET, QUEUE_SECRET, ...seen.minted];
  for (const token of secrets) {
    const basic = `Basic ${Buffer.from(`x:${token}`).toString('base64')}`;
    const answers = [
      await call('POST', '/api/collector', llmTrace(Date.now()), { 'x-auth-token': token }),
      await call('GET', '/api/webhooks/v1/events?from=2&to=1', undefined, { authorization: `Bearer ${token}` }),
      await call('POST', '/api/collector', {}, { authorization: basic }),
      await call('GET', `/api/traces/t?format=${token.slice(0, 3)}`, undefined, { 'x-auth-token': token }),
      await call('POST', '/api/projects', { apiKey: [token] }, { authorization: `Bearer ${app.adminKey}` }),
    ];
    seen.texts.push(...answers.map(({ text }) => text));
  }
  await until(() => app.logged.some((line) => line.startsWith('delivery attempt')));
  await app.stop();
  await app.store.close();
  const stored = await app.database.contents();
  await app.database.remove();
  // The part after the last underscore or prefix is the secret.
  const needles = secrets.map((secret) => secret.replace(/^(sk|vk)-lw-/, '').replace(/^[^_]*_/, ''));
  const databases = [...stored, ...app.logged, ...seen.texts];
  const hits = needles.filter((needle) => databases.some((database) => database.includes(needle)));
  report({ id: 'G1', seed: 0, n: databases.length, pass: hits.length === 0 });
  expect(stored.length).toBeGreaterThan(0);
  expect(app.logged.length).toBeGreaterThan(0);
  expect(hits).toEqual([]);
});
