import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { ORGANIZATION_ITEMS, PROJECT_ITEMS } from '../../../src/console/layout/navigation.ts';
import { openSignedIn, signInLink } from '../browser.ts';
import { checkPage, LAPTOP, PHONE } from '../page-checks.ts';
import type { Stage } from '../stage.ts';

/** No menu of pages has it. */
const SESSIONS = { label: 'Sessions', to: '/-/sessions' };

/** Paths below the shop project, and a text that appears once the page is ready. */
const PAGES: readonly (readonly [
  name: string,
  path: (slug: string) => string,
  isThere: (page: Page) => Promise<void>,
])[] = [
  [
    'traces',
    (slug) => `/${slug}/traces`,
    (page) =>
      page
        .getByRole('row', { name: /customer/ })
        .first()
        .waitFor(),
  ],
  [
    'trace-whole',
    (slug) => `/${slug}/traces/shop-5`,
    (page) => page.getByRole('treeitem', { name: /answer the customer/ }).waitFor(),
  ],
  [
    'trace-span',
    (slug) => `/${slug}/traces/shop-5?span=write-5`,
    (page) => page.getByRole('heading', { name: 'write the answer' }).waitFor(),
  ],
  ['thread', (slug) => `/${slug}/threads/thread-3`, (page) => page.getByText('7 traces, oldest first').waitFor()],
  ['overview', (slug) => `/${slug}/overview`, (page) => page.getByRole('img', { name: /Cost over time/ }).waitFor()],
  ...[...PROJECT_ITEMS, ...ORGANIZATION_ITEMS, SESSIONS]
    // These two are above, with what is in them.
    .filter(({ label }) => label !== 'Overview' && label !== 'Traces')
    .map(
      ({ label, to }) =>
        [
          label.toLowerCase().replaceAll(' ', '-'),
          (slug: string) => to.replace('$slug', slug),
          async (page: Page) => {
            await page.getByRole('heading', { level: 1 }).waitFor();
            await page.getByRole('status').filter({ hasText: 'Loading' }).first().waitFor({ state: 'detached' });
          },
        ] as const,
    ),
  ['new-key', () => '/-/keys/new', (page) => page.getByRole('checkbox', { name: 'traces:view' }).waitFor()],
];

export function useAnyhow(stage: Stage): void {
  describe('users', () => {
    it('without a mouse reach every page', () =>
      stage.visit(async ({ page }) => {
        await openSignedIn(page, signInLink(stage.app.address, stage.app.projectKey));
        await page
          .getByRole('row', { name: /customer/ })
          .first()
          .waitFor();
        await page.keyboard.press('/');
        await page.keyboard.type('error:false');
        await page.keyboard.press('Enter');
        await page.getByRole('button', { name: 'Remove Failed false' }).waitFor();
        await page.getByRole('table', { name: 'Traces' }).focus();
        await page.keyboard.press('j');
        await page.keyboard.press('Enter');
        await page.getByRole('tree').waitFor();
        await page.getByRole('tree').focus();
        await page.keyboard.press('j');
        await page.keyboard.press('j');
        await page.waitForURL(/span=find-/);
        await page.keyboard.press('Escape');
        const goal = page.getByRole('combobox', { name: 'Page or trace id' });
        await page.keyboard.press('Control+k');
        await goal.waitFor();
        await page.keyboard.type('trac');
        await page.keyboard.press('Enter');
        await page.getByRole('heading', { name: 'Traces' }).waitFor();
        await page.getByRole('table', { name: 'Traces' }).focus();
        await page.keyboard.press('Control+k');
        await goal.waitFor();
        await page.keyboard.press('Escape');
        await page.locator('[role=table]:focus').waitFor();
      }));

    it('with the id of a trace reach it in any of their projects', () =>
      stage.visit(async ({ page }) => {
        await openSignedIn(page, signInLink(stage.app.address, stage.app.adminKey, '/-/keys'));
        await page.getByRole('button', { name: /Go to/ }).click();
        const goal = page.getByRole('combobox', { name: 'Page or trace id' });
        await goal.fill('no-such-trace');
        await page.keyboard.press('Enter');
        await page.getByText('No project you can access has this trace.').waitFor();
        await goal.fill('slow-65');
        await page.keyboard.press('Enter');
        await page.getByRole('heading', { name: 'research the order' }).waitFor();
        await page.getByRole('button', { name: /Go to/ }).click();
        await goal.waitFor();
        await page.mouse.click(5, 500);
        await goal.waitFor({ state: 'detached' });
      }));

    it('on a phone close the menu with Escape', () =>
      stage.visit(async ({ page }) => {
        await page.setViewportSize(PHONE);
        await openSignedIn(page, signInLink(stage.app.address, stage.app.projectKey));
        const menu = page.getByRole('button', { name: 'Menu' });
        await menu.click();
        await page.getByRole('link', { name: 'Overview' }).focus();
        await page.keyboard.press('Escape');
        await page.getByRole('navigation', { name: 'Pages' }).waitFor({ state: 'hidden' });
        expect(await menu.evaluate((button) => button.matches(':focus'))).toBe(true);
      }));

    it('of a small window revoke a key without scrolling', () =>
      stage.visit(async ({ page }) => {
        await page.setViewportSize(LAPTOP);
        await openSignedIn(page, signInLink(stage.app.address, stage.app.adminKey, '/-/keys'));
        const box = await page.getByRole('button', { name: 'Revoke' }).first().boundingBox();
        expect((box?.x ?? LAPTOP.width) + (box?.width ?? 0)).toBeLessThanOrEqual(LAPTOP.width);
      }));

    it.each(PAGES)('meet no barrier at %s, in both colour schemes and windows of three sizes', (name, path, isThere) =>
      stage.visit(async ({ page }) => {
        await openSignedIn(page, signInLink(stage.app.address, stage.app.adminKey, path(stage.shop.slug)));
        await isThere(page);
        await checkPage(page, name);
      }),
    );

    it('find no barrier when they sign in', () =>
      stage.visit(async ({ page }) => {
        await page.goto(stage.app.address);
        await page.getByLabel('Key').waitFor();
        await checkPage(page, 'sign-in');
      }));
  });
}
