import { randomBytes } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiKeyService } from '../../../gen/spandrel/v1/keys_pb.js';
import { TeamService } from '../../../gen/spandrel/v1/organization_pb.js';
import { storedName } from '../../../src/domain/management/idempotency.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { addKey, custom } from '../../support/fixtures.ts';
import { callRest, callRpc } from '../../support/surfaces.ts';

let app: TestApp;
const clock = { aheadMs: 0 };
beforeAll(async () => {
  app = await startApp({ clock: () => Date.now() + clock.aheadMs });
});
afterAll(async () => {
  await app.close();
});

type Headers = { readonly [name: string]: string };

const freshKey = () => `key-${randomBytes(8).toString('hex')}`;
const named = (key: string, token = app.adminKey): Headers => ({ 'x-auth-token': token, 'idempotency-key': key });
const teamName = () => `team ${randomBytes(6).toString('hex')}`;

function createTeam(name: string, headers: Headers) {
  return callRest(app.address, { verb: 'POST', path: '/api/teams', body: { name }, headers });
}

function createKey(body: object, headers: Headers, path = '/api/api-keys') {
  return callRest(app.address, { verb: 'POST', path, body, headers });
}

async function listedTeams(name: string) {
  const { body } = await callRest(app.address, { path: '/api/teams?limit=1000', headers: named('') });
  return body.data.filter((team: { name: string }) => team.name === name);
}

