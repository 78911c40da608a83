import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { openSignedIn, signInLink } from '../browser.ts';
import { styleOf } from '../page-checks.ts';
import { send, shopTrace } from '../sent-traces.ts';
import { SHOP_TRACES, type Stage } from '../stage.ts';

const table = (page: Page) => page.getByRole('table', { name: 'Traces' });
const scrollTop = (page: Page) => table(page).evaluate((element) => element.scrollTop);

async function openShop(stage: Stage, page: Page, search = ''): Promise<void> {
  const { address, adminKey } = stage.app;
  await openSignedIn(page, signInLink(address, adminKey, `/${stage.shop.slug}/traces${search}`));
  await page
    .getByRole('row', { name: /customer/ })
    .first()
    .waitFor();
}

export function keepPlace(stage: Stage): void {
  describe('the list of traces', () => {
    it('is as one left it on the way back, by the history and by the crumb', () =>
      stage.visit(async ({ page }) => {
        await openShop(stage, page, '?q=error:false&sort=duration&dir=asc&range=7d');
        const parameters = () => [...new URL(page.url()).searchParams].sort();
        const before = parameters();
        await table(page).evaluate((element) => element.scrollTo(0, 1_600));
        const row = page.locator('[aria-rowindex="62"]');
        const traceOf = async () =>
          new URL((await row.getByRole('link').getAttribute('href')) ?? '', page.url()).pathname;
        const trace = await traceOf();
        await row.getByRole('link').click();
        await page.getByRole('tree').waitFor();
        await page.goBack();
        await row.waitFor();
        expect(await scrollTop(page)).toBe(1_600);
        expect(await row.getAttribute('aria-current')).toBe('true');
        await row.getByRole('link').click();
        await page.getByRole('tree').waitFor();
        await page.locator('main').getByRole('link', { name: 'Traces', exact: true }).click();
        await row.waitFor();
        expect(await scrollTop(page)).toBe(1_600);
        expect(parameters()).toEqual(before);
        expect(await traceOf()).toBe(trace);
        // Another search begins at its first row.
        await page.getByRole('button', { name: 'Remove Failed false' }).click();
        await page.locator('[aria-rowindex="2"]').waitFor();
        expect(await scrollTop(page)).toBe(0);
      }));

    it('is walked from trace to trace with [ and ]', () =>
      stage.visit(async ({ page }) => {
        await openShop(stage, page, '?sort=duration');
        await page
          .getByRole('row', { name: /research the order/ })
          .getByRole('link')
          .click();
        const position = page.getByRole('navigation', { name: 'Traces of the search' });
        await position.getByText(`1 of ${SHOP_TRACES}`).waitFor();
        expect(await position.getByRole('button', { name: 'Previous trace' }).isDisabled()).toBe(true);
        await page.keyboard.press(']');
        await position.getByText(`2 of ${SHOP_TRACES}`).waitFor();
        await page.getByRole('heading', { level: 1, name: 'answer the customer' }).waitFor();
        // The address has the search, so a reload has the position.
        await page.reload();
        await position.getByText(`2 of ${SHOP_TRACES}`).waitFor();
        await page.keyboard.press('[');
        await position.getByText(`1 of ${SHOP_TRACES}`).waitFor();
        for (let press = 2; press <= 40; press += 1) {
          await page.keyboard.press(']');
          await position.getByText(`${press} of ${SHOP_TRACES}`).waitFor();
        }
        await page.goBack();
        // The list shows the trace that was read last.
        await page.locator('[aria-rowindex="41"][aria-current]').waitFor();
        // A link from elsewhere names no search.
        await page.goto(`${stage.app.address}/${stage.shop.slug}/traces/shop-3`);
        await page.getByRole('tree').waitFor();
        expect(await position.count()).toBe(0);
      }));

    it('works from the keyboard without focus, and ? lists the keys', () =>
      stage.visit(async ({ page }) => {
        await openShop(stage, page);
        await page.keyboard.press('j');
        await page.keyboard.press('j');
        await page.locator('[aria-rowindex="4"][aria-current]').waitFor();
        await page.keyboard.press('/');
        await page.keyboard.type('parcel');
        await page.keyboard.press('Escape');
        await page.keyboard.press('k');
        await page.locator('[aria-rowindex="3"][aria-current]').waitFor();
        expect(await page.getByLabel('Find traces').inputValue()).toBe('parcel');
        await page.keyboard.press('?');
        const help = page.getByRole('dialog', { name: 'Keys' });
        await help.getByText('Open the row').waitFor();
        await page.keyboard.press('j');
        await page.keyboard.press('Escape');
        await help.waitFor({ state: 'detached' });
        await page.locator('[aria-rowindex="3"][aria-current]').waitFor();
        await page.keyboard.press('Enter');
        await page.getByRole('tree').waitFor();
        await page.keyboard.press('j');
        await page.waitForURL(/span=agent-/);
        await page.keyboard.press('?');
        await help.getByText('Next trace of the search').waitFor();
      }));

    it('says that its rows are those of the search before, while a slow server answers', () =>
      stage.visit(async ({ page }) => {
        await openShop(stage, page);
        await page.getByText(`of ${SHOP_TRACES} shown`).waitFor();
        const { promise, resolve } = Promise.withResolvers<void>();
        await page.route('**/spandrel.v1.TraceService/SearchTraces', async (route) => {
          await promise;
          await route.continue();
        });
        await page.getByLabel('Find traces').fill('error:true');
        await page.keyboard.press('Enter');
        await page.getByText('Searching…').waitFor();
        expect(await table(page).getAttribute('aria-busy')).toBe('true');
        expect(await page.getByText(`of ${SHOP_TRACES} shown`).count()).toBe(0);
        resolve();
        await page.getByText('Searching…').waitFor({ state: 'detached' });
        expect(await table(page).getAttribute('aria-busy')).toBe('false');
        await page.getByText(/^8 of 8 shown/).waitFor();
      }));

    it('shows the beginning of Arabic and Hebrew texts, and the whole of a cut one as a tooltip', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Arabic shop');
        const arabic = `${'أين الطرد الخاص بي؟ '.repeat(20)}`.trim();
        const trace = shopTrace(2, Date.now());
        const [root] = trace.spans;
        if (root) Object.assign(root, { name: 'שירות לקוחות', input: { type: 'text', value: arabic } });
        await send(project, trace);
        await openSignedIn(page, signInLink(project.address, project.projectKey));
        const cell = page.getByRole('cell', { name: /أين الطرد/ });
        await cell.waitFor();
        expect(await styleOf(cell, 'direction')).toBe('rtl');
        expect(await cell.getAttribute('title')).toBe(arabic);
        expect(await styleOf(page.getByRole('cell', { name: /שירות/ }), 'direction')).toBe('rtl');
        expect(await styleOf(page.getByRole('cell', { name: 'gpt-5' }).first(), 'direction')).toBe('ltr');
      }));

    it('has dense rows, or roomy ones where somebody prefers them', () =>
      stage.visit(async ({ page }) => {
        await openShop(stage, page);
        const row = page.locator('[aria-rowindex="3"]');
        expect((await row.boundingBox())?.height).toBe(32);
        await page.getByRole('button', { name: 'Columns' }).click();
        await page.getByLabel('Dense rows').uncheck();
        await page.reload();
        await row.waitFor();
        expect((await row.boundingBox())?.height).toBe(40);
      }));

    it('counts live arrivals, and moves no row below the pointer', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Busy shop');
        const arrive = (id: string) => send(project, { ...shopTrace(900, Date.now()), trace_id: id, metadata: {} });
        await send(project, shopTrace(1, Date.now() - 60_000));
        await openSignedIn(page, signInLink(project.address, project.projectKey));
        // Charts that come after the rows would move these away from the pointer.
        const charts = page.getByRole('button', { name: 'Charts', exact: true });
        if ((await charts.getAttribute('aria-expanded')) === 'true') await charts.click();
        await page.getByLabel('Live').check();
        await page.getByText('connecting…').waitFor({ state: 'detached' });
        await arrive('one');
        await page.getByText('2 of 2 shown').waitFor();
        const first = page.locator('[aria-rowindex="2"]').getByRole('link');
        await first.hover();
        await arrive('two');
        await page.getByRole('button', { name: 'Show 1 new' }).waitFor();
        await first.and(page.locator('[href*="/one?"]')).waitFor();
        await page.getByText('2 of 2 shown').waitFor();
        // Moved to the button, the pointer would leave the rows, which come by themselves then.
        await page.getByRole('button', { name: 'Show 1 new' }).press('Enter');
        await first.and(page.locator('[href*="/two?"]')).waitFor();
        await page.getByText('3 of 3 shown').waitFor();
        await page.getByRole('button', { name: 'Pause' }).click();
        await arrive('three');
        await page.getByRole('button', { name: 'Show 1 new' }).waitFor();
        await first.and(page.locator('[href*="/two?"]')).waitFor();
        await page.getByRole('button', { name: 'Resume' }).click();
        await first.and(page.locator('[href*="/three?"]')).waitFor();
      }));
  });
}
