import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { callRest } from '../../support/surfaces.ts';
import { openSignedIn, signInLink } from '../browser.ts';
import { choose } from '../choose.ts';
import { checkPage } from '../page-checks.ts';
import { send, shopTrace } from '../sent-traces.ts';
import type { Stage, TestProject } from '../stage.ts';

const TRACES = 12;
const HOUR_MS = 3_600_000;

async function sendTraces(project: TestProject): Promise<void> {
  for (let index = 0; index < TRACES; index += 1) await send(project, shopTrace(index, Date.now() - 60_000));
}

export function findAnything(stage: Stage): void {
  describe('the list of traces', () => {
    it('keeps its state as a view, which is chosen, changed, shared, renamed and deleted', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Viewed shop');
        await sendTraces(project);
        const { address, slug } = project;
        await openSignedIn(page, signInLink(address, stage.app.adminKey, `/${slug}/traces?q=model%3Agpt-5&sort=cost`));
        await page.getByText('3 of 3 shown').waitFor();
        const views = page.getByRole('dialog', { name: 'Saved views' });
        const asked = (name: string) => new URL(page.url()).searchParams.get(name);
        const press = async (name: string) => await views.getByRole('button', { name, exact: true }).click();
        await page.getByRole('button', { name: 'Views', exact: true }).click();
        await views.getByText('No view is saved yet.').waitFor();
        await press('Save view…');
        await views.getByLabel('Name').fill('Dear answers');
        await press('Save view');
        await page.getByRole('button', { name: 'Dear answers', exact: true }).waitFor();
        expect(asked('saved')).toMatch(/^savedview_/);
        // Another state of the list is not the view any more, until it keeps the change.
        await page.getByRole('button', { name: 'Remove Model gpt-5' }).click();
        await page.getByText(`${TRACES} of ${TRACES} shown`).waitFor();
        await page.getByRole('button', { name: 'Dear answers (changed)' }).click();
        await views.getByText('Only you').waitFor();
        await checkPage(page, 'saved-views');
        await press('Keep the change');
        await page.getByRole('button', { name: 'Dear answers', exact: true }).waitFor();
        await press('Share with the project');
        await views.getByText('Only you').waitFor({ state: 'detached' });
        await press('Rename');
        await views.getByLabel('Name').fill('All by cost');
        await press('Rename');
        await views.getByRole('button', { name: 'Leave the view' }).click();
        await page.getByRole('button', { name: 'Views', exact: true }).click();
        expect(asked('saved')).toBeNull();
        await press('All by cost');
        await page.getByRole('button', { name: 'All by cost', exact: true }).waitFor();
        expect(asked('sort')).toBe('cost');
        // A link with nothing but the view leads to its state.
        await page.goto(`${address}/${slug}/traces?saved=${asked('saved')}`);
        await page.waitForURL(/sort=cost/);
        // Neither does it, nor a choice of the view, take the range that the tab has kept from other pages.
        await choose(page.getByLabel('Range'), 'Last 7 days');
        await page.waitForURL(/range=7d/);
        await page.goto(`${address}/${slug}/traces?saved=${asked('saved')}`);
        await page.waitForURL(/sort=cost/);
        expect(asked('range')).toBe('30d');
        const headers = { 'x-auth-token': project.projectKey };
        const listed = await callRest(address, { path: '/api/saved-views', headers });
        expect(listed.body.data).toMatchObject([{ name: 'All by cost', visibility: 'PROJECT' }]);
        await page.getByRole('button', { name: 'All by cost', exact: true }).click();
        await press('Delete');
        await views.getByText('Everyone in the project loses it.').waitFor();
        await press('Delete the view');
        await page.getByRole('button', { name: 'Views', exact: true }).waitFor();
        expect((await callRest(address, { path: '/api/saved-views', headers })).body.data).toEqual([]);
      }));

    it('has charts, which zoom by dragging and by keys, and which the browser remembers', () =>
      stage.visit(async ({ page }) => {
        const { address, projectKey, slug } = stage.shop;
        await openSignedIn(page, signInLink(address, projectKey, `/${slug}/traces?range=24h`));
        const charts = page.getByRole('region', { name: 'Charts' });
        const status = charts.getByRole('application', { name: 'Count by status over time' });
        await status.locator('canvas').waitFor();
        await charts.getByText('Drag over a chart to zoom. A point is an hour.').waitFor();
        await charts.getByRole('application', { name: 'Duration, p50–p99 over time' }).waitFor();
        await charts.getByRole('application', { name: 'Cost by model over time' }).waitFor();
        await charts.getByText('claude-sonnet-4-5').waitFor();
        await checkPage(page, 'list-charts');
        const asked = (name: string) => new URL(page.url()).searchParams.get(name);
        const over = await status.locator('.u-over').boundingBox();
        if (over === null) throw new Error('the chart has no box');
        const y = over.y + over.height / 2;
        await page.mouse.move(over.x + over.width * 0.5, y);
        await page.mouse.down();
        await page.mouse.move(over.x + over.width * 0.75, y, { steps: 4 });
        await page.mouse.move(over.x + over.width - 1, y, { steps: 4 });
        await page.mouse.up();
        await page.waitForURL(/range=custom/);
        const lengthMs = Date.parse(asked('to') ?? '') - Date.parse(asked('from') ?? '');
        expect(lengthMs).toBeGreaterThan(10 * HOUR_MS);
        expect(lengthMs).toBeLessThan(16 * HOUR_MS);
        await page.getByText(/ of \d+ shown/).waitFor();
        // The way back leads to the range before.
        await page.goBack();
        await page.waitForURL(/range=24h/);
        await status.focus();
        for (const key of ['End', 'Shift+ArrowLeft']) await page.keyboard.press(key);
        await charts.getByText(/Not failed \d+, Failed \d+ \(2 chosen from /).waitFor();
        await page.keyboard.press('Enter');
        await page.waitForURL(/range=custom/);
        expect(Date.parse(asked('to') ?? '') - Date.parse(asked('from') ?? '')).toBe(2 * HOUR_MS - 1);
        await charts.getByText('A point is a minute.').waitFor();
        await charts.getByRole('button', { name: 'Zoom out' }).click();
        await page.waitForURL((url) => {
          const [from, to] = ['from', 'to'].map((name) => Date.parse(url.searchParams.get(name) ?? ''));
          return Math.abs((to ?? 0) - (from ?? 0) - (4 * HOUR_MS - 2)) < 1_000;
        });
        // Sums know nothing of some filters; then the charts are of the traces that are found.
        await page.goto(`${address}/${slug}/traces?q=error%3Atrue`);
        await status.focus();
        await page.keyboard.press('End');
        await charts.getByText(/Not failed 0, Failed \d+/).waitFor();
        await page.getByRole('button', { name: 'Charts' }).click();
        await charts.waitFor({ state: 'detached' });
        await page.reload();
        await page.getByText(/ of \d+ shown/).waitFor();
        expect(await charts.count()).toBe(0);
      }));

    it('selects rows with the pointer and by keys, and adds to a dataset, exports and deletes them', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Chosen shop');
        await sendTraces(project);
        const { address, slug, projectKey } = project;
        // The test cannot answer a file picker.
        await page.addInitScript(() => Reflect.deleteProperty(globalThis, 'showSaveFilePicker'));
        await openSignedIn(page, signInLink(address, stage.app.adminKey, `/${slug}/traces`));
        await page.getByText(`${TRACES} of ${TRACES} shown`).waitFor();
        const bar = page.getByRole('group', { name: 'Selected traces' });
        const boxes = page.getByRole('checkbox', { name: /^Select row / });
        await boxes.nth(1).click();
        await boxes.nth(3).click({ modifiers: ['Shift'] });
        await bar.getByText('3 selected').waitFor();
        await page.keyboard.press('x');
        await bar.getByText('4 selected').waitFor();
        await checkPage(page, 'selected-traces');
        await bar.getByRole('button', { name: 'Add to dataset…' }).click();
        const toDataset = page.getByRole('dialog', { name: 'Add the selected traces to a dataset' });
        await toDataset.getByLabel('Name of the dataset').fill('Chosen');
        await toDataset.getByRole('button', { name: 'Add 4 traces' }).click();
        await toDataset.getByText('4 entries were added to Chosen.').waitFor();
        await checkPage(page, 'selected-to-dataset');
        await toDataset.getByRole('button', { name: 'Close' }).click();
        const saved = async (name: string) => {
          await bar.getByRole('button', { name: 'Export…' }).click();
          const download = page.waitForEvent('download');
          await page
            .getByRole('dialog', { name: 'Export the selected traces' })
            .getByRole('button', { name, exact: true })
            .click();
          return readFileSync(await (await download).path(), 'utf8').trimEnd();
        };
        const lines = (await saved('Lines of JSON')).split('\n').map((line) => JSON.parse(line));
        expect(lines).toHaveLength(4);
        const rows = (await saved('CSV')).split('\r\n');
        expect(rows).toHaveLength(5);
        for (const { trace_id } of lines) expect(rows.some((row) => row.startsWith(`"${trace_id}",`))).toBe(true);
        await bar.getByRole('button', { name: 'Delete the selected…' }).click();
        const dialog = page.getByRole('dialog', { name: 'Delete the selected' });
        await dialog.getByText('4 traces go, with spans and evaluations.').waitFor();
        await dialog.getByLabel('Type delete to confirm').fill('delete');
        await dialog.getByRole('button', { name: 'Delete permanently' }).click();
        await dialog.getByText('Done: 4 traces deleted.').waitFor();
        await dialog.getByRole('button', { name: 'Close' }).click();
        await bar.waitFor({ state: 'detached' });
        await page.getByText(`${TRACES - 4} of ${TRACES - 4} shown`).waitFor();
        const left = await callRest(address, {
          verb: 'POST',
          path: '/api/traces/search',
          body: { traceIds: lines.map(({ trace_id }) => trace_id) },
          headers: { 'x-auth-token': projectKey },
        });
        expect(left.body.traces).toEqual([]);
        // All rows, of which a search is known: then all that match can go at once, beyond the page too.
        await page.getByLabel('Find traces').fill('type:llm');
        await page.keyboard.press('Enter');
        await page.waitForURL(/q=/);
        await page.getByText(/^(\d+) of \1 shown/).waitFor();
        await page.getByRole('checkbox', { name: 'Select all rows' }).click();
        await bar.getByRole('button', { name: 'Delete all that match…' }).click();
        await page.getByRole('dialog', { name: 'Delete all that match' }).getByText('that match type:llm').waitFor();
        await page.keyboard.press('Escape');
        await bar.getByRole('button', { name: 'Clear' }).click();
        await bar.waitFor({ state: 'detached' });
      }));
  });
}
