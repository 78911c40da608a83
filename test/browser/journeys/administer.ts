import { describe, expect, it } from 'vitest';
import { callRest } from '../../support/surfaces.ts';
import { signInLink } from '../browser.ts';
import { choose } from '../choose.ts';
import { checkPage, openFromMenu } from '../page-checks.ts';
import type { Stage } from '../stage.ts';

export function administer(stage: Stage): void {
  describe('users', () => {
    it('are listed by last activity, and one leads to threads and traces', () =>
      stage.visit(async ({ page }) => {
        await openFromMenu(page, signInLink(stage.app.address, stage.app.projectKey), 'Users');
        await page.getByRole('link', { name: 'user-3', exact: true }).waitFor();
        await page.getByRole('columnheader', { name: 'User and first message', exact: true }).waitFor();
        await checkPage(page, 'users');
        await page.getByRole('link', { name: 'user-3', exact: true }).click();
        await page.getByRole('heading', { level: 1, name: 'user-3' }).waitFor();
        await page.getByRole('img', { name: /Cost over time/ }).waitFor();
        await page.getByRole('link', { name: 'thread-3', exact: true }).waitFor();
        await page.getByRole('link', { name: 'all 15 of them' }).waitFor();
        await checkPage(page, 'user');
        await page.getByRole('link', { name: 'all 15 of them' }).click();
        await page.getByRole('button', { name: 'Remove User user-3' }).waitFor();
        await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Threads' }).click();
        await page.getByRole('row', { name: /^thread-3 .* 7 / }).waitFor();
        await checkPage(page, 'threads');
        await page.getByRole('link', { name: 'thread-3', exact: true }).click();
        await page.getByText('7 traces, oldest first').waitFor();
      }));
  });

  describe('spend', () => {
    it('is summed up by project and by model', () =>
      stage.visit(async ({ page }) => {
        await openFromMenu(page, signInLink(stage.app.address, stage.app.adminKey), 'Spend');
        await page.getByRole('link', { name: stage.shop.name }).waitFor();
        await choose(page.getByLabel('Group by'), 'Model');
        await page.getByRole('row', { name: /^claude-sonnet-4-5 \d+ 0 0 .*\$\d/ }).waitFor();
        await checkPage(page, 'spend');
      }));

    it('shows no group under another heading, and dims what is of another range, while a slow server answers', () =>
      stage.visit(async ({ page }) => {
        await openFromMenu(page, signInLink(stage.app.address, stage.app.adminKey), 'Spend');
        const group = page.getByRole('link', { name: stage.shop.name });
        await group.waitFor();
        const { promise, resolve } = Promise.withResolvers<void>();
        await page.route('**/spandrel.v1.SpendService/QuerySpend', async (route) => {
          await promise;
          await route.continue();
        });
        await choose(page.getByLabel('Range'), 'Last 7 days');
        const old = page.locator('main [aria-busy=true]');
        await old.getByText('Loading…').waitFor({ state: 'attached' });
        await old.and(page.locator('div', { has: group })).waitFor();
        await group.click();
        expect(new URL(page.url()).pathname).toBe('/-/spend');
        await choose(page.getByLabel('Group by'), 'Model');
        await page.getByRole('status').filter({ hasText: 'Loading' }).waitFor();
        expect(await group.count()).toBe(0);
        resolve();
        await page.getByRole('row', { name: /^claude-sonnet-4-5 / }).waitFor();
        expect(await old.count()).toBe(0);
      }));
  });

  describe('prices', () => {
    it('are looked up, and one of the organization comes before the list until it is deleted', () =>
      stage.visit(async ({ page }) => {
        await openFromMenu(page, signInLink(stage.app.address, stage.app.adminKey), 'Prices');
        await page.getByRole('heading', { name: 'No price of your own yet' }).waitFor();
        await page.getByLabel('Price of').fill('openai/o3');
        await page.keyboard.press('Enter');
        await page.getByText('price list', { exact: true }).waitFor();
        await page.getByRole('button', { name: 'New price' }).click();
        await page.getByLabel('Model').fill('o3');
        await page.getByLabel('A million input tokens').fill('0.1');
        await page.getByLabel('A million output tokens').fill('0.7');
        await page.getByRole('button', { name: 'Set the price' }).click();
        await page.getByText('own price', { exact: true }).waitFor();
        await page.getByRole('row', { name: /o3 \$0.1 \$0.7/ }).waitFor();
        await checkPage(page, 'prices');
        await page.getByRole('button', { name: 'Delete', exact: true }).click();
        await page.getByRole('button', { name: 'Delete it' }).click();
        await page.getByText('price list', { exact: true }).waitFor();
      }));
  });

  describe('teams and settings', () => {
    it('a member is granted a role at a new team, and it is revoked', () =>
      stage.visit(async ({ page }) => {
        const { address, adminKey } = stage.app;
        const headers = { 'x-auth-token': adminKey };
        const body = { email: 'grace@example.test', name: 'Grace', role: 'EXTERNAL' };
        await callRest(address, { verb: 'POST', path: '/api/organization/members', body, headers });
        await openFromMenu(page, signInLink(address, adminKey), 'Teams and roles');
        await page.getByRole('button', { name: 'New team' }).click();
        await page.getByLabel('Name').fill('Support');
        await page.getByRole('button', { name: 'Create the team' }).click();
        await page.getByRole('cell', { name: 'Support', exact: true }).waitFor();
        await page.getByRole('button', { name: 'Roles' }).click();
        await page.getByRole('button', { name: 'New grant' }).click();
        await page.getByLabel('Member').fill('Grace@example.test');
        await choose(page.getByLabel('Where'), 'team Support');
        await page.getByRole('heading', { name: 'Permissions it grants' }).waitFor();
        await page.getByText(/^\d+ permissions$/).waitFor();
        await choose(page.getByLabel('Role', { exact: true }), 'Chosen permissions');
        await page.getByRole('checkbox', { name: 'traces:view' }).check();
        await page.getByRole('button', { name: 'Grant the role' }).click();
        const grant = page.getByRole('row', { name: /grace@example.test Chosen permissions traces:view team Support/ });
        await grant.waitFor();
        await checkPage(page, 'roles');
        await page.getByRole('button', { name: 'Teams', exact: true }).click();
        await page.getByRole('row', { name: /^Support .* Grace Chosen permissions/ }).waitFor();
        await page.getByRole('button', { name: 'Roles' }).click();
        await grant.getByRole('button', { name: 'Revoke' }).click();
        await page.getByRole('button', { name: 'Revoke the grant' }).click();
        await grant.waitFor({ state: 'detached' });
      }));

    it('a shorter retention needs a confirmation, and names change', () =>
      stage.visit(async ({ page }) => {
        const { address, projectKey, slug } = await stage.makeProject('Forgetful shop');
        await openFromMenu(page, signInLink(address, stage.app.adminKey, `/${slug}/traces`), 'Settings');
        await page.getByLabel('Retention of traces, in days').fill('30');
        await page.getByRole('button', { name: 'Save', exact: true }).click();
        await page.getByLabel('Type delete to confirm').fill('delete');
        await page.getByRole('button', { name: 'Delete what is older' }).click();
        await page.getByText('Saved.').waitFor();
        const headers = { 'x-auth-token': projectKey };
        const { body: settings } = await callRest(address, { path: '/api/project/settings', headers });
        expect(settings).toMatchObject({ traceRetentionDays: 30 });
        await page.getByLabel('Retention of traces, in days').fill('');
        await page.getByRole('button', { name: 'Save', exact: true }).click();
        await page.getByLabel('Language').fill('TypeScript');
        await page.getByRole('button', { name: 'Save the project' }).click();
        await page.getByText('Saved.').nth(1).waitFor();
        await checkPage(page, 'project-settings');
        await page.getByRole('link', { name: 'Organization', exact: true }).click();
        await page.getByRole('heading', { name: 'Organization', level: 1 }).waitFor();
        await page.getByLabel('Name').fill('Acme');
        await page.getByRole('button', { name: 'Save', exact: true }).click();
        await page.getByText('Saved.').waitFor();
        await checkPage(page, 'organization');
      }));
  });
}
