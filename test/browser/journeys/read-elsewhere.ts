import { describe, expect, it } from 'vitest';
import { findBarriers } from '../axe.ts';
import { openSignedIn, signInLink } from '../browser.ts';
import { post } from '../gateway-calls.ts';
import { send, shopTrace } from '../sent-traces.ts';
import type { Stage } from '../stage.ts';

const TOKYO = { locale: 'de-DE', timezoneId: 'Asia/Tokyo' };

export function readElsewhere(stage: Stage): void {
  describe('a reader with another locale and zone', () => {
    it('reads numbers, dates and days as theirs', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Tokyo shop');
        await send(project, shopTrace(1, Date.now() - 60_000, true));
        const { address, slug } = project;
        await openSignedIn(page, signInLink(address, stage.app.adminKey, `/${slug}/overview`));
        await page.getByRole('link', { name: /^Tokens 96\.556 4\.136 output tokens/ }).waitFor();
        await page.getByRole('link', { name: /^Cost \d,\d+ \$/ }).waitFor();
        await page.getByRole('region', { name: 'Cost' }).getByText('One point per day, in your time zone.').waitFor();
        const durations = page.getByRole('region', { name: 'Duration, p95' });
        await durations.getByText('One point per day, in UTC.').waitFor();

        await page.goto(`${address}/-/events`);
        const first = page.getByRole('main').getByRole('listitem').locator('time').first();
        const created = (await first.getAttribute('datetime')) ?? '';
        const clock = new Intl.DateTimeFormat('de-DE', { timeStyle: 'medium', timeZone: TOKYO.timezoneId });
        expect(await first.textContent()).toContain(clock.format(new Date(created)));
      }, TOKYO));
  });

  describe('the theme', () => {
    it('is that of the system until the reader chooses, and the choice is remembered', () =>
      stage.visit(async ({ page }) => {
        const scheme = () => page.evaluate('getComputedStyle(document.documentElement).colorScheme');
        const surface = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
        await openSignedIn(page, signInLink(stage.app.address, stage.app.projectKey));
        const dark = page.getByRole('button', { name: 'Dark theme' });
        await dark.waitFor();
        const light = await surface();
        await dark.hover();
        await page.getByRole('tooltip').filter({ hasText: 'Dark theme' }).waitFor();
        await dark.click();
        await page.getByRole('tooltip').waitFor({ state: 'detached' });
        expect(await scheme()).toBe('dark');
        expect(await surface()).not.toBe(light);
        await page.getByLabel('Range').click();
        await page.getByRole('option', { name: 'Last 7 days' }).waitFor();
        // The library's guards are focused only to pass the focus on.
        const barriers = (await findBarriers(page, 'light')).filter((line) => !line.includes('base-ui-focus-guard'));
        expect(barriers).toEqual([]);
        await page.keyboard.press('Escape');
        await page.reload();
        await dark.waitFor();
        expect(await dark.getAttribute('aria-pressed')).toBe('true');
        expect(await scheme()).toBe('dark');
        await page.getByRole('button', { name: 'System theme' }).click();
        expect(await surface()).toBe(light);
      }));
  });

  describe('a narrow key', () => {
    it('gets the pages that it may open, and the name of its project', () =>
      stage.visit(async ({ page }) => {
        const { address, id } = await stage.makeProject('Narrow shop');
        const { token } = await post(stage.app, '/api/api-keys', stage.app.adminKey, {
          name: 'reader',
          keyType: 'service',
          permissionMode: 'restricted',
          permissions: ['traces:view'],
          bindings: [{ role: 'CUSTOM', scopeType: 'PROJECT', scopeId: id }],
        });
        await openSignedIn(page, signInLink(address, token));
        const menu = page.getByRole('navigation', { name: 'Pages' });
        await menu.getByText('Narrow shop', { exact: true }).waitFor();
        expect(await menu.getByRole('link').allTextContents()).toEqual(['Traces', 'Threads', 'Users', 'Sessions']);
      }));
  });
}
