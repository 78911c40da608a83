import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type IssuedClaims, openBrowser } from '../../support/issuer.ts';
import { act } from '../organization/organization-client.ts';
import { ask, goToIssuer, type OidcApp, personOf, type SignedIn, signIn, startOidcApp } from './oidc-client.ts';

let oidc: OidcApp;
let mapped: OidcApp;
let apart: OidcApp;
const GROUPS = {
  SPANDREL_OIDC_SCOPES: 'openid email profile groups',
  SPANDREL_OIDC_ROLE_CLAIM: 'groups',
  SPANDREL_OIDC_ROLE_MAP: 'cn=admins=ADMIN, staff=MEMBER',
};
beforeAll(async () => {
  oidc = await startOidcApp({ SPANDREL_OIDC_DEFAULT_ROLE: 'VIEWER' });
  mapped = await startOidcApp(GROUPS);
  apart = await startOidcApp(GROUPS, { issuer: { isProfileApart: true, clientAuth: 'client_secret_post' } });
});
afterAll(async () => {
  await oidc.close();
  await mapped.close();
  await apart.close();
});

const MEMBERS = '/api/organization/members';

async function memberOf({ app }: OidcApp, email: string) {
  const { data } = await act(app, 'GET', `${MEMBERS}?limit=200`);
  return data.find((each: { email: string }) => each.email === email);
}

async function invite({ app }: OidcApp, email: string, role = 'MEMBER') {
  const answer = await act(app, 'POST', MEMBERS, { email, name: 'Invited', role });
  return answer.userId as string;
}

const statusOf = async ({ app }: OidcApp, { cookie }: SignedIn, path = '/api/auth/sessions') =>
  (await ask(app, cookie, path)).status;

describe('a sign-in through the issuer', () => {
  it('makes a person of an allowed domain a member with the default role, and begins their session', async () => {
    const { cookie } = await signIn(oidc, personOf('ada'));
    const member = await memberOf(oidc, 'ada@allowed.example');
    expect(member).toMatchObject({ name: 'Person ada', role: 'VIEWER', disabled: false });
    const reached = await ask(oidc.app, cookie, '/api/auth/session');
    expect(reached.body).toMatchObject({
      apiKeyId: null,
      projects: [{ id: oidc.app.projectId }],
      session: { userId: member.userId, apiKeyId: null, projectId: null, current: true },
    });
    expect(reached.body.effectivePermissions).toContain('traces:view');
    expect(reached.body.effectivePermissions).not.toContain('organization:manage');
  });

  it('is that of an invited member, whatever the domain and the case of the address', async () => {
    const userId = await invite(oidc, 'Grace@Elsewhere.Example');
    const signedIn = await signIn(oidc, personOf('grace', { email: 'GRACE@elsewhere.example' }));
    const reached = await ask(oidc.app, signedIn.cookie, '/api/auth/session');
    expect(reached.body.session.userId).toBe(userId);
    // A later sign-in goes by the subject, whatever the address has become.
    const later = await signIn(oidc, personOf('grace', { email: 'other@foreign.example', email_verified: false }));
    expect((await ask(oidc.app, later.cookie, '/api/auth/session')).body.session.userId).toBe(userId);
    expect(await memberOf(oidc, 'grace@elsewhere.example')).toMatchObject({ name: 'Invited', role: 'MEMBER' });
  });

  it('leads back to the page of the console that was asked for, and to no other address', async () => {
    const { app, callback, issuer } = oidc;
    issuer.person = personOf('ada');
    for (const [asked, reached] of [
      ['/default-project/traces?query=a b', '/default-project/traces?query=a%20b'],
      ['/-/sessions', '/-/sessions'],
      ['//evil.example/-/sessions', '/'],
      ['/\t/evil.example/-/sessions', '/'],
      ['/.//evil.example/traces', '/'],
      ['\\\\evil.example/-/sessions', '/'],
      ['https://evil.example/-/sessions', '/'],
      ['@evil.example/-/sessions', '/'],
      ['/api/organization', '/'],
      ['/assets/index.js', '/'],
      [`/-/sessions?${'a'.repeat(4_000)}`, '/'],
    ]) {
      const browser = openBrowser();
      const query = new URLSearchParams({ returnTo: asked ?? '' });
      const address = await browser.follow(`${app.address}/api/auth/login?${query}`, callback);
      expect((await browser.visit(address)).location, asked).toBe(app.address + reached);
    }
  });

  it('keeps what it is recognised by in a cookie of ten minutes, sealed, and only for the way back', async () => {
    const { app, issuer } = oidc;
    const answer = await openBrowser().visit(`${app.address}/api/auth/login`);
    expect(answer.status).toBe(303);
    expect(answer.headers['set-cookie']).toEqual([
      expect.stringMatching(
        /^spandrel_sign_in=[\w-]{100,}; Max-Age=600; HttpOnly; SameSite=Lax; Path=\/api\/auth\/callback$/,
      ),
    ]);
    const { searchParams, origin } = new URL(answer.location ?? '');
    expect(origin).toBe(issuer.url);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      scope: 'openid email profile',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
  });

  it('reads the profile where the issuer keeps it out of the token, and proves itself as the issuer asks', async () => {
    await signIn(apart, personOf('ada', { groups: ['staff'] }));
    expect(await memberOf(apart, 'ada@allowed.example')).toMatchObject({ name: 'Person ada', role: 'MEMBER' });
    const { browser, address } = await goToIssuer(apart, personOf('eve', { email_verified: false }));
    expect((await browser.visit(address)).status).toBe(403);
  });

  it('asks userinfo whether the address is verified where the token does not say it, for that address alone', async () => {
    const { issuer } = oidc;
    const silent = (email?: string) => (claims: IssuedClaims) => {
      const { email_verified: _, ...others } = claims;
      return { ...others, ...(email !== undefined && { email }) };
    };
    try {
      issuer.forge = silent();
      await signIn(oidc, personOf('quiet'));
      issuer.forge = silent('other@allowed.example');
      const { browser, address } = await goToIssuer(oidc, personOf('mallory'));
      const answer = await browser.visit(address);
      expect([answer.status, answer.body]).toEqual([403, expect.stringContaining('does not say that it has verified')]);
    } finally {
      issuer.forge = null;
    }
  });

  it('is in the audit log as what the person did', async () => {
    await signIn(oidc, personOf('audited'));
    const { userId } = await memberOf(oidc, 'audited@allowed.example');
    const { data } = await act(oidc.app, 'GET', `/api/audit-log?actorUserId=${userId}`);
    const actions = data.map(({ action, actorKind, actorKeyId, status, targetId }: { [name: string]: string }) => {
      expect({ actorKind, actorKeyId }).toEqual({ actorKind: 'session', actorKeyId: null });
      return [action, status, targetId];
    });
    expect(actions.toSorted()).toEqual([
      ['member.create', 201, userId],
      ['session.create', 201, expect.stringMatching(/^session_/)],
    ]);
  });
});

