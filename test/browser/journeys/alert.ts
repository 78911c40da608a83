/** Triggers: begun from a search and from a chart, paused, changed and deleted. */

import { describe, expect, it } from 'vitest';
import { llmTrace } from '../../support/fixtures.ts';
import { callRest } from '../../support/surfaces.ts';
import { openSignedIn, signInLink } from '../browser.ts';
import { choose } from '../choose.ts';
import { checkPage } from '../page-checks.ts';
import type { Stage } from '../stage.ts';

export function alert(stage: Stage): void {
  describe('a trigger', () => {
    it('begins from a search, is paused, changed and deleted', () =>
      stage.visit(async ({ page }) => {
        const { address, projectKey, slug } = await stage.makeProject('Alerted shop');
        const headers = { 'x-auth-token': projectKey };
        await callRest(address, { verb: 'POST', path: '/api/collector', body: llmTrace(Date.now()), headers });
        await openSignedIn(page, signInLink(address, projectKey, `/${slug}/traces?q=error%3Atrue%20label%3Ashop`));
        await page.getByRole('link', { name: 'Alert on this' }).click();
        await page.getByLabel('Name').fill('Shop fails');
        expect(await page.getByLabel('Traces that match').inputValue()).toBe('error:true label:shop');
        await page.getByText('0 traces of the last day match.').waitFor();
        await choose(page.getByLabel('When', { exact: true }), 'Every hour, for all traces together');
        await checkPage(page, 'trigger-new');
        await page.getByRole('button', { name: 'Create the trigger' }).click();
        await page.getByRole('heading', { level: 1, name: 'Shop fails' }).waitFor();
        await page.getByRole('button', { name: 'Pause' }).click();
        await page.getByText('The trigger was switched off by a request.').first().waitFor();
        await page.getByRole('button', { name: 'Resume' }).waitFor();
        await page.getByLabel('Traces that match').fill('duration:>2s');
        await page.getByRole('button', { name: 'Save', exact: true }).click();
        await page.getByText('Saved.').waitFor();
        const { body: kept } = await callRest(address, { path: '/api/triggers', headers });
        expect(kept).toMatchObject([
          { active: false, cadence: 'hourly', filters: { 'traces.duration_ms': ['2001', ''] }, action: 'SEND_WEBHOOK' },
        ]);
        await checkPage(page, 'trigger');
        await page.getByRole('link', { name: 'Triggers' }).first().click();
        await page.getByRole('row', { name: /Shop fails paused/ }).waitFor();
        await checkPage(page, 'triggers');
        await page.getByRole('link', { name: 'Shop fails' }).click();
        expect(await page.getByLabel('Traces that match').inputValue()).toBe('duration:2001..');
        await page.getByRole('button', { name: 'Delete the trigger' }).click();
        await page.getByLabel('Type delete to confirm').fill('delete');
        await page.getByRole('button', { name: 'Delete permanently' }).click();
        await page.getByRole('heading', { name: 'No trigger yet' }).waitFor();
      }));

    it('keeps the conditions that its line cannot write, and saves none of which a part is left out', () =>
      stage.visit(async ({ page }) => {
        const { address, projectKey, slug } = await stage.makeProject('Voting shop');
        const headers = { 'x-auth-token': projectKey };
        const filters = {
          'metadata.labels': ['shop'],
          'events.event_type': ['thumbs_up_down'],
          'events.metrics': { vote: ['-1', '-1'] },
        };
        const body = { name: 'Down votes', filters, action: 'SEND_WEBHOOK' };
        const made = await callRest(address, { verb: 'POST', path: '/api/triggers', body, headers });
        await openSignedIn(page, signInLink(address, projectKey, `/${slug}/triggers`));
        await page.getByText('label:shop events.event_type: thumbs_up_down events.metrics.vote: -1, -1').waitFor();
        await page.getByRole('link', { name: 'Down votes' }).click();
        const save = page.getByRole('button', { name: 'Save', exact: true });
        const stored = async () => (await callRest(address, { path: `/api/triggers/${made.body.id}`, headers })).body;
        await page.getByLabel('Name').fill('Votes');
        await save.click();
        await page.getByText('Saved.').waitFor();
        expect(await stored()).toMatchObject({ name: 'Votes', filters });
        await page.getByLabel('Traces that match').fill('label:shop user:');
        await page.getByText('Left out, because a value is missing: user:').waitFor();
        expect(await save.isDisabled()).toBe(true);
        await page.getByLabel('Traces that match').fill('user:ada');
        await page.getByRole('button', { name: 'Remove events.event_type thumbs_up_down' }).click();
        await save.click();
        await page.getByRole('link', { name: 'Triggers' }).first().click();
        await page.getByText('user:ada events.metrics.vote: -1, -1').waitFor();
        const narrowed = { 'metadata.user_id': ['ada'], 'events.metrics': { vote: ['-1', '-1'] } };
        expect((await stored()).filters).toEqual(narrowed);
      }));

    it('begins from a chart with its metric', () =>
      stage.visit(async ({ page }) => {
        const { address, projectKey, slug } = await stage.makeProject('Charted shop');
        const headers = { 'x-auth-token': projectKey };
        await callRest(address, { verb: 'POST', path: '/api/collector', body: llmTrace(Date.now()), headers });
        await openSignedIn(page, signInLink(address, projectKey, `/${slug}/overview`));
        const errors = page.getByRole('region', { name: 'Failed traces' });
        await errors.getByRole('link', { name: 'Alert on this' }).click();
        await page.getByLabel('Name').fill('Errors above 5 %');
        await page.getByLabel('Alert', { exact: true }).fill('5');
        await page.getByRole('button', { name: 'Create the trigger' }).click();
        await page.getByRole('heading', { level: 1, name: 'Errors above 5 %' }).waitFor();
        const { body: kept } = await callRest(address, { path: '/api/triggers', headers });
        expect(kept).toMatchObject([
          {
            kind: 'metric',
            series: { metric: 'errors', aggregation: 'share' },
            thresholds: { alert: 5 },
            windowMinutes: 5,
          },
        ]);
      }));
  });
}
