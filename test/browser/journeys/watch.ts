/** What a person sees of a project over time: the overview, what changed, and dashboards. */

import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { until } from '../../support/temp.ts';
import { openSignedIn, signInLink, takePicture } from '../browser.ts';
import { choose } from '../choose.ts';
import { checkPage } from '../page-checks.ts';
import { send, shopTrace } from '../sent-traces.ts';
import type { Stage, TestProject } from '../stage.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Of two days: ten traces of the day before, and thirty of the last day, two of which fail for the first time. */
async function makeChangedShop(stage: Stage, name: string): Promise<TestProject> {
  const project = await stage.makeProject(name);
  const nowMs = Date.now();
  for (let index = 100; index < 110; index += 1) {
    // Index 5 of 17 fails.
    if (index % 17 !== 5) await send(project, shopTrace(index, nowMs - DAY_MS - (index - 99) * HOUR_MS));
  }
  for (let index = 0; index < 30; index += 1)
    await send(project, shopTrace(index, nowMs - (index % 20) * HOUR_MS - 60_000));
  return project;
}

const range = (page: Page) => new URL(page.url()).searchParams.get('range');

export function watch(stage: Stage): void {
  describe('the overview', () => {
    it('compares with the period before, says what changed, and leads from a point to its traces', () =>
      stage.visit(async ({ page }) => {
        const project = await makeChangedShop(stage, 'Changed shop');
        const path = `/${project.slug}/overview?range=24h`;
        await openSignedIn(page, signInLink(project.address, project.projectKey, path));
        await page.getByRole('link', { name: /^Traces 30 .*\+233% vs\. before/ }).waitFor();
        await page.getByRole('link', { name: /^Failed traces 2 .*\+6\.7 pp vs\. before/ }).waitFor();
        await page.getByRole('link', { name: /The carrier did not answer in time \(2\)/ }).waitFor();
        await page.getByText('Dearest user').waitFor();
        await checkPage(page, 'overview-changed');
        const errors = page.getByRole('region', { name: 'Failed traces' });
        await errors.getByText('Values').click();
        await errors.getByRole('table').getByRole('link').first().click();
        await page.getByRole('button', { name: 'Remove Failed true' }).waitFor();
        await page.getByText('1 of 1 shown').waitFor();
        await page.goBack();
        // The pointer does the same.
        await page.getByText('Dearest user').waitFor();
        await page.getByRole('img', { name: /^First token of any call, p95 over time/ }).waitFor();
        await page.getByRole('img', { name: /^Traces over time/ }).click({ position: { x: 300, y: 60 } });
        await page.getByRole('heading', { level: 1, name: 'Traces' }).waitFor();
        expect(range(page)).toBe('custom');
        // The hour of a point is not a range for other pages.
        await page.getByRole('link', { name: 'Overview', exact: true }).click();
        await page.waitForURL(/overview\?range=24h/);
      }));

    it('sums up by two dimensions, and each cell leads to its traces', () =>
      stage.visit(async ({ page }) => {
        const { address, projectKey, slug } = stage.shop;
        await openSignedIn(page, signInLink(address, projectKey, `/${slug}/overview`));
        await choose(page.getByLabel('And by'), 'And User');
        await page.getByRole('table', { name: 'Cost by model and user' }).waitFor();
        await takePicture(page, 'overview-two-dimensions');
        const row = page.getByRole('row', { name: /^gpt-5 / });
        await row.getByRole('link').first().click();
        await page.getByRole('button', { name: /^Remove Model/ }).waitFor();
        await page.getByRole('button', { name: /^Remove User/ }).waitFor();
      }));

    it('says of each project what changed there, and pages of the organization lead back into the last one', () =>
      stage.visit(async ({ page }) => {
        const [changed, quiet] = [await makeChangedShop(stage, 'Restless shop'), await stage.makeProject('Quiet shop')];
        const path = `/${changed.slug}/overview?range=24h`;
        await openSignedIn(page, signInLink(changed.address, stage.app.adminKey, path));
        await page.getByText('Dearest user').waitFor();
        // Within the seconds in which an answer counts as fresh.
        await choose(page.getByLabel('Project', { exact: true }), quiet.name);
        const pages = page.getByRole('navigation', { name: 'Pages' });
        await pages.getByRole('link', { name: 'Overview', exact: true }).click();
        await page.getByText('Nothing stands out against the period before.').waitFor();
        expect([await page.getByText('Dearest user').count(), range(page)]).toEqual([0, '24h']);
        await pages.getByRole('link', { name: 'Spend', exact: true }).click();
        await page.getByRole('heading', { level: 1, name: 'Spend' }).waitFor();
        await page.reload();
        await pages.getByRole('link', { name: 'Overview', exact: true }).click();
        await page.waitForURL(new RegExp(`/${quiet.slug}/overview`));
      }));

    it('keeps its range for the other pages of the tab, and for no other tab', () =>
      stage.visit(async ({ page }) => {
        const { address, projectKey, slug } = stage.shop;
        await openSignedIn(page, signInLink(address, projectKey, `/${slug}/overview`));
        await choose(page.getByLabel('Range'), 'Last 7 days');
        await page.waitForURL(/range=7d/);
        await page.getByRole('link', { name: 'Threads', exact: true }).click();
        await page.getByRole('heading', { level: 1, name: 'Threads' }).waitFor();
        await page.waitForURL(/threads\?range=7d/);
        await page.getByRole('link', { name: 'Users', exact: true }).click();
        await page.waitForURL(/users\?range=7d/);
        const other = await page.context().newPage();
        await other.goto(`${address}/${slug}/overview`);
        await other.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
        expect(range(other)).toBeNull();
        await other.close();
        // The default is a range as good as any.
        await choose(page.getByLabel('Range'), 'Last 30 days');
        await page.getByRole('link', { name: 'Overview', exact: true }).click();
        await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
        expect(range(page)).toBeNull();
      }));
  });

  describe('a dashboard', () => {
    it('takes charts that are pinned, is shared by its address, renamed, reordered and deleted', () =>
      stage.visit(async ({ page }) => {
        const project = await makeChangedShop(stage, 'Pinned shop');
        const { address, projectKey, slug } = project;
        await openSignedIn(page, signInLink(address, projectKey, `/${slug}/overview?range=7d`));
        const pin = async (chart: string, name?: string) => {
          await page.getByRole('region', { name: chart }).getByRole('button', { name: 'Pin' }).click();
          const dialog = page.getByRole('dialog');
          if (name !== undefined) await dialog.getByLabel('Name of the dashboard').fill(name);
          await dialog.getByRole('button', { name: 'Pin' }).click();
          await dialog.getByText('It is on the dashboard now.').waitFor();
          await dialog.getByRole('button', { name: 'Close' }).click();
        };
        await pin('Cost', 'Watched');
        await pin('Failed traces');
        await pin('Duration, p95');
        await page.getByRole('link', { name: 'Dashboards', exact: true }).click();
        await page.getByRole('row', { name: /Watched 3/ }).waitFor();
        await checkPage(page, 'dashboards');
        await page.getByRole('link', { name: 'Watched' }).click();
        for (const name of ['Cost', 'Failed traces', 'Duration, p95']) {
          await page.getByRole('img', { name: new RegExp(`^${name} over time`) }).waitFor();
        }
        const failed = page.getByRole('region', { name: 'Failed traces' });
        await failed.getByText('Values').click();
        await failed.getByRole('cell', { name: '1', exact: true }).first().waitFor();
        await failed.getByText('Values').click();
        await checkPage(page, 'dashboard');
        // The address holds the range.
        await page.reload();
        await page.getByRole('img', { name: /^Cost over time/ }).waitFor();
        expect(range(page)).toBe('7d');
        await page.getByRole('button', { name: 'Move Failed traces earlier' }).click();
        const titles = page.locator('main').getByRole('heading', { level: 2 });
        await until(async () => (await titles.allTextContents())[0] === 'Failed traces');
        expect(await titles.allTextContents()).toEqual(['Failed traces', 'Cost', 'Duration, p95']);
        await page.getByRole('button', { name: 'Rename' }).click();
        await page.getByRole('dialog').getByLabel('Name').fill('Renamed');
        await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
        await page.getByRole('heading', { level: 1, name: 'Renamed' }).waitFor();
        await page.locator('main').getByRole('link', { name: 'Dashboards', exact: true }).click();
        await page.getByRole('button', { name: 'New dashboard' }).click();
        await page.getByRole('dialog').getByLabel('Name').fill('Second');
        await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
        await page.getByRole('button', { name: 'Move Second up' }).click();
        await page.getByRole('row').nth(1).getByRole('link', { name: 'Second' }).waitFor();
        await page
          .getByRole('row', { name: /Renamed/ })
          .getByRole('button', { name: 'Delete' })
          .click();
        await page.getByLabel('Type delete to confirm').fill('delete');
        await page.getByRole('button', { name: 'Delete permanently' }).click();
        await page.getByRole('link', { name: 'Renamed' }).waitFor({ state: 'detached' });
      }));
  });
}
