import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Browser, type IssuedClaims, openBrowser } from '../../support/issuer.ts';
import { act } from '../organization/organization-client.ts';
import { ask, goToIssuer, type OidcApp, personOf, signIn, startOidcApp } from './oidc-client.ts';

let oidc: OidcApp;
let trusting: OidcApp;
let nowMs = Date.now();
beforeAll(async () => {
  oidc = await startOidcApp({}, { clock: () => nowMs });
  trusting = await startOidcApp({ SPANDREL_OIDC_TRUST_EMAIL: 'true' });
});
afterAll(async () => {
  await oidc.close();
  await trusting.close();
});

const SESSION = 'spandrel_session';
const ATTEMPT = 'spandrel_sign_in';
const CSP = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Comes back to an address, is refused with a page for people, and has no session. */
async function expectRefused(browser: Browser, address: string, status: number, sentence: string | RegExp) {
  const answer = await browser.visit(address, { 'x-request-id': 'req_of_this_test' });
  expect(answer.status, answer.body).toBe(status);
  expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(answer.headers['content-security-policy']).toBe(CSP);
  expect(answer.headers['cache-control']).toBe('no-store');
  expect(answer.headers['set-cookie']).toBeUndefined();
  expect(answer.body).toMatch(sentence);
  expect(answer.body).toContain('req_of_this_test');
  expect(answer.body).not.toMatch(/<script|<style| style=| on\w+=/);
  expect(browser.cookie(oidc.app.address, SESSION)).toBeNull();
}

async function memberCount({ app }: OidcApp): Promise<number> {
  return (await act(app, 'GET', '/api/organization/members?limit=200')).data.length;
}

const INVALID = 'What the issuer sent is not valid for this sign-in.';
const ENDED = 'This sign-in has ended, or began in another browser.';

describe('a browser that comes back is refused', () => {
  it('without a sign-in that it began itself', async () => {
    const { address } = await goToIssuer(oidc, personOf('victim'));
    await expectRefused(openBrowser(), address, 400, ENDED);
    await expectRefused(openBrowser(), oidc.callback, 400, ENDED);
  });

  it('with a forged state, or two', async () => {
    const { browser, address } = await goToIssuer(oidc, personOf('ada'));
    const forged = new URL(address);
    forged.searchParams.set('state', 'a'.repeat(43));
    await expectRefused(browser, forged.href, 400, ENDED);
    const doubled = new URL(address);
    doubled.searchParams.append('state', 'a'.repeat(43));
    await expectRefused(browser, doubled.href, 400, ENDED);
    forged.searchParams.delete('state');
    await expectRefused(browser, forged.href, 400, ENDED);
    // The sign-in itself is still good.
    expect((await browser.visit(address)).status).toBe(303);
  });

  it('with a cookie that it wrote itself, or that is another secret of ours', async () => {
    const { browser, address } = await goToIssuer(oidc, personOf('ada'));
    const sealed = browser.cookie(oidc.app.address, ATTEMPT) ?? '';
    const changed = sealed.slice(0, -2) + (sealed.endsWith('AA') ? 'BB' : 'AA');
    for (const value of [changed, Buffer.from('{"state":"x"}').toString('base64url'), 'x', `${sealed}; ${ATTEMPT}=x`]) {
      browser.setCookie(oidc.app.address, ATTEMPT, value);
      await expectRefused(browser, address, 400, ENDED);
    }
  });

  it('a second time with the same state, even with the cookie of the first', async () => {
    const { browser, address } = await goToIssuer(oidc, personOf('ada'));
    const sealed = browser.cookie(oidc.app.address, ATTEMPT) ?? '';
    expect((await browser.visit(address)).status).toBe(303);
    const thief = openBrowser();
    await expectRefused(thief, address, 400, ENDED);
    thief.setCookie(oidc.app.address, ATTEMPT, sealed);
    await expectRefused(thief, address, 400, ENDED);
  });

  it('with a code that was used before, or for another sign-in', async () => {
    const first = await goToIssuer(oidc, personOf('ada'));
    const code = new URL(first.address).searchParams.get('code') ?? '';
    expect((await first.browser.visit(first.address)).status).toBe(303);
    for (const used of [code, 'made-up', '']) {
      const { browser, address } = await goToIssuer(oidc, personOf('ada'));
      const replayed = new URL(address);
      replayed.searchParams.set('code', used);
      await expectRefused(browser, replayed.href, 400, INVALID);
    }
    const [other, own] = [await goToIssuer(oidc, personOf('eve')), await goToIssuer(oidc, personOf('ada'))];
    const injected = new URL(own.address);
    injected.searchParams.set('code', new URL(other.address).searchParams.get('code') ?? '');
    await expectRefused(own.browser, injected.href, 400, INVALID);
  });

  it('after ten minutes', async () => {
    const { browser, address } = await goToIssuer(oidc, personOf('ada'));
    nowMs += 600_000;
    try {
      await expectRefused(browser, address, 400, ENDED);
    } finally {
      nowMs -= 600_000;
    }
    nowMs += 599_000;
    try {
      expect((await browser.visit(address)).status).toBe(303);
    } finally {
      nowMs -= 599_000;
    }
  });

  it('from another issuer, and when the issuer does not let the person in', async () => {
    const { browser, address } = await goToIssuer(oidc, personOf('ada'));
    const foreign = new URL(address);
    foreign.searchParams.set('iss', 'https://issuer.example');
    await expectRefused(browser, foreign.href, 400, INVALID);
    const denied = await goToIssuer(oidc, personOf('ada'));
    const refused = new URL(denied.address);
    refused.searchParams.delete('code');
    refused.searchParams.set('error', 'access_denied');
    refused.searchParams.set('error_description', '<script>alert(1)</script>');
    await expectRefused(denied.browser, refused.href, 403, 'The issuer did not let you in.');
  });
});