describe('the session of a person', () => {
  it('may do what the member may at that moment, and ends with the member', async () => {
    const userId = await invite(oidc, 'linus@allowed.example', 'VIEWER');
    const signedIn = await signIn(oidc, personOf('linus'));
    const createTeam = () => ask(oidc.app, signedIn.cookie, '/api/teams', 'POST', { name: `Team ${Math.random()}` });
    expect((await createTeam()).status).toBe(403);
    await act(oidc.app, 'PATCH', `${MEMBERS}/${userId}`, { role: 'ADMIN' });
    expect((await createTeam()).status).toBe(201);
    await act(oidc.app, 'PATCH', `${MEMBERS}/${userId}`, { role: 'EXTERNAL' });
    expect((await createTeam()).status).toBe(403);
    expect(await statusOf(oidc, signedIn)).toBe(200);
    await act(oidc.app, 'DELETE', `${MEMBERS}/${userId}`);
    expect(await statusOf(oidc, signedIn)).toBe(401);
  });

  it('ends for good when the member is disabled, who is refused until enabled again', async () => {
    const first = await signIn(oidc, personOf('ken'));
    const { userId } = await memberOf(oidc, 'ken@allowed.example');
    await act(oidc.app, 'PATCH', `${MEMBERS}/${userId}`, { disabled: true });
    expect(await statusOf(oidc, first)).toBe(401);
    const { browser, address } = await goToIssuer(oidc, personOf('ken'));
    const refused = await browser.visit(address);
    expect(refused.status).toBe(403);
    expect(refused.body).toContain('Your account is disabled');
    await act(oidc.app, 'PATCH', `${MEMBERS}/${userId}`, { disabled: false });
    expect(await statusOf(oidc, first)).toBe(401);
    expect(await statusOf(oidc, await signIn(oidc, personOf('ken')))).toBe(200);
  });

  it('makes keys within what the member may, and repeats a request with its idempotency key', async () => {
    await invite(oidc, 'barbara@allowed.example', 'ADMIN');
    const { cookie } = await signIn(oidc, personOf('barbara'));
    const keys = '/api/api-keys';
    const copy = await ask(oidc.app, cookie, keys, 'POST', { name: 'copy' });
    expect(copy.body.apiKey).toMatchObject({ keyType: 'personal', permissionMode: 'all', expiresAt: null });
    expect(copy.body.apiKey.bindings).toEqual([
      { role: 'ADMIN', scopeType: 'ORGANIZATION', scopeId: oidc.app.organizationId },
    ]);
    const headers = { 'idempotency-key': 'once-and-only-once' };
    const first = await ask(oidc.app, cookie, keys, 'POST', { name: 'once' }, headers);
    const again = await ask(oidc.app, cookie, keys, 'POST', { name: 'once' }, headers);
    expect(first.status).toBe(201);
    expect(again.body).toEqual(first.body);
    const listed = await ask(oidc.app, cookie, `${keys}?scope=organization`);
    expect(listed.body.data.filter(({ name }: { name: string }) => name === 'once')).toHaveLength(1);
    expect((await ask(oidc.app, cookie, `${keys}/${'0'.repeat(16)}`)).status).toBe(404);
  });

  it('is listed and ended by the person alone, and by administrators', async () => {
    const [mine, other] = [await signIn(oidc, personOf('mine')), await signIn(oidc, personOf('other'))];
    const listed = await ask(oidc.app, mine.cookie, '/api/auth/sessions');
    expect(listed.body.data).toHaveLength(1);
    const [{ id }] = listed.body.data;
    expect((await ask(oidc.app, other.cookie, `/api/auth/sessions/${id}`, 'DELETE')).status).toBe(404);
    await act(oidc.app, 'DELETE', `/api/auth/sessions/${id}`);
    expect(await statusOf(oidc, mine)).toBe(401);
    expect((await ask(oidc.app, other.cookie, '/api/auth/logout', 'POST')).status).toBe(200);
    expect(await statusOf(oidc, other)).toBe(401);
  });
});

