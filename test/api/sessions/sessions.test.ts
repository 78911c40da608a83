import { randomBytes } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SessionService } from '../../../gen/spandrel/v1/sessions_pb.js';
import { hashSecret, mintSecretPart } from '../../../src/domain/secrets.ts';
import { SESSION_AGE_MAX_MS, SESSION_IDLE_MS, SESSIONS_PER_OWNER_MAX } from '../../../src/domain/sessions/session.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { until } from '../../support/temp.ts';
import { addMember, mint, restrictedTo } from '../keys/keys-client.ts';
import { act } from '../organization/organization-client.ts';
import { begin, consoleHeaders, MAX_AGE_SECONDS, send } from './session-client.ts';

let app: TestApp;
let nowMs = Date.now();
beforeAll(async () => {
  app = await startApp({ clock: () => nowMs, environment: { SPANDREL_TRUSTED_PROXIES: '127.0.0.1/32' } });
});
afterAll(async () => {
  await app.close();
});

const SESSIONS = '/api/auth/sessions';
const works = async (cookie: string) => (await send(app, { path: SESSIONS, headers: consoleHeaders(cookie) })).status;
const list = async (headers: { readonly [name: string]: string }, query = '') => {
  const { status, body } = await send(app, { path: SESSIONS + query, headers });
  expect(status).toBe(200);
  return body as { data: { id: string; current: boolean }[]; next_cursor: string | null };
};
const idsOf = async (token: string) => (await list({ authorization: `Bearer ${token}` })).data.map(({ id }) => id);