describe('a token is refused', () => {
  const past = Math.floor(Date.now() / 1_000) - 3_600;
  it.each<readonly [string, (claims: IssuedClaims) => IssuedClaims]>([
    ['of another issuer', (claims) => ({ ...claims, iss: 'https://issuer.example' })],
    ['for another audience', (claims) => ({ ...claims, aud: 'another-client' })],
    [
      'for several audiences, none of which asked for it',
      (claims) => ({ ...claims, aud: ['spandrel', 'b'], azp: 'b' }),
    ],
    ['with another nonce', (claims) => ({ ...claims, nonce: 'another' })],
    ['without a nonce', ({ nonce: _, ...claims }) => claims],
    ['that has expired', (claims) => ({ ...claims, iat: past, exp: past + 60 })],
    ['without an expiry', ({ exp: _, ...claims }) => claims],
    ['with an empty subject', (claims) => ({ ...claims, sub: '' })],
    ['with a subject that is too long', (claims) => ({ ...claims, sub: 'a'.repeat(256) })],
    ['with a subject that no store keeps', (claims) => ({ ...claims, sub: 'a\0b' })],
  ])('%s', async (_, forge) => {
    const { issuer } = oidc;
    const before = await memberCount(oidc);
    issuer.forge = forge;
    try {
      const { browser, address } = await goToIssuer(oidc, personOf('forged'));
      await expectRefused(browser, address, 400, INVALID);
    } finally {
      issuer.forge = null;
    }
    expect(await memberCount(oidc)).toBe(before);
  });

  it('that another key has signed', async () => {
    oidc.issuer.hasForeignKey = true;
    try {
      const { browser, address } = await goToIssuer(oidc, personOf('forged'));
      await expectRefused(browser, address, 400, INVALID);
    } finally {
      oidc.issuer.hasForeignKey = false;
    }
    expect(oidc.app.logged.join('\n')).toContain(
      'the issuer of sign-ins could not be asked, or its answer was refused',
    );
  });
});