describe('a request that is sent again with its idempotency key', () => {
  it('is answered with the same status and the same bytes, and has no second effect', async () => {
    const [name, headers] = [teamName(), named(freshKey())];
    const first = await createTeam(name, headers);
    expect(first.status).toBe(201);
    expect(first.headers.get('x-idempotent-replay')).toBeNull();
    const second = await createTeam(name, headers);
    expect(second.status).toBe(201);
    expect(second.text).toBe(first.text);
    expect(second.headers.get('x-idempotent-replay')).toBe('true');
    expect(await listedTeams(name)).toHaveLength(1);
  });

  it('gets the token again, which is encrypted in the store', async () => {
    const headers = named(freshKey());
    const first = await createKey({ name: 'ci', keyType: 'service' }, headers);
    expect(first.body.token).toMatch(/^sk-lw-/);
    const second = await createKey(
      { keyType: 'service', name: 'ci', createdAt: 'ignored' },
      headers,
      '/api/v1/api-keys',
    );
    expect(second.text).toBe(first.text);
    const receipt = await app.store.management.claim(
      storedName({
        organizationId: app.organizationId,
        keyId: app.adminKey.slice('sk-lw-'.length).split('_')[0] ?? '',
        operation: '/spandrel.v1.ApiKeyService/CreateApiKey',
        value: headers['idempotency-key'] ?? '',
      }),
      Buffer.alloc(32),
      { nowMs: Date.now(), staleBeforeMs: 0, expiredBeforeMs: 0 },
    );
    if (typeof receipt === 'string') throw new Error(`the answer is not kept: ${receipt}`);
    expect(receipt.answer.includes(first.body.token)).toBe(false);
  });

  it('may come over another protocol', async () => {
    const [name, key] = [teamName(), freshKey()];
    const rest = await createTeam(name, named(key));
    const method = TeamService.method.createTeam;
    const rpc = await callRpc(app.address, { method, request: { name }, headers: named(key) });
    if (!rpc.ok) throw rpc.error;
    expect(rpc.body).toEqual(rest.body);
    expect(rpc.metadata.get('x-idempotent-replay')).toEqual(['true']);
    const teams = createClient(TeamService, createConnectTransport({ baseUrl: app.address, httpVersion: '1.1' }));
    let received = new globalThis.Headers();
    const onHeader = (headers: globalThis.Headers) => {
      received = headers;
    };
    const { team } = await teams.createTeam({ name }, { headers: named(key), onHeader });
    expect(team?.id).toBe(rest.body.id);
    expect(received.get('x-idempotent-replay')).toBe('true');
  });

  it('has one effect however many come at once', async () => {
    const [name, headers] = [teamName(), named(freshKey())];
    const answers = await Promise.all(Array.from({ length: 20 }, () => createTeam(name, headers)));
    const texts = new Set(answers.filter(({ status }) => status === 201).map(({ text }) => text));
    expect(texts.size).toBe(1);
    for (const { status, body, headers } of answers.filter((answer) => answer.status !== 201)) {
      expect(status).toBe(409);
      expect(body).toMatchObject({ code: 'idempotency_error', error: 'idempotency_error', reason: 'in_progress' });
      expect(headers.get('retry-after')).toBe('1');
    }
    expect(await listedTeams(name)).toHaveLength(1);
  });

  it('is refused with another body, over every protocol', async () => {
    const [name, headers] = [teamName(), named(freshKey())];
    await createTeam(name, headers);
    const rest = await createTeam(`${name} two`, headers);
    expect(rest.status).toBe(409);
    expect(rest.body).toMatchObject({ code: 'idempotency_error', reason: 'body_mismatch' });
    expect(rest.headers.get('retry-after')).toBeNull();
    const method = TeamService.method.createTeam;
    const rpc = await callRpc(app.address, { method, request: { name: `${name} two` }, headers });
    expect(rpc).toMatchObject({ ok: false, code: 'idempotency_error', error: { code: 10 } });
  });

  it('identifies another request with another calling key, and with another operation', async () => {
    const key = freshKey();
    const other = await addKey(app, {
      bindings: [{ role: 'ADMIN', scopeType: 'ORGANIZATION', scopeId: app.organizationId, permissions: [] }],
    });
    const [one, two] = [await createTeam(teamName(), named(key)), await createTeam(teamName(), named(key, other))];
    expect([one.status, two.status]).toEqual([201, 201]);
    expect((await createKey({ name: 'ci', keyType: 'service' }, named(key))).status).toBe(201);
  });

  it('may be sent with another body once the first was refused', async () => {
    const headers = named(freshKey());
    const taken = teamName();
    await createTeam(taken, named(freshKey()));
    expect((await createTeam(taken, headers)).body.code).toBe('team_name_taken');
    expect((await createTeam('', headers)).body.code).toBe('validation_error');
    expect((await createTeam(teamName(), headers)).status).toBe(201);
  });

  it('is forgotten after a day', async () => {
    const [name, headers] = [teamName(), named(freshKey())];
    await createTeam(name, headers);
    clock.aheadMs = 24 * 3_600_000 + 1_000;
    try {
      expect((await createTeam(name, headers)).body.code).toBe('team_name_taken');
    } finally {
      clock.aheadMs = 0;
    }
  });

  it('is not answered to a caller who has lost the permission', async () => {
    const [name, key] = [teamName(), freshKey()];
    const token = await addKey(app, { bindings: [custom('ORGANIZATION', app.organizationId, ['team:manage'])] });
    expect((await createTeam(name, named(key, token))).status).toBe(201);
    const id = token.slice('sk-lw-'.length).split('_')[0];
    const narrowed = await callRest(app.address, {
      verb: 'PATCH',
      path: `/api/api-keys/${id}`,
      body: { permissions: ['team:view'] },
      headers: named(''),
    });
    expect(narrowed.status).toBe(200);
    expect((await createTeam(name, named(key, token))).body.code).toBe('insufficient_permissions');
  });

  it('is refused where the key has the wrong length, together with all other problems', async () => {
    const short = await createKey({ keyType: 'odd' }, named('short'));
    expect(short.status).toBe(422);
    expect(short.body).toMatchObject({ code: 'validation_error', target: 'header' });
    expect(short.body.fields).toEqual(expect.arrayContaining(['Idempotency-Key', 'keyType']));
    const method = ApiKeyService.method.createApiKey;
    const rpc = await callRpc(app.address, { method, request: { name: 'ci' }, headers: named('x'.repeat(256)) });
    expect(rpc).toMatchObject({ ok: false, code: 'validation_error', meta: { fields: ['Idempotency-Key'] } });
  });
});
