import { describe, expect, it } from 'vitest';
import { openSignedIn, signInLink } from '../browser.ts';
import { choose } from '../choose.ts';
import { post, report } from '../gateway-calls.ts';
import { checkPage, openFromMenu } from '../page-checks.ts';
import type { Stage } from '../stage.ts';

export function limitSpending(stage: Stage): void {
  describe('a budget', () => {
    it('shows what is spent and left, begins a new period, and is archived', () =>
      stage.visit(async ({ page }) => {
        const { address, adminKey } = stage.app;
        await openFromMenu(page, signInLink(address, adminKey), 'Budgets');
        await page.getByRole('link', { name: 'New budget' }).click();
        await page.getByLabel('Name', { exact: true }).fill('Support bot');
        await choose(page.getByLabel('Applies to'), 'A virtual key');
        await page.getByLabel('Id of the virtual key').fill('vk-elsewhere');
        await page.getByLabel('Limit per period, USD').fill('1e3');
        await page.getByText('Enter an amount above 0').waitFor();
        await page.getByLabel('Limit per period, USD').fill('100');
        await checkPage(page, 'new-budget');
        await page.getByRole('button', { name: 'Create the budget' }).click();
        await page.getByRole('heading', { level: 1, name: 'Support bot' }).waitFor();
        await report(stage, { virtual_key_id: 'vk-elsewhere', model: 'gpt-5', cost_usd: '82.5' });
        await page.getByText('nearly spent').waitFor();
        const meter = page.getByRole('meter', { name: 'Spent and reserved' });
        expect(await meter.getAttribute('aria-valuetext')).toBe('82.5% spent, 0.0% reserved');
        await page.getByText('$17.50').waitFor();
        await checkPage(page, 'budget');
        await page.getByLabel('Limit per period, USD').fill('80');
        await page.getByRole('button', { name: 'Save' }).click();
        await page.getByText('$2.50 over').waitFor();
        await page.getByRole('main').getByRole('link', { name: 'Budgets', exact: true }).click();
        const row = page.getByRole('row', {
          name: /^Support bot .*vk-elsewhere A month \$80\.00 \$82\.50 \$0 \$2\.50 over/,
        });
        await row.waitFor();
        await choose(page.getByLabel('Scope'), 'A team');
        await page.getByRole('heading', { name: 'No budget here' }).waitFor();
        await choose(page.getByLabel('Scope'), 'A virtual key');
        await row.waitFor();
        await checkPage(page, 'budgets');
        await row.getByRole('link', { name: 'Support bot' }).click();
        await page.getByRole('button', { name: 'Reset' }).click();
        await page.getByLabel('Reason (optional)').fill('a new contract');
        await page.getByRole('button', { name: 'Begin a new period' }).click();
        await page.getByText('a new contract').waitFor();
        await page.getByRole('button', { name: 'Archive' }).click();
        await page.getByLabel('Type archive to confirm').fill('archive');
        await page.getByRole('button', { name: 'Archive permanently' }).click();
        await page.getByText('archived', { exact: true }).waitFor();
        await page.getByRole('main').getByRole('link', { name: 'Budgets', exact: true }).click();
        await row.waitFor({ state: 'detached' });
        await page.getByLabel('Also archived').check();
        await page.getByRole('row', { name: /^Support bot archived/ }).waitFor();
      }));

    it('and keys and providers are only shown to those who may only view them', () =>
      stage.visit(async ({ page }) => {
        const { address, adminKey } = stage.app;
        const { token } = await post({ address }, '/api/api-keys', adminKey, {
          ...{ name: 'reader', keyType: 'service', permissionMode: 'restricted' },
          permissions: ['organization:view', 'virtualKeys:view', 'gatewayProviders:view', 'gatewayBudgets:view'],
          bindings: [{ role: 'CUSTOM', scopeType: 'ORGANIZATION', scopeId: stage.app.organizationId }],
        });
        await openSignedIn(page, signInLink(address, token, '/-/virtual-keys'));
        for (const name of ['Virtual keys', 'Model providers', 'Budgets']) {
          await page.getByRole('link', { name, exact: true }).click();
          await page.getByRole('heading', { level: 1, name }).waitFor();
          await page.getByRole('status').filter({ hasText: 'Loading' }).waitFor({ state: 'detached' });
          expect(await page.getByRole('main').getByRole('link', { name: /^New/ }).count()).toBe(0);
        }
      }));
  });
}
