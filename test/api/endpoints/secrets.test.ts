import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EndpointService } from '../../../gen/spandrel/v1/endpoints_pb.js';
import { createEndpointSecrets } from '../../../src/domain/endpoints/endpoint-secrets.ts';
import type { TestApp } from '../../support/app.ts';
import { callRpc } from '../../support/surfaces.ts';
import { BASE, call, create, HTTP, invoke, QUEUE_URL, SURFACES, startSending } from './endpoints-client.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startSending({ SPANDREL_MAX_INFLIGHT: '500' });
});
afterAll(async () => {
  await app.close();
});

const freshKey = () => `key-${randomBytes(8).toString('hex')}`;

/** The current signing secrets, newest first. */
async function signing(id: string): Promise<readonly string[]> {
  const endpoint = await app.store.webhooks.endpoint(app.organizationId, id);
  if (endpoint === null) throw new Error('no endpoint');
  const secrets = createEndpointSecrets({ encryptionKeys: app.rootKeys.encryptionKeys, random: randomBytes });
  return secrets.signing(endpoint, Date.now());
}

describe.each(SURFACES)('rolling a secret over %s', (surface) => {
  it('answers the endpoint with the new secret, which signs at once beside the old one', async () => {
    const { id, secret: old } = await create(app);
    const { data } = await invoke(app, [surface, 'rollEndpointSecret'], { id });
    expect(Object.keys(data).at(-1)).toBe('secret');
    expect(data.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await signing(id)).toEqual([data.secret, old]);
    const health = await invoke(app, [surface, 'getEndpointHealth'], { id });
    const expiresAt = Date.parse(health.data.extras.previous_secret_expires_at);
    expect(expiresAt - Date.parse(data.updated_at)).toBe(86_400_000);
  });

  it('ends the old one at once where no overlap is wanted', async () => {
    const { id } = await create(app);
    const roll = { id, query: { overlap_seconds: '0' } };
    const { data } = await invoke(app, [surface, 'rollEndpointSecret'], roll);
    expect(await signing(id)).toEqual([data.secret]);
    await invoke(
      app,
      [surface, 'rollEndpointSecret'],
      { id, query: { overlap_seconds: '86401' } },
      '400 validation_error',
    );
  });
});

describe('at once', () => {
  it('a hundred rolls leave one current and one previous secret', async () => {
    const { id } = await create(app);
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => call(app, 'POST', `${BASE}/${id}/roll-secret`)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(100).fill(200));
    const secrets = answers.map(({ body }) => String(body.data.secret));
    expect(new Set(secrets).size).toBe(100);
    const left = await signing(id);
    expect(left).toHaveLength(2);
    expect(secrets).toEqual(expect.arrayContaining([...left]));
  });

  it('fifty creations under one idempotency key make one endpoint and one secret', async () => {
    const headers = { 'idempotency-key': freshKey() };
    const description = freshKey();
    const body = { ...HTTP, description };
    const secrets = new Set<string>();
    const bodies = new Set<string>();
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        for (let tries = 0; tries < 200; tries += 1) {
          const answer = await call(app, 'POST', BASE, { body, headers });
          if (answer.status === 201) {
            secrets.add(answer.body.data.secret);
            bodies.add(answer.text);
            return;
          }
          expect(answer.body.error).toMatchObject({ code: 'idempotency_error', meta: { reason: 'in_progress' } });
        }
        throw new Error('the first creation never ends');
      }),
    );
    expect(secrets.size).toBe(1);
    expect(bodies.size).toBe(1);
    const all = await app.store.webhooks.endpoints(app.organizationId, { after: null, limit: null });
    expect(all.filter((endpoint) => endpoint.description === description)).toHaveLength(1);
  });
});

