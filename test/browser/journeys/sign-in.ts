import { gzipSync } from 'node:zlib';
import type { Response } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OidcApp, personOf, startOidcApp } from '../../api/sessions/oidc-client.ts';
import { callRest } from '../../support/surfaces.ts';
import { followLink, openContext, openPage, signInLink } from '../browser.ts';
import type { Stage } from '../stage.ts';

/** In the page: the time at which the first row of a table is there. */
const NOTE_FIRST_ROW = `new MutationObserver((_, observer) => {
  if (document.querySelector('[role=cell]') === null) return;
  globalThis.firstRowAtMs = Date.now();
  observer.disconnect();
}).observe(document, { childList: true, subtree: true })`;

export function signIn(stage: Stage): void {
  describe('signing in', () => {
    it('the link of a first start signs in, and its key is in no address afterwards', () =>
      stage.visit(async ({ page }) => {
        const { address, adminKey } = stage.app;
        await followLink(page, signInLink(address, adminKey));
        await page.getByRole('heading', { name: 'Traces' }).waitFor();
        expect(page.url()).not.toContain(adminKey.slice(10));
        await page.reload();
        await page.getByRole('heading', { name: 'Traces' }).waitFor();
        await page.getByRole('button', { name: 'Sign out' }).click();
        await page.getByRole('heading', { name: 'Sign in with a key' }).waitFor();
        expect(
          await page.evaluate('JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie])'),
        ).not.toContain('sk-lw-');
      }));

    it('the key of a foreign link is used only by who agrees, and never replaces one that is in use', () =>
      stage.visit(async ({ page }) => {
        const { address, adminKey, projectKey } = stage.app;
        await page.goto(signInLink(address, adminKey));
        await page.getByRole('heading', { name: /^Sign in to .+\?$/ }).waitFor();
        const stored = () => page.evaluate('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])');
        expect(await stored()).not.toContain('sk-lw-');
        expect(page.url()).not.toContain(adminKey.slice(10));
        await page.getByRole('button', { name: 'Use another key' }).click();
        await page.getByLabel('Key').fill(projectKey);
        await page.keyboard.press('Enter');
        await page.getByRole('heading', { name: 'Traces' }).waitFor();
        await page.evaluate(`location.hash = 'key=${adminKey}'`);
        await page.waitForFunction("location.hash === ''");
        expect(await stored()).not.toContain('sk-lw-');
        await page.reload();
        await page.getByRole('heading', { name: 'Traces' }).waitFor();
        expect(await page.getByRole('heading', { name: 'Organization' }).count()).toBe(0);
      }));

    it('the key of a project signs in too, and a wrong one gets a reason', () =>
      stage.visit(async ({ page }) => {
        const { address, projectKey } = stage.app;
        await page.goto(`${address}/`);
        await page.getByLabel('Key').fill(`${projectKey.slice(0, -1)}!`);
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByRole('alert').getByText('The key is not accepted').waitFor();
        await page.getByLabel('Key').fill(projectKey);
        await page.keyboard.press('Enter');
        await page.getByRole('heading', { name: 'Traces' }).waitFor();
        expect(await page.getByRole('heading', { name: 'Organization' }).count()).toBe(0);
      }));

    it('a key that is revoked while the page is open ends the session', () =>
      stage.visit(async ({ page }) => {
        const { address, adminKey } = stage.app;
        const { token, id } = await stage.makeKey();
        await followLink(page, signInLink(address, token, '/-/webhooks'));
        // A call still under way would end the session before the click.
        await page.getByRole('heading', { name: 'No endpoint yet' }).waitFor();
        const headers = { 'x-auth-token': adminKey };
        await callRest(address, { verb: 'DELETE', path: `/api/api-keys/${id}`, headers });
        await page.getByRole('link', { name: 'Events' }).click();
        await page.getByRole('heading', { name: 'Sign in with a key' }).waitFor();
        await page.getByRole('alert').getByText('Your session has ended').waitFor();
      }));

    it('is shared by the tabs of a browser, with links, and ends in all of them', () =>
      stage.visit(async ({ page }) => {
        const { address, adminKey } = stage.app;
        await followLink(page, signInLink(address, adminKey, `/${stage.shop.slug}/traces`));
        await page
          .getByRole('row', { name: /customer/ })
          .first()
          .waitFor();
        const second = await openPage(page.context(), address);
        await second.page.goto(`${address}/${stage.shop.slug}/traces/shop-5`);
        await second.page.getByRole('treeitem', { name: /answer the customer/ }).waitFor();
        const [cookie, ...others] = await page.context().cookies();
        expect(others).toEqual([]);
        expect(cookie).toMatchObject({ name: 'spandrel_session', httpOnly: true, sameSite: 'Strict', path: '/' });
        await second.page.getByRole('button', { name: 'Sign out' }).click();
        for (const tab of [page, second.page]) await tab.getByRole('heading', { name: 'Sign in with a key' }).waitFor();
        expect(await page.context().cookies()).toEqual([]);
        expect(second.complaints).toEqual([]);
      }));

    it('can be ended in the list of sessions, and its tab notices', () =>
      stage.visit(async ({ page }) => {
        const { address } = stage.app;
        const { token } = await stage.makeKey();
        await followLink(page, signInLink(address, token, '/-/sessions'));
        const own = page.getByRole('row').filter({ hasText: 'this one' });
        await own.getByRole('button', { name: 'End' }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'End the session' }).click();
        await page.getByRole('heading', { name: 'Sign in with a key' }).waitFor();
      }));

    it('offers a narrow key its project by name, and only the pages that it may use', () =>
      stage.visit(async ({ page }) => {
        const { address, adminKey } = stage.app;
        const body = {
          name: 'reads traces',
          keyType: 'service',
          permissionMode: 'restricted',
          permissions: ['traces:view'],
          bindings: [{ role: 'CUSTOM', scopeType: 'PROJECT', scopeId: stage.shop.id }],
        };
        const headers = { 'x-auth-token': adminKey };
        const made = await callRest(address, { verb: 'POST', path: '/api/api-keys', body, headers });
        await page.goto(signInLink(address, made.body.token));
        await page.getByRole('heading', { name: `Sign in to ${stage.shop.name}?` }).waitFor();
        await page.getByRole('button', { name: 'Sign in', exact: true }).click();
        await page
          .getByRole('row', { name: /customer/ })
          .first()
          .waitFor();
        const menu = page.getByRole('navigation', { name: 'Pages' });
        await menu.getByText(stage.shop.name, { exact: true }).waitFor();
        expect(await menu.getByRole('link').allTextContents()).toEqual(['Traces', 'Threads', 'Users', 'Sessions']);
      }));

    it('shows the first page with at most 250 KB of scripts, packed', () =>
      stage.visit(async ({ page }) => {
        const scripts: Response[] = [];
        page.on('response', (response) => {
          if (response.url().endsWith('.js')) scripts.push(response);
        });
        await page.addInitScript(NOTE_FIRST_ROW);
        await followLink(page, signInLink(stage.app.address, stage.app.projectKey));
        await page
          .getByRole('row', { name: /customer/ })
          .first()
          .waitFor();
        // What comes later, such as charts, does not delay the rows.
        const shownAtMs = await page.evaluate<number>('firstRowAtMs');
        const first = scripts.filter((script) => script.request().timing().startTime < shownAtMs);
        const bodies = await Promise.all(first.map((script) => script.body()));
        const bytes = bodies.map((body) => gzipSync(body).length);
        expect(bytes.length).toBeGreaterThan(1);
        expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(250_000);
      }));
  });
}

