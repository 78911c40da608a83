import { describe, expect, it } from 'vitest';
import { callRest } from '../../support/surfaces.ts';
import { openSignedIn, signInLink } from '../browser.ts';
import { choose } from '../choose.ts';
import { post } from '../gateway-calls.ts';
import { checkPage } from '../page-checks.ts';
import { shopTrace } from '../sent-traces.ts';
import type { Stage } from '../stage.ts';

export function manage(stage: Stage): void {
  describe('the organization', () => {
    it('gets projects and members, and the audit log records it', () =>
      stage.visit(async ({ page }) => {
        const pages = page.getByRole('navigation', { name: 'Pages' });
        await openSignedIn(page, signInLink(stage.app.address, stage.app.adminKey, '/-/projects'));
        await page.getByRole('button', { name: 'New project' }).click();
        await page.getByLabel('Name').fill('Second shop');
        await page.getByRole('button', { name: 'Create the project' }).click();
        await page.getByRole('button', { name: 'I have stored it' }).click();
        await page.getByRole('cell', { name: 'Second shop' }).getByRole('link').waitFor();
        await pages.getByRole('link', { name: 'Teams and roles' }).click();
        await page
          .getByRole('row', { name: /Default team .*Second shop/ })
          .getByRole('link', { name: 'Second shop' })
          .waitFor();
        await checkPage(page, 'teams');
        await choose(page.getByLabel('Project', { exact: true }), 'Second shop');
        await page.getByText('Waiting for the first trace').waitFor();
        await pages.getByRole('link', { name: 'Members' }).click();
        await page.getByRole('button', { name: 'Add a member' }).click();
        await page.getByLabel('E-mail').fill('ada@example.test');
        await page.getByLabel('Name').fill('Ada');
        await page.getByRole('button', { name: 'Add', exact: true }).click();
        await page.getByRole('row', { name: /ada@example.test/ }).waitFor();
        await pages.getByRole('link', { name: 'Audit log' }).click();
        await page
          .getByRole('row', { name: /member.create .* Administrator/ })
          .first()
          .waitFor();
        await page.getByRole('link', { name: 'project.create' }).first().click();
        await page.getByRole('button', { name: 'Remove Action project.create' }).waitFor();
        await page.getByRole('link', { name: 'member.create' }).first().waitFor({ state: 'detached' });
        await page.getByText('Details').first().click();
        await page.getByText('status: 201').first().waitFor();
        await page.reload();
        await page.getByRole('button', { name: 'Refused only' }).click();
        await page.getByText('No entry matches.').waitFor();
        await checkPage(page, 'audit-log-filtered');
      }));

    it('marks a key whose label does not restrict it', () =>
      stage.visit(async ({ page }) => {
        const { address, adminKey, organizationId } = stage.app;
        await post(stage.app, '/api/api-keys', adminKey, {
          name: 'only reads, it seems',
          keyType: 'service',
          permissionMode: 'readonly',
          bindings: [{ role: 'ADMIN', scopeType: 'ORGANIZATION', scopeId: organizationId }],
        });
        await openSignedIn(page, signInLink(address, adminKey, '/-/keys'));
        const row = page.getByRole('row', { name: /only reads, it seems/ });
        await row.getByText(/permissionMode readonly does not restrict this key/).waitFor();
      }));

    it('creates a key with chosen permissions, which has only these, and is refused after it is revoked', () =>
      stage.visit(async ({ page }) => {
        const { address, adminKey, projectId } = stage.app;
        await openSignedIn(page, signInLink(address, adminKey, '/-/keys'));
        await page.getByRole('link', { name: 'New key' }).click();
        await page.getByLabel('Name', { exact: true }).fill('nightly report');
        await choose(page.getByLabel('Role'), 'Work with data (MEMBER)');
        await page.getByText(/^\d+ permissions$/).click();
        await page
          .getByRole('status')
          .getByText(/traces:view, .*traces:create/)
          .waitFor();
        await page.getByText(/“readonly” of the API is only a label and does not restrict a key/).waitFor();
        await choose(page.getByLabel('Role'), 'Chosen permissions');
        await page.getByRole('checkbox', { name: 'traces:view' }).check();
        await page.getByRole('status').getByText('traces:view', { exact: true }).waitFor();
        await page.getByRole('button', { name: 'Create the key' }).click();
        await page.getByText('It will not be shown again').waitFor();
        const token = (await page.getByRole('dialog').locator('pre').textContent()) ?? '';
        await page.getByRole('button', { name: 'I have stored it' }).click();
        const row = page.getByRole('row', { name: /nightly report/ });
        await row.waitFor();
        const headers = { 'x-auth-token': token, 'x-project-id': projectId };
        const search = { verb: 'POST', path: '/api/traces/search', body: {}, headers } as const;
        expect((await callRest(address, search)).status).toBe(200);
        const sent = { verb: 'POST', path: '/api/collector', body: shopTrace(901, Date.now()), headers } as const;
        expect((await callRest(address, sent)).status).toBe(403);

        await row.getByRole('button', { name: 'Revoke' }).click();
        await page.getByLabel('Type revoke to confirm').fill('revoke');
        await page.getByRole('button', { name: 'Cancel' }).click();
        await row.getByRole('button', { name: 'Revoke' }).click();
        const confirm = page.getByRole('button', { name: 'Revoke permanently' });
        // The text typed before cancelling is gone.
        expect(await page.getByLabel('Type revoke to confirm').inputValue()).toBe('');
        expect(await confirm.isDisabled()).toBe(true);
        await page.getByLabel('Type revoke to confirm').fill('revoke');
        await confirm.click();
        // An open dialog hides the rows from the accessibility tree.
        await page.getByRole('dialog').waitFor({ state: 'detached' });
        await row.waitFor({ state: 'detached' });
        expect((await callRest(address, search)).status).toBe(401);
        await page.getByRole('button', { name: 'Sign out' }).click();
        await page.getByLabel('Key').fill(token);
        await page.keyboard.press('Enter');
        await page.getByRole('alert').getByText('The key is not accepted').waitFor();
      }));
  });
}
