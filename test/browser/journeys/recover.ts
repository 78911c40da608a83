import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { openSignedIn, signInLink } from '../browser.ts';
import { send, shopTrace } from '../sent-traces.ts';
import { SHOP_TRACES, type Stage } from '../stage.ts';

const MESSAGE = 'Too many requests at once.';
const RETRY = 'Try again';

/** Makes the server seem to refuse an rpc until the returned function is called. */
async function refuse(page: Page, rpc: string): Promise<() => Promise<void>> {
  const calls = `**/spandrel.v1.${rpc}`;
  const json = { code: 'resource_exhausted', message: MESSAGE };
  await page.route(calls, (route) => route.fulfill({ status: 429, json }));
  return () => page.unroute(calls);
}

/** Does what a browser does with a tab that another one covers. */
async function hideTab(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, 'hidden', { configurable: true, value: ${isHidden} });
    Object.defineProperty(document, 'visibilityState', { configurable: true, value: '${isHidden ? 'hidden' : 'visible'}' });
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
  `);
}

export function recover(stage: Stage): void {
  describe('after a failure', () => {
    it('the overview shows the error, and is complete after a retry', () =>
      stage.visit(async ({ page }) => {
        await openSignedIn(page, signInLink(stage.app.address, stage.app.projectKey));
        await page.getByRole('heading', { name: 'Traces' }).waitFor();
        const mend = await refuse(page, 'TraceService/QueryAnalytics');
        await page.getByRole('link', { name: 'Overview' }).click();
        // The charts of the page before may be refused as well, and show an alert of their own.
        await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
        const alert = page.getByRole('alert');
        await alert.getByText(MESSAGE).waitFor();
        expect(await page.getByRole('img', { name: /over time/ }).count()).toBe(0);
        await mend();
        await alert.getByRole('button', { name: RETRY }).click();
        await page.getByRole('link', { name: new RegExp(`^Traces ${SHOP_TRACES} `) }).waitFor();
        await page.getByRole('img', { name: /Cost over time/ }).waitFor();
        await page.getByRole('heading', { name: 'By model' }).waitFor();
        await alert.waitFor({ state: 'detached' });
      }));

    it('the page that waits for the first trace says so, and keeps waiting', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Unread shop');
        await openSignedIn(page, signInLink(project.address, project.projectKey));
        const waiting = page.getByText('Waiting for the first trace');
        await waiting.waitFor();
        const mend = await refuse(page, 'TraceService/SearchTraces');
        await page.getByRole('alert').getByText(MESSAGE).waitFor();
        await waiting.waitFor({ state: 'detached' });
        await mend();
        // It asks again by itself.
        await waiting.waitFor();
        await send(project, shopTrace(1, Date.now()));
        await page.getByRole('link', { name: 'Open it' }).waitFor();
      }));

    it('or while the page is hidden, a live list pauses, and then shows what arrived meanwhile', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Hidden shop');
        await send(project, { ...shopTrace(1, Date.now() - 60_000), trace_id: 'before' });
        await openSignedIn(page, signInLink(project.address, project.projectKey, `/${project.slug}/traces?live=true`));
        await page.getByText('1 of 1 shown').waitFor();
        // New rows wait while the pointer is on the list.
        await page.mouse.move(0, 0);
        await page.getByText('connecting…').waitFor({ state: 'detached' });
        const left = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/TailTraces'));
        await hideTab(page, true);
        await page.getByText('paused', { exact: true }).waitFor();
        await left;
        await send(project, { ...shopTrace(2, Date.now()), trace_id: 'meanwhile' });
        const tailRequest = page.waitForRequest((request) => request.url().endsWith('/TailTraces'));
        await hideTab(page, false);
        await tailRequest;
        await page.getByText('2 of 2 shown').waitFor();
        await page.getByText('paused', { exact: true }).waitFor({ state: 'detached' });
        await send(project, { ...shopTrace(3, Date.now()), trace_id: 'after' });
        await page.locator('[aria-rowindex="2"] [href*="/after?"]').waitFor();
      }));
  });

  describe('while the server is away', () => {
    it('a page that was never opened waits, and is shown when the server is back', () =>
      stage.visit(async ({ page, whileAway }) => {
        await openSignedIn(page, signInLink(stage.app.address, stage.app.projectKey));
        await page.getByRole('heading', { name: 'Traces' }).waitFor();
        await whileAway(async () => {
          await page.getByRole('link', { name: 'Datasets' }).click();
          await page.getByText(/The server does not answer\. This page recovers/).waitFor();
          await page.getByRole('heading', { level: 1, name: 'Traces' }).waitFor();
        });
        await page.getByRole('heading', { level: 1, name: 'Datasets' }).waitFor();
        await page.getByText('The server does not answer').waitFor({ state: 'detached' });
      }));

    it('the banner says so, and the data is read again without a click', () =>
      stage.visit(async ({ page, whileAway }) => {
        const project = await stage.makeProject('Remote shop');
        await openSignedIn(page, signInLink(project.address, project.projectKey, `/${project.slug}/evaluators`));
        await page.getByRole('heading', { name: 'No evaluator yet' }).waitFor();
        await whileAway(() => page.getByText(/This page recovers/).waitFor());
        await page.getByText(/This page recovers/).waitFor({ state: 'detached' });
        await page.getByRole('heading', { name: 'No evaluator yet' }).waitFor();
      }));
  });

  describe('after an upgrade of the server', () => {
    const other = '<script type="module" crossorigin src="/assets/index-other.js"></script>';
    /** The server has another bundle, without the part of a page, until the page is loaded again. */
    const upgrade = async (page: Page, part: string) => {
      await page.evaluate('globalThis.isOld = true');
      await page.route(`**/assets/${part}-*.js`, async (route) => {
        if (await page.evaluate('globalThis.isOld === true')) await route.fulfill({ status: 404 });
        else await route.continue();
      });
      await page.route(`${stage.app.address}/`, (route) => route.fulfill({ body: other, contentType: 'text/html' }));
    };

    it('a page whose part is gone loads the new console once', () =>
      stage.visit(async ({ page }) => {
        await openSignedIn(page, signInLink(stage.app.address, stage.app.projectKey));
        await page.getByRole('heading', { name: 'Traces' }).waitFor();
        await upgrade(page, 'dataset-list-page');
        await page.getByRole('link', { name: 'Datasets' }).click();
        await page.getByRole('heading', { level: 1, name: 'Datasets' }).waitFor();
        expect(await page.evaluate('globalThis.isOld')).toBeUndefined();
      }));

    it('but not over typed text', () =>
      stage.visit(async ({ page }) => {
        const { address, projectKey, slug } = stage.shop;
        await openSignedIn(page, signInLink(address, projectKey, `/${slug}/monitors/new`));
        await page.getByLabel('Name').fill('Half a monitor');
        await upgrade(page, 'dataset-list-page');
        await page.getByRole('link', { name: 'Datasets' }).click();
        await page.getByText(/The console was upgraded/).waitFor();
        expect(await page.getByLabel('Name').inputValue()).toBe('Half a monitor');
        expect(await page.evaluate('globalThis.isOld')).toBe(true);
        await page.getByRole('button', { name: 'Reload' }).click();
        await page.getByRole('heading', { level: 1, name: 'Datasets' }).waitFor();
      }));
  });

  describe('the palette', () => {
    it('cancels the search for a trace when it is closed', () =>
      stage.visit(async ({ page }) => {
        await openSignedIn(page, signInLink(stage.app.address, stage.app.projectKey));
        await page.getByRole('heading', { name: 'Traces' }).waitFor();
        // Answers nothing.
        await page.route('**/spandrel.v1.TraceService/GetTrace', () => undefined);
        await page.getByRole('button', { name: /Go to/ }).click();
        await page.getByRole('combobox', { name: 'Page or trace id' }).fill('shop-1234');
        await page.keyboard.press('Enter');
        await page.getByText('Looking for the trace…').waitFor();
        const left = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/GetTrace'));
        await page.keyboard.press('Escape');
        await left;
      }));
  });
}