describe('the roles that the issuer gives', () => {
  it('are those of the map at each sign-in: the highest, or the default one', async () => {
    const email = 'ada@allowed.example';
    for (const [groups, role] of [
      [['staff', 'unknown'], 'MEMBER'],
      [['cn=admins', 'staff'], 'ADMIN'],
      ['staff', 'MEMBER'],
      [[], 'EXTERNAL'],
      [[7, null, { staff: true }], 'EXTERNAL'],
      [undefined, 'EXTERNAL'],
    ] as const) {
      const { cookie } = await signIn(mapped, personOf('ada', { groups }));
      expect((await memberOf(mapped, email)).role, JSON.stringify(groups)).toBe(role);
      expect((await ask(mapped.app, cookie, '/api/teams', 'POST', { name: `${groups}` })).status).toBe(
        role === 'ADMIN' ? 201 : 403,
      );
    }
    const { userId } = await memberOf(mapped, email);
    const { data } = await act(mapped.app, 'GET', `/api/audit-log?actorUserId=${userId}&action=member.update`);
    expect(data.map(({ fields }: { fields: string[] }) => fields)).toEqual([['role'], ['role'], ['role']]);
  });

  it('never take the role from the last active administrator', async () => {
    await act(mapped.app, 'PATCH', `${MEMBERS}/${mapped.app.userId}`, { name: 'Administrator' });
    const email = 'boss@allowed.example';
    await signIn(mapped, personOf('boss', { groups: ['cn=admins'] }));
    await act(mapped.app, 'PATCH', `${MEMBERS}/${mapped.app.userId}`, { disabled: true });
    const boss = await signIn(mapped, personOf('boss', { groups: ['staff'] }));
    const members = await ask(mapped.app, boss.cookie, MEMBERS);
    expect(members.body.data.find((each: { email: string }) => each.email === email)).toMatchObject({ role: 'ADMIN' });
    const { userId } = mapped.app;
    expect((await ask(mapped.app, boss.cookie, `${MEMBERS}/${userId}`, 'PATCH', { disabled: false })).status).toBe(200);
    await signIn(mapped, personOf('boss', { groups: ['staff'] }));
    expect(await memberOf(mapped, email)).toMatchObject({ role: 'MEMBER' });
  });
});