describe('a person is refused', () => {
  it.each<readonly [string, IssuedClaims, string]>([
    ['whose address is not verified', personOf('a', { email_verified: false }), 'The issuer has not verified'],
    ['whose address may not be verified', personOf('a', { email_verified: undefined }), 'does not say that it has'],
    ['of a foreign domain', personOf('a', { email: 'a@foreign.example' }), 'You are not invited'],
    ['of a domain below an allowed one', personOf('a', { email: 'a@sub.allowed.example' }), 'You are not invited'],
    ['of a domain that only ends alike', personOf('a', { email: 'a@notallowed.example' }), 'You are not invited'],
    [
      'whose address has two domains',
      personOf('a', { email: 'a@foreign.example@allowed.example' }),
      'no e-mail address',
    ],
    ['whose address looks like another', personOf('a', { email: 'a@\u212Aite.example' }), 'no e-mail address'],
    ['whose address has a blank', personOf('a', { email: 'a b@allowed.example' }), 'no e-mail address'],
    ['without an address', personOf('a', { email: undefined }), 'no e-mail address'],
    ['whose address is a list', personOf('a', { email: ['a@allowed.example'] }), 'no e-mail address'],
  ])('%s', async (_, person, sentence) => {
    const before = await memberCount(oidc);
    const { browser, address } = await goToIssuer(oidc, person);
    await expectRefused(browser, address, 403, sentence);
    expect(await memberCount(oidc)).toBe(before);
  });

  it('who has the address of a member that signs in with another account', async () => {
    await signIn(oidc, personOf('first', { email: 'shared@allowed.example' }));
    const { browser, address } = await goToIssuer(oidc, personOf('second', { email: 'shared@allowed.example' }));
    await expectRefused(browser, address, 403, 'belongs to a member who signs in with another account');
  });

  it('even when invited, while nobody vouches for an address of a foreign domain', async () => {
    const email = 'invited@foreign.example';
    await act(trusting.app, 'POST', '/api/organization/members', { email, name: 'Invited', role: 'VIEWER' });
    const { browser, address } = await goToIssuer(trusting, personOf('a', { email, email_verified: undefined }));
    await expectRefused(browser, address, 403, 'does not say that it has');
    const denied = await goToIssuer(trusting, personOf('a', { email_verified: false }));
    await expectRefused(denied.browser, denied.address, 403, 'The issuer has not verified');
  });

  it('but not with SPANDREL_OIDC_TRUST_EMAIL, of an allowed domain, where the issuer says nothing', async () => {
    await signIn(trusting, personOf('quiet', { email_verified: undefined }));
    expect(await memberCount(trusting)).toBe(3);
    // What is in the token is enough then.
    trusting.issuer.isUserinfoAway = true;
    await signIn(trusting, personOf('quiet', { email_verified: undefined }));
    trusting.issuer.isUserinfoAway = false;
    expect(trusting.app.logged.join('\n')).toContain('the issuer of sign-ins could not be asked');
  });
});

it('a session that somebody fixed beforehand is not what the person gets', async () => {
  const { app } = oidc;
  const eve = await signIn(oidc, personOf('eve'));
  const [, fixed = ''] = eve.cookie.split('=');
  const browser = openBrowser();
  browser.setCookie(app.address, SESSION, fixed);
  const { address } = await goToIssuer(oidc, personOf('ada'), browser);
  expect((await browser.visit(address)).status).toBe(303);
  const own = browser.cookie(app.address, SESSION);
  expect(own).not.toBe(fixed);
  const reached = async (cookie: string) => (await ask(app, cookie, '/api/auth/session')).body.session.userId;
  expect(await reached(`${SESSION}=${own}`)).not.toBe(await reached(eve.cookie));
});

it('no secret of a sign-in is logged', async () => {
  const { browser, address } = await goToIssuer(oidc, personOf('ada'));
  const sealed = browser.cookie(oidc.app.address, ATTEMPT) ?? '';
  await browser.visit(address);
  const { searchParams } = new URL(address);
  const secrets = [sealed, searchParams.get('code'), searchParams.get('state'), 'a-client-secret-of-the-tests'];
  const logged = oidc.app.logged.join('\n');
  expect(logged).toContain('/api/auth/callback');
  for (const secret of secrets) expect(logged).not.toContain(secret);
});