/** With a server of its own, whose issuer is another origin. */
export function signInThroughIssuer(stage: Stage): void {
  describe('signing in through an issuer', () => {
    let oidc: OidcApp;
    beforeAll(async () => {
      oidc = await startOidcApp({ SPANDREL_KEY_SIGN_IN: 'off', SPANDREL_OIDC_DEFAULT_ROLE: 'VIEWER' });
    });
    afterAll(async () => {
      await oidc.close();
    });

    it('follows a link, leads back to the page that was asked for, tells the other tabs, and says who is refused', async () => {
      const { app, issuer } = oidc;
      issuer.person = personOf('ada');
      const context = await openContext(stage.browser, app.address);
      const [first, second] = [await openPage(context, app.address), await openPage(context, app.address)];
      try {
        for (const { page } of [first, second]) {
          await page.goto(`${app.address}/-/sessions`);
          await page.getByRole('heading', { name: 'Sign in' }).waitFor();
          expect(await page.getByLabel('Key').count()).toBe(0);
        }
        await first.page.getByRole('link', { name: `Sign in with ${new URL(issuer.url).host}` }).click();
        await first.page.getByRole('row').filter({ hasText: 'this one' }).waitFor();
        expect(first.page.url()).toBe(`${app.address}/-/sessions`);
        await second.page.getByRole('row').filter({ hasText: 'this one' }).waitFor();
        // Those of the issuer have the same host.
        const own = (await context.cookies()).filter(({ name }) => name.startsWith('spandrel'));
        expect(own).toMatchObject([{ name: 'spandrel_session', httpOnly: true, sameSite: 'Strict', path: '/' }]);
        await first.page.getByRole('button', { name: 'Sign out' }).click();
        for (const { page } of [first, second]) await page.getByRole('heading', { name: 'Sign in' }).waitFor();
        issuer.person = personOf('eve', { email: 'eve@foreign.example' });
        await context.clearCookies();
        const { page } = first;
        await page.getByRole('link', { name: /^Sign in with / }).click();
        await page.getByText('You are not invited: ask an administrator to add you as a member.').waitFor();
        await page.getByRole('link', { name: 'Back to the sign-in page' }).click();
        await page.getByRole('link', { name: /^Sign in with / }).waitFor();
        for (const { complaints, foreignRequests } of [first, second]) {
          expect(complaints).toEqual([]);
          expect(foreignRequests.filter((url) => !url.startsWith(`${issuer.url}/`))).toEqual([]);
        }
      } finally {
        await context.close();
      }
    });
  });
}