describe('beginning a session', () => {
  it('sets a cookie that scripts and other sites do not get, and returns no secret', async () => {
    const { id, token } = await mint(app, {});
    const answer = await send(app, {
      verb: 'POST',
      path: '/api/auth/session',
      headers: { 'x-auth-token': token, 'user-agent': 'Browser/1' },
    });
    expect(answer.status).toBe(201);
    const [pair = '', ...attributes] = (answer.cookie ?? '').split('; ');
    expect(pair).toMatch(/^spandrel_session=[0-9A-Za-z]{48}$/);
    expect(attributes).toEqual([`Max-Age=${MAX_AGE_SECONDS}`, 'HttpOnly', 'SameSite=Strict', 'Path=/']);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^session_[0-9A-Za-z]{21}$/),
      userId: app.userId,
      apiKeyId: id,
      projectId: null,
      current: false,
      userAgent: 'Browser/1',
      ip: '127.0.0.1',
      createdAt: new Date(nowMs).toISOString(),
      lastSeenAt: new Date(nowMs).toISOString(),
      expiresAt: new Date(nowMs + SESSION_AGE_MAX_MS).toISOString(),
    });
    expect(JSON.stringify(answer.body)).not.toContain(pair.split('=')[1]);
    expect(app.logged.join('\n')).not.toContain(pair.split('=')[1]);
  });

  it('marks the cookie secure when the trusted proxy in front speaks TLS', async () => {
    const attributes = async (proto: string) =>
      (await begin(app, app.adminKey, { 'x-forwarded-proto': proto })).attributes.includes('Secure');
    expect(await Promise.all(['https', 'https, http', 'http', 'http, https'].map(attributes))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it('never takes over a secret that the browser already had', async () => {
    const fixed = `spandrel_session=${mintSecretPart(randomBytes)}`;
    const { cookie } = await begin(app, app.adminKey, { cookie: fixed });
    expect(cookie).not.toBe(fixed);
    expect([await works(fixed), await works(cookie)]).toEqual([401, 200]);
  });

  it('needs a key in a header: a session begins no other', async () => {
    const { cookie } = await begin(app, app.adminKey);
    const again = await send(app, { verb: 'POST', path: '/api/auth/session', headers: consoleHeaders(cookie) });
    expect(again).toMatchObject({ status: 401, body: { code: 'missing_credentials' }, cookie: null });
  });

  it('ends the oldest session of an owner that has too many', async () => {
    const { token } = await mint(app, { keyType: 'service', bindings: [], projectIds: [app.projectId] });
    const first = await begin(app, token);
    for (let count = 1; count < SESSIONS_PER_OWNER_MAX; count += 1) {
      nowMs += 1;
      await begin(app, token);
    }
    expect(await works(first.cookie)).toBe(200);
    nowMs += 1;
    await begin(app, token);
    expect(await works(first.cookie)).toBe(401);
  }, 60_000);
});

describe('a session', () => {
  it('is stored as a hash only', async () => {
    const { id, cookie } = await begin(app, app.adminKey);
    const secret = cookie.split('=')[1] ?? '';
    const stored = await app.store.management.session(app.organizationId, id);
    expect(stored?.secretHash.equals(hashSecret(app.rootKeys.pepper, secret))).toBe(true);
    expect(JSON.stringify(stored)).not.toContain(secret);
  });

  it('counts over Connect, and acts as a session in the audit log', async () => {
    const { cookie } = await begin(app, app.adminKey);
    const transport = createConnectTransport({
      baseUrl: app.address,
      httpVersion: '1.1',
      interceptors: [
        (next) => (request) => {
          for (const [name, value] of Object.entries(consoleHeaders(cookie))) request.header.set(name, value);
          return next(request);
        },
      ],
    });
    const sessions = createClient(SessionService, transport);
    expect((await sessions.listSessions({})).data.filter(({ current }) => current)).toHaveLength(1);
    const made = await send(app, {
      verb: 'POST',
      path: '/api/teams',
      headers: consoleHeaders(cookie, { 'content-type': 'application/json' }),
      body: JSON.stringify({ name: 'by a session' }),
    });
    const { data } = await act(app, 'GET', `/api/audit-log?targetId=${made.body.id}`);
    const keyId = app.adminKey.split('_')[0]?.slice(-16);
    expect(data).toMatchObject([{ actorKind: 'session', actorUserId: app.userId, actorKeyId: keyId }]);
    const cleared: (string | null)[] = [];
    await sessions.logout({}, { onHeader: (headers) => void cleared.push(headers.get('set-cookie')) });
    expect(cleared[0]).toMatch(/^spandrel_session=; Max-Age=0; HttpOnly/);
    expect(await works(cookie)).toBe(401);
  });

  it('ends after twelve hours without use, and after seven days in use', async () => {
    const idle = await begin(app, app.adminKey);
    const used = await begin(app, app.adminKey);
    const endsAtMs = nowMs + SESSION_AGE_MAX_MS;
    let isIdleOver = false;
    while (nowMs + SESSION_IDLE_MS / 2 < endsAtMs) {
      nowMs += SESSION_IDLE_MS / 2;
      expect(await works(used.cookie)).toBe(200);
      const seenAtMs = nowMs;
      // Uses are recorded outside of requests.
      await until(async () => {
        const stored = await app.store.management.session(app.organizationId, used.id);
        return stored?.lastSeenAtMs === seenAtMs;
      });
      if (isIdleOver) continue;
      isIdleOver = nowMs - (endsAtMs - SESSION_AGE_MAX_MS) >= SESSION_IDLE_MS;
      if (isIdleOver) expect(await works(idle.cookie)).toBe(401);
    }
    nowMs = endsAtMs - 1;
    expect(await works(used.cookie)).toBe(200);
    nowMs = endsAtMs;
    expect(await works(used.cookie)).toBe(401);
  }, 60_000);

  it('reaches a project as its key does, and collects nothing', async () => {
    const { cookie } = await begin(app, app.projectKey);
    const ask = (path: string, headers = {}) =>
      send(app, {
        verb: 'POST',
        path,
        headers: consoleHeaders(cookie, { 'content-type': 'application/json', ...headers }),
        body: '{}',
      });
    expect((await ask('/api/traces/search')).status).toBe(200);
    for (const path of ['/api/collector', '/v1/traces', '/api/otel/v1/traces', '/v1/logs']) {
      expect(await ask(path), path).toMatchObject({ status: 401 });
    }
    const organization = await send(app, { path: '/api/organization', headers: consoleHeaders(cookie) });
    expect(organization).toMatchObject({ status: 401, body: { code: 'credential_class_mismatch' } });
  });
});

/** What ends a key, and its session on the very next request. */
describe('a session ends with its key', () => {
  it('that is revoked, rotated or given less', async () => {
    const revoked = await mint(app, {});
    const first = await begin(app, revoked.token);
    expect(await works(first.cookie)).toBe(200);
    await act(app, 'DELETE', `/api/api-keys/${revoked.id}`);
    expect(await works(first.cookie)).toBe(401);

    const rotated = await mint(app, {});
    const second = await begin(app, rotated.token);
    await act(app, 'POST', `/api/api-keys/${rotated.id}/rotate`, { overlapSeconds: 60 });
    expect(await works(second.cookie)).toBe(200);
    nowMs += 60_000;
    expect(await works(second.cookie)).toBe(401);
    const { data } = await act(app, 'GET', '/api/auth/sessions');
    expect(data.map(({ id }: { readonly id: string }) => id)).not.toContain(second.id);

    const narrowed = await mint(app, { keyType: 'service' });
    const third = await begin(app, narrowed.token);
    const members = () => send(app, { path: '/api/organization/members', headers: consoleHeaders(third.cookie) });
    expect((await members()).status).toBe(200);
    const bindings = [{ role: 'VIEWER', scopeType: 'ORGANIZATION', scopeId: app.organizationId }];
    await act(app, 'PATCH', `/api/api-keys/${narrowed.id}`, { bindings });
    expect((await members()).status).toBe(403);
  });

  it('that expires, at that instant', async () => {
    const key = await mint(app, { expiresAt: new Date(nowMs + 3_600_000).toISOString() });
    const session = await begin(app, key.token);
    expect(session.attributes).toContain('Max-Age=3600');
    nowMs += 3_599_999;
    expect(await works(session.cookie)).toBe(200);
    nowMs += 1;
    expect(await works(session.cookie)).toBe(401);
  });

  it('for good when its member is disabled or removed', async () => {
    const disabled = await addMember(app, 'MEMBER');
    const session = await begin(app, disabled.key.token);
    const path = `/api/organization/members/${disabled.userId}`;
    await act(app, 'PATCH', path, { disabled: true });
    expect(await works(session.cookie)).toBe(401);
    await act(app, 'PATCH', path, { disabled: false });
    expect(await works(session.cookie)).toBe(401);
    const again = await begin(app, disabled.key.token);
    await act(app, 'DELETE', path);
    expect(await works(again.cookie)).toBe(401);
  });

  it('of a project, when that is rotated or archived', async () => {
    const project = await act(app, 'POST', '/api/projects', { name: 'sessions' });
    const first = await begin(app, project.apiKey);
    const { apiKey } = await act(app, 'POST', `/api/projects/${project.id}/rotate-api-key`);
    expect(await works(first.cookie)).toBe(401);
    const second = await begin(app, apiKey);
    expect(await works(second.cookie)).toBe(200);
    await act(app, 'DELETE', `/api/projects/${project.id}`);
    expect(await works(second.cookie)).toBe(401);
  });
});

describe('listing and revoking sessions', () => {
  it('shows a person their own, whichever key they use, and an administrator all', async () => {
    const member = await addMember(app, 'MEMBER');
    const own = await begin(app, member.key.token);
    const other = await begin(app, (await mint(app, { keyType: 'service' })).token);
    const ofProject = await begin(app, app.projectKey);
    expect(await idsOf(member.key.token)).toEqual([own.id]);
    expect(await idsOf(app.projectKey)).toContain(ofProject.id);
    expect(await idsOf(app.projectKey)).not.toContain(own.id);
    expect(await idsOf(app.adminKey)).toEqual(expect.arrayContaining([own.id, other.id, ofProject.id]));
    const narrow = await mint(app, restrictedTo(app, 'organization:manage'));
    const seen = await idsOf(narrow.token);
    expect(seen).not.toContain(own.id);
    const shown = await list(consoleHeaders(own.cookie));
    expect(shown.data).toMatchObject([{ id: own.id, current: true }]);
  });

  it('pages by cursors of its own list alone', async () => {
    const { token } = await addMember(app, 'MEMBER').then(({ key }) => key);
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      nowMs += 1;
      ids.unshift((await begin(app, token)).id);
    }
    const first = await list({ authorization: `Bearer ${token}` }, '?limit=2');
    expect(first.data.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    const rest = await list({ authorization: `Bearer ${token}` }, `?limit=2&cursor=${first.next_cursor}`);
    expect([rest.data.map(({ id }) => id), rest.next_cursor]).toEqual([ids.slice(2), null]);
    const foreign = await send(app, {
      path: `${SESSIONS}?cursor=${first.next_cursor}`,
      headers: { authorization: `Bearer ${app.adminKey}` },
    });
    expect(foreign).toMatchObject({ status: 422, body: { code: 'invalid_cursor' } });
  });

  it('revokes one at once, and no one of somebody else', async () => {
    const member = await addMember(app, 'MEMBER');
    const one = await begin(app, member.key.token);
    const two = await begin(app, member.key.token);
    const revoke = (id: string, headers: { readonly [name: string]: string }) =>
      send(app, { verb: 'DELETE', path: `${SESSIONS}/${id}`, headers });
    expect(await revoke(one.id, consoleHeaders(two.cookie))).toMatchObject({ status: 200, body: { success: true } });
    expect([await works(one.cookie), await works(two.cookie)]).toEqual([401, 200]);
    const stranger = await addMember(app, 'MEMBER');
    const refused = await revoke(two.id, { authorization: `Bearer ${stranger.key.token}` });
    expect(refused).toMatchObject({ status: 404, body: { code: 'session_not_found' } });
    expect(await works(two.cookie)).toBe(200);
    nowMs += 1;
    expect((await revoke(two.id, { authorization: `Bearer ${app.adminKey}` })).status).toBe(200);
    expect(await works(two.cookie)).toBe(401);
    const { data } = await act(app, 'GET', `/api/audit-log?targetId=${two.id}`);
    expect(data.map(({ action }: { action: string }) => action)).toEqual(['session.revoke', 'session.create']);
  });

  it('signs out without a session by changing nothing', async () => {
    const { cookie } = await begin(app, app.adminKey);
    const answer = await send(app, {
      verb: 'POST',
      path: '/api/auth/logout',
      headers: { ...consoleHeaders(cookie), authorization: `Bearer ${app.adminKey}` },
    });
    expect(answer.status).toBe(200);
    expect(await works(cookie)).toBe(200);
  });
});

describe('what a credential reaches', () => {
  const reach = async (headers: { readonly [name: string]: string }) => {
    const { status, body } = await send(app, { path: '/api/auth/session', headers });
    expect(status).toBe(200);
    return body;
  };

  it('is what its key may do, with the projects and the organization that it may see', async () => {
    const session = await begin(app, app.adminKey);
    const all = await reach(consoleHeaders(session.cookie));
    expect(all).toMatchObject({ session: { id: session.id, current: true }, organizationName: 'Default organization' });
    expect(all.projects.map(({ id }: { id: string }) => id)).toContain(app.projectId);
    const { effectivePermissions } = await act(app, 'GET', `/api/api-keys/${all.apiKeyId}`);
    expect(all.effectivePermissions).toEqual(effectivePermissions);
    expect(await reach({ authorization: `Bearer ${app.adminKey}` })).toEqual({ ...all, session: null });
  });

  it('of a narrow key is its project, by its name, and nothing of the organization', async () => {
    const { name, slug } = await act(app, 'GET', `/api/projects/${app.projectId}`);
    const { token, id } = await mint(app, {
      keyType: 'service',
      permissionMode: 'restricted',
      permissions: ['traces:view'],
      bindings: [{ role: 'CUSTOM', scopeType: 'PROJECT', scopeId: app.projectId }],
    });
    expect(await reach({ authorization: `Bearer ${token}` })).toEqual({
      session: null,
      apiKeyId: id,
      organizationName: null,
      projects: [{ id: app.projectId, name, slug }],
      effectivePermissions: ['traces:view'],
    });
    const ofProject = await reach({ authorization: `Bearer ${app.projectKey}` });
    expect(ofProject).toMatchObject({ apiKeyId: null, projects: [{ id: app.projectId, name, slug }] });
    expect(ofProject.effectivePermissions).toContain('traces:create');
    expect(ofProject.effectivePermissions).not.toContain('organization:manage');
  });
});