describe('an idempotency key', () => {
  it('answers the same secret again, over another protocol too', async () => {
    const headers = { 'idempotency-key': freshKey() };
    const first = await call(app, 'POST', BASE, { body: HTTP, headers });
    expect(first.headers.get('x-idempotent-replay')).toBeNull();
    const again = await call(app, 'POST', BASE, { body: { unknown: 1, ...HTTP }, headers });
    expect(again).toMatchObject({ status: 201, text: first.text });
    expect(again.headers.get('x-idempotent-replay')).toBe('true');
    const rpc = await callRpc(app.address, {
      method: EndpointService.method.createEndpoint,
      request: { destination: { case: 'url', value: HTTP.url }, enabledEvents: HTTP.enabled_events },
      headers: { authorization: `Bearer ${app.adminKey}`, ...headers },
    });
    if (!rpc.ok) throw rpc.error;
    expect(rpc.body).toEqual(first.body);
    const other = await call(app, 'POST', BASE, { body: { ...HTTP, max_in_flight: 1 }, headers });
    expect(other.body.error).toMatchObject({ code: 'idempotency_error', meta: { reason: 'body_mismatch' } });
  });

  it('rolls once, and is bound to one endpoint and one overlap', async () => {
    const { id } = await create(app);
    const other = await create(app);
    const headers = { 'idempotency-key': freshKey() };
    const first = await call(app, 'POST', `${BASE}/${id}/roll-secret`, { headers });
    const again = await call(app, 'POST', `${BASE}/${id}/roll-secret`, { headers, body: 'ignored' });
    expect(again.text).toBe(first.text);
    expect((await signing(id))[0]).toBe(first.body.data.secret);
    for (const path of [`${BASE}/${other.id}/roll-secret`, `${BASE}/${id}/roll-secret?overlap_seconds=1`]) {
      expect((await call(app, 'POST', path, { headers })).status).toBe(409);
    }
  });

  it('is free again when nothing came of it', async () => {
    const headers = { 'idempotency-key': freshKey() };
    const refused = await call(app, 'POST', BASE, { body: { ...HTTP, url: 'http://example.com/' }, headers });
    expect(refused.body.error.code).toBe('webhook_endpoint_invalid');
    expect((await call(app, 'POST', BASE, { body: HTTP, headers })).status).toBe(201);
    const short = await call(app, 'POST', BASE, { body: HTTP, headers: { 'idempotency-key': 'short' } });
    expect(short.body.error.meta).toMatchObject({ target: 'header', fields: ['Idempotency-Key'] });
  });

  it('is ignored by tests', async () => {
    const { id } = await create(app);
    const headers = { 'idempotency-key': 'x' };
    expect((await call(app, 'POST', `${BASE}/${id}/test`, { headers })).status).toBe(200);
  });
});

it('no secret is in any read, in the log of the process or in the files of the database', async () => {
  const key = `sesame-${randomBytes(16).toString('hex')}`;
  const sqs = { queue_url: QUEUE_URL, access_key_id: 'AKIAEXAMPLE', secret_access_key: key };
  const queue = await create(app, { destination_kind: 'sqs', sqs, enabled_events: ['*'] });
  const http = await create(app);
  const rolled = await invoke(app, ['REST', 'rollEndpointSecret'], { id: http.id });
  await invoke(app, ['REST', 'testEndpoint'], { id: http.id });
  await invoke(app, ['REST', 'updateEndpoint'], { id: queue.id, body: { sqs: { secret_access_key: `${key}2` } } });
  const reads: string[] = [];
  for (const { id } of [queue, http]) {
    for (const tail of ['', '/deliveries', '/dead-letters', '/health']) {
      const { status, text } = await call(app, 'GET', `${BASE}/${id}${tail}`);
      expect(status).toBe(200);
      reads.push(text);
    }
  }
  reads.push((await call(app, 'GET', BASE)).text, (await call(app, 'GET', '/api/audit-log?limit=200')).text);
  const files = await app.database.contents();
  for (const secret of [key, queue.secret, http.secret, rolled.data.secret]) {
    for (const text of [...reads, ...files, ...app.logged]) expect(text.includes(secret)).toBe(false);
  }
  for (const text of reads) expect(text).not.toMatch(/"secret"|whsec_/);
});

it('the limit of endpoints is that of the setting', async () => {
  const small = await startSending({ SPANDREL_WEBHOOK_MAX_ENDPOINTS: '1' });
  const { id } = await create(small);
  for (const surface of SURFACES) {
    await invoke(small, [surface, 'createEndpoint'], { body: HTTP }, '409 webhook_endpoint_limit');
  }
  await invoke(small, ['REST', 'archiveEndpoint'], { id });
  await create(small);
  await small.close();
});
