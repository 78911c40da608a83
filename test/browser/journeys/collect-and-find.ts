import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { openSignedIn, signInLink, takePicture } from '../browser.ts';
import { choose } from '../choose.ts';
import { checkPage } from '../page-checks.ts';
import { send, shopTrace } from '../sent-traces.ts';
import { SHOP_TRACES, type Stage, type TestProject } from '../stage.ts';

type Sending = {
  readonly stage: Stage;
  readonly page: Page;
  readonly project: TestProject;
  /** The key that the page has made; without it the snippet has a placeholder. */
  readonly madeKey?: string;
};

/** Runs the snippet of the page as a shell would. */
async function sendAsShown({ stage, page, project, madeKey }: Sending): Promise<void> {
  const shell = await stage.copy(page.getByRole('button', { name: 'Copy', exact: true }).first());
  expect(shell).toContain(`-H 'X-Auth-Token: ${madeKey ?? `'"$SPANDREL_KEY"'`}'`);
  const body = /-d '(\{.*\})'$/s.exec(shell)?.[1]?.replaceAll(/'\$now'/g, String(Date.now())) ?? '';
  await send(project, JSON.parse(body));
}

export function collectAndFind(stage: Stage): void {
  describe('traces', () => {
    it('the first one of a project appears automatically', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Empty shop');
        await openSignedIn(page, signInLink(project.address, project.projectKey));
        await page.getByText('Waiting for the first trace').waitFor();
        await checkPage(page, 'first-trace');
        await sendAsShown({ stage, page, project });
        expect(await page.content()).not.toContain(project.projectKey);
        await page.getByRole('link', { name: 'Open it' }).click();
        await page.getByRole('treeitem', { name: /answer/ }).click();
        await page.getByText('from the price list').waitFor();
      }));

    it('are sent by a key with that permission only when the session has a more powerful key', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Other shop');
        const { adminKey } = stage.app;
        await openSignedIn(page, signInLink(project.address, adminKey, `/${project.slug}/traces`));
        await page.getByText('Waiting for the first trace').waitFor();
        expect(await page.content()).toContain('$SPANDREL_KEY');
        await page.getByRole('button', { name: 'Create a key that only sends traces' }).click();
        const token = (await page.getByRole('dialog').locator('pre').textContent()) ?? '';
        await page.getByRole('button', { name: 'I have stored it' }).click();
        await page.getByText('$SPANDREL_KEY').waitFor({ state: 'detached' });
        await sendAsShown({ stage, page, project: { ...project, projectKey: token }, madeKey: token });
        expect(await page.content()).not.toContain(adminKey);
        await page.getByRole('link', { name: 'Open it' }).waitFor();
      }));

    it('that were sent long ago are found, and the page does not ask for a first one', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Old shop');
        await send(project, shopTrace(1, Date.now() - 40 * 86_400_000));
        await openSignedIn(page, signInLink(project.address, project.projectKey));
        await page.getByRole('button', { name: 'Search older traces' }).click();
        await page.getByRole('row', { name: /answer the customer/ }).waitFor();
      }));

    it('a slow one is found, and its costliest span names the source of its price', () =>
      stage.visit(async ({ page }) => {
        await openSignedIn(page, signInLink(stage.app.address, stage.app.projectKey));
        await page.getByRole('button', { name: 'Duration' }).click();
        await page
          .getByRole('row', { name: /research the order/ })
          .first()
          .waitFor();
        expect(await page.title()).toBe('Traces · Spandrel');
        await takePicture(page, 'traces');
        await page.getByRole('link', { name: 'research the order' }).click();
        await page.getByRole('button', { name: 'Costliest span' }).click();
        await page.getByRole('heading', { name: 'write the answer' }).waitFor();
        await page.getByText('from the price list').waitFor();
        expect(await page.title()).toBe('research the order · Spandrel');
        expect(new URL(page.url()).searchParams.get('span')).toBe('write-65');
        await takePicture(page, 'trace');
        await page.reload();
        await page.getByRole('heading', { name: 'write the answer' }).waitFor();
      }));

    it('are filtered by the address, which chips show, and each chip can be removed', () =>
      stage.visit(async ({ page }) => {
        await openSignedIn(page, signInLink(stage.app.address, stage.app.projectKey));
        await page.getByLabel('Find traces').fill('parcel user:user-3 error:false');
        await page.keyboard.press('Enter');
        await page.getByRole('button', { name: 'Remove User user-3' }).waitFor();
        const shown = page.getByRole('status').filter({ hasText: 'shown' });
        await shown.filter({ hasNotText: `of ${SHOP_TRACES}` }).waitFor();
        const filtered = await shown.textContent();
        await page.reload();
        await shown.filter({ hasText: filtered ?? '' }).waitFor();
        await page.getByRole('button', { name: 'Remove User user-3' }).click();
        await page.getByRole('button', { name: 'Remove Failed false' }).click();
        await page.getByLabel('Find traces').fill('');
        await shown.filter({ hasText: `of ${SHOP_TRACES}` }).waitFor();
        await page.getByLabel('Find traces').fill('parcel');
        await page.getByRole('button', { name: 'Add filter' }).click();
        await page.getByLabel('Value').fill('gpt-5');
        await page.getByRole('button', { name: 'Add', exact: true }).click();
        await page.getByRole('button', { name: 'Remove Model gpt-5' }).waitFor();
        expect(new URL(page.url()).searchParams.get('q')).toBe('parcel model:gpt-5');
      }));

    it('are searched for with an unknown and an empty filter, and the page says what it made of them', () =>
      stage.visit(async ({ page }) => {
        await openSignedIn(page, signInLink(stage.app.address, stage.app.projectKey));
        await page.getByLabel('Find traces').fill('foo:bar user:');
        await page.keyboard.press('Enter');
        await page.getByText('No filter has this name, so the text is searched for: foo:bar').waitFor();
        await page.getByText('Left out, because a value is missing: user:').waitFor();
      }));

    it('of a range of one’s own are those of the range before, until it is changed', () =>
      stage.visit(async ({ page }) => {
        const { address, projectKey } = stage.app;
        await openSignedIn(page, signInLink(address, projectKey, `/${stage.shop.slug}/traces?range=7d`));
        const shown = page.getByRole('status').filter({ hasText: `of ${SHOP_TRACES} shown` });
        await shown.waitFor();
        await choose(page.getByLabel('Range'), 'From … to …');
        await page.waitForURL(/range=custom/);
        await shown.waitFor();
        const from = page.getByLabel('From');
        const weekAgo = Date.now() - 7 * 86_400_000;
        expect(Math.abs(Date.parse(await from.inputValue()) - weekAgo)).toBeLessThan(86_400_000);
        expect(await page.getByLabel('To').inputValue()).not.toBe('');
        await from.fill('');
        expect(await from.getAttribute('aria-invalid')).toBe('true');
        expect(new URL(page.url()).searchParams.has('from')).toBe(true);
        await page.getByLabel('To').fill('');
        await page.getByText('until now').waitFor();
        // Without a start nobody could tell what the address means.
        await page.goto(`${address}/${stage.shop.slug}/traces?range=custom`);
        await shown.waitFor();
        await page.getByLabel('Range').getByText('Last 30 days').waitFor();
      }));

    it('of a range ignore a year that is still being typed', () =>
      stage.visit(async ({ page }) => {
        await openSignedIn(page, signInLink(stage.app.address, stage.app.projectKey));
        await choose(page.getByLabel('Range'), 'From … to …');
        await page.waitForURL(/from=/);
        await page.getByLabel('From').fill('0002-01-01T00:00');
        expect(new URL(page.url()).searchParams.get('from')).not.toMatch(/^0/);
        expect(await page.getByLabel('From').getAttribute('aria-invalid')).toBe('true');
        await page.getByLabel('From').fill('2026-01-01T00:00');
        await page.waitForURL(/from=2026-01-01|from=2025-12-31/);
        await page.getByLabel('To').fill('2025-01-01T00:00');
        await page.getByText('It ends before it begins.').waitFor();
      }));

    it('appear at the top as they arrive while the list is live', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Live shop');
        await send(project, shopTrace(1, Date.now() - 60_000));
        await openSignedIn(page, signInLink(project.address, project.projectKey));
        await page.getByLabel('Live').check();
        await page.getByText('connecting…').waitFor({ state: 'detached' });
        const first = page.locator('[aria-rowindex="2"]').getByRole('link');
        for (const id of ['fresh', 'fresher']) {
          await send(project, { ...shopTrace(900, Date.now()), trace_id: id, metadata: {} });
          await first.and(page.locator(`[href*="/${id}?"]`)).waitFor();
        }
        await send(project, {
          trace_id: 'fresh',
          spans: [
            {
              type: 'span',
              span_id: 'late',
              error: { message: 'It broke later', stacktrace: [] },
              timestamps: { started_at: Date.now(), finished_at: Date.now() },
            },
          ],
        });
        await page.getByRole('row', { name: /It broke later/ }).waitFor();
        await page.getByText('3 of 3 shown').waitFor();
      }));

    it('are saved as a file, and copied as a command without the key', () =>
      stage.visit(async ({ page }) => {
        // The test cannot answer a file picker, so remove it.
        await page.addInitScript(() => Reflect.deleteProperty(globalThis, 'showSaveFilePicker'));
        await openSignedIn(
          page,
          signInLink(stage.app.address, stage.app.adminKey, `/${stage.shop.slug}/traces?q=user:user-3`),
        );
        const shown = page.getByRole('status').filter({ hasText: 'shown' });
        const count = Number(/^\d+/.exec((await shown.textContent()) ?? '')?.[0]);
        await page.getByRole('button', { name: 'Export' }).click();
        const command = await stage.copy(page.getByRole('button', { name: 'Copy search as curl' }));
        expect(command).toContain('"filters":{"metadata.user_id":["user-3"]}');
        expect(command).toContain(`-H 'X-Project-Id: ${stage.shop.id}'`);
        expect(command).not.toContain('sk-lw-');
        const download = page.waitForEvent('download');
        await page.getByLabel('With every span').check();
        await page.getByRole('button', { name: 'Save the file' }).click();
        const lines = (await readFile(await (await download).path(), 'utf8')).trimEnd().split('\n');
        await page.getByText(`Exported ${count} traces`).waitFor();
        expect(count).toBeGreaterThan(5);
        expect(lines.map((line) => JSON.parse(line).spans.length)).toEqual(Array.from({ length: count }, () => 5));
      }));

    it('have the columns that were chosen', () =>
      stage.visit(async ({ page }) => {
        await openSignedIn(page, signInLink(stage.app.address, stage.app.projectKey));
        await page.getByRole('button', { name: 'Columns' }).click();
        await page.getByLabel('User', { exact: true }).check();
        await page.getByLabel('Thread', { exact: true }).check();
        await page.getByLabel('Output or error').uncheck();
        await page.getByRole('columnheader', { name: 'User' }).waitFor();
        await page.getByRole('cell', { name: 'thread-3', exact: true }).first().waitFor();
        await page.reload();
        await page.getByRole('columnheader', { name: 'User' }).waitFor();
        expect(await page.getByRole('columnheader', { name: 'Output' }).count()).toBe(0);
        // The next visit of the list has them, too.
        await page.getByRole('link', { name: 'Overview' }).click();
        await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
        await page.getByRole('link', { name: 'Traces', exact: true }).click();
        await page.getByRole('columnheader', { name: 'User' }).waitFor();
        expect(new URL(page.url()).searchParams.has('columns')).toBe(false);
        await page.getByRole('link', { name: 'thread-3', exact: true }).first().click();
        await page.getByRole('heading', { name: 'Thread thread-3' }).waitFor();
      }));
  });
}
