import type { Request } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { openContext, openPage, openSignedIn, signInLink } from '../browser.ts';
import { choose } from '../choose.ts';
import { checkPage } from '../page-checks.ts';
import { send, shopTrace } from '../sent-traces.ts';
import type { Stage } from '../stage.ts';

const DAY_MS = 86_400_000;
const CREDENTIALS = ['cookie', 'x-auth-token', 'authorization', 'x-project-id', 'x-spandrel-console'];

export function shareTrace(stage: Stage): void {
  describe('a link to a trace', () => {
    it('is made for a term, opens for anyone without a credential, and leads nowhere once revoked', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Open shop');
        // The fifth trace failed: to its readers the other failures are not links.
        await send(project, shopTrace(5, Date.now() - 60_000));
        const { address, slug } = project;
        await openSignedIn(page, signInLink(address, stage.app.adminKey, `/${slug}/traces/shop-5`));
        await page.getByRole('button', { name: 'Actions' }).click();
        await page.getByRole('button', { name: 'Share…' }).click();
        const dialog = page.getByRole('dialog', { name: 'Share this trace' });
        await choose(dialog.getByLabel('Expires after'), '7 days');
        await dialog.getByRole('button', { name: 'Make a link' }).click();
        await dialog.getByText('Copy it now.').waitFor();
        const url = await stage.copy(dialog.getByRole('button', { name: 'Copy' }));
        expect(url).toMatch(new RegExp(`^${address}/shared/[0-9A-Za-z]{48}$`));
        const expires = (await dialog.getByRole('row').nth(1).locator('time').nth(1).getAttribute('datetime')) ?? '';
        expect(Math.round((Date.parse(expires) - Date.now()) / DAY_MS)).toBe(7);

        await checkPage(page, 'share-a-trace');

        const reader = await openReader(stage);
        try {
          await reader.page.goto(url);
          await reader.page.getByRole('heading', { level: 1, name: 'answer the customer' }).waitFor();
          await reader.page.getByText('Shared, read only').waitFor();
          await reader.page.getByRole('tree').getByText('find documents').click();
          await reader.page.getByText('Shoes can be returned within thirty days.').waitFor();
          await reader.page.keyboard.press('Escape');
          await reader.page.getByRole('region', { name: 'Facts' }).getByText('The carrier did not answer').waitFor();
          expect(await reader.page.getByRole('link').count()).toBe(0);
          for (const name of ['Actions', 'Compare', 'Sign in', 'Menu']) {
            expect(await reader.page.getByRole('button', { name }).count()).toBe(0);
          }
          await checkPage(reader.page, 'shared-trace');
          const calls = reader.sent.filter((request) => request.url().startsWith(`${address}/spandrel.`));
          expect(new Set(calls.map((call) => call.url().split('/').at(-1)))).toEqual(new Set(['GetSharedTrace']));
          const headers = await Promise.all(reader.sent.map((request) => request.allHeaders()));
          expect(headers.flatMap(Object.keys).filter((name) => CREDENTIALS.includes(name))).toEqual([]);

          await dialog.getByRole('button', { name: 'Revoke' }).click();
          const question = page.getByRole('dialog', { name: 'Revoke this link' });
          await question.getByLabel('Type revoke to confirm').fill('revoke');
          await question.getByRole('button', { name: 'Revoke the link' }).click();
          await dialog.getByText('Links to this trace').waitFor({ state: 'detached' });
          await dialog.getByText('Copy it now.').waitFor({ state: 'detached' });
          await reader.page.reload();
          await reader.page.getByRole('heading', { level: 1, name: 'This link leads nowhere' }).waitFor();
          await checkPage(reader.page, 'shared-trace-gone');
          expect(reader.complaints).toEqual([]);
        } finally {
          await reader.close();
        }
      }));

    it('sends no cookie of a session that the browser has', () =>
      stage.visit(async ({ page }) => {
        const { address, projectKey } = stage.shop;
        await openSignedIn(page, signInLink(address, projectKey));
        await page.getByRole('heading', { level: 1, name: 'Traces' }).waitFor();
        const call = page.waitForRequest(/\/GetSharedTrace$/);
        await page.goto(`${address}/shared/nothing`);
        expect((await (await call).allHeaders()).cookie).toBeUndefined();
        await page.getByRole('heading', { level: 1, name: 'This link leads nowhere' }).waitFor();
      }));
  });
}

/** Another browser, which has no session, and what it sends. */
async function openReader({ browser, app }: Stage) {
  const context = await openContext(browser, app.address);
  const { page, complaints } = await openPage(context, app.address);
  const sent: Request[] = [];
  page.on('request', (request) => void sent.push(request));
  return { page, complaints, sent, close: () => context.close() };
}
