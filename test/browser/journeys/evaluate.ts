import { describe, expect, it } from 'vitest';
import { callRest } from '../../support/surfaces.ts';
import { until } from '../../support/temp.ts';
import { openSignedIn, signInLink } from '../browser.ts';
import { choose } from '../choose.ts';
import { checkPage, openFromMenu } from '../page-checks.ts';
import { sendShop } from '../sent-traces.ts';
import type { Stage } from '../stage.ts';

export function evaluate(stage: Stage): void {
  describe('an evaluator', () => {
    it('is chosen from the catalogue, run on a text and on traces, changed and deleted', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Judged shop');
        await sendShop(project, Date.now(), 60);
        await openFromMenu(page, signInLink(project.address, project.projectKey), 'Evaluators');
        await page.getByRole('heading', { name: 'No evaluator yet' }).waitFor();
        await page.getByRole('link', { name: 'New evaluator' }).click();
        await page.getByRole('link', { name: /Competitor Blocklist/ }).waitFor();
        await checkPage(page, 'evaluator-catalogue');
        await page.getByRole('link', { name: /Competitor Blocklist/ }).click();
        await page.getByLabel('Name').fill('No carriers');
        await page.getByLabel('Competitors').fill('Acme Parcels\ndepot\n');
        await checkPage(page, 'evaluator-new');
        await page.getByRole('button', { name: 'Save the evaluator' }).click();
        await page.getByRole('heading', { level: 1, name: 'No carriers' }).waitFor();

        await page.getByLabel('output').fill('Ask Acme Parcels <b>now</b>.');
        await page.getByRole('button', { name: 'Run it' }).click();
        await page.getByText('failed', { exact: true }).waitFor();
        await checkPage(page, 'evaluator-text');

        await page.getByRole('button', { name: 'Run on traces' }).click();
        await page.getByText('60 traces match.').waitFor();
        await page.getByLabel('Find traces').fill('user:user-3');
        await page.keyboard.press('Enter');
        await page.getByText('7 traces match.').waitFor();
        await page.getByRole('button', { name: 'Run on these traces' }).click();
        await page.getByRole('cell', { name: '7 of 7' }).waitFor();
        await page.getByRole('cell', { name: 'completed' }).waitFor();
        await checkPage(page, 'evaluator-traces');
        await page.reload();
        await page.getByRole('button', { name: 'Remove User user-3' }).waitFor();
        await page.getByRole('cell', { name: '7 of 7' }).waitFor();

        await page.getByRole('button', { name: 'Scores' }).focus();
        await page.keyboard.press('Enter');
        await page.getByRole('link', { name: 'Evaluations 7 0 skipped, 0 errors' }).waitFor();
        await page.getByRole('img', { name: /^Mean score over time/ }).waitFor();
        await choose(page.getByLabel('Metric'), 'Evaluations');
        await page.getByRole('img', { name: /^Evaluations over time/ }).waitFor();
        await page.reload();
        await page.getByRole('img', { name: /^Evaluations over time/ }).waitFor();
        await checkPage(page, 'evaluator-scores');

        await page.getByRole('button', { name: 'Settings' }).click();
        expect(await page.getByLabel('Competitors').inputValue()).toBe('Acme Parcels\ndepot');
        await page.getByLabel('Name').fill('No competitors');
        await page.getByRole('button', { name: 'Save', exact: true }).click();
        await page.getByText('Saved.').waitFor();
        await page.getByRole('heading', { level: 1, name: 'No competitors' }).waitFor();
        await checkPage(page, 'evaluator-settings');
        await page.getByRole('button', { name: 'Delete the evaluator' }).click();
        await page.getByLabel('Type delete to confirm').fill('delete');
        await page.getByRole('button', { name: 'Delete permanently' }).click();
        await page.getByRole('heading', { name: 'No evaluator yet' }).waitFor();
      }));
  });

  describe('a monitor', () => {
    it('is created with conditions and a mapping, disabled, changed and deleted', () =>
      stage.visit(async ({ page }) => {
        const { address, projectKey } = await stage.makeProject('Watched shop');
        const headers = { 'x-auth-token': projectKey };
        const body = { name: 'Polite', config: { evaluatorType: 'langevals/exact_match', settings: {} } };
        await callRest(address, { verb: 'POST', path: '/api/evaluators', body, headers });
        await openFromMenu(page, signInLink(address, projectKey), 'Monitors');
        await page.getByRole('heading', { name: 'No monitor yet' }).waitFor();
        await page.getByRole('link', { name: 'New monitor' }).click();
        await page.getByLabel('Name').fill('Shop is polite');
        await choose(page.getByLabel('Evaluator', { exact: true }), 'Polite');
        await page.getByLabel('Sample of traces').fill('12.5');
        await page.getByRole('button', { name: 'Add a condition' }).click();
        await page.getByLabel('Value of condition 1').fill('shop');
        await page.getByRole('button', { name: 'Add a condition' }).click();
        await choose(page.getByLabel('Subject of condition 2'), 'metadata');
        await page.getByLabel('Key of condition 2').fill('tier');
        await choose(page.getByLabel('Kind of condition 2'), 'is the number');
        await page.getByLabel('Value of condition 2').fill('2');
        await page.getByLabel(/^output/).fill('span.llm.output');
        await checkPage(page, 'monitor-new');
        await page.getByRole('button', { name: 'Create the monitor' }).click();
        await page
          .getByRole('row', { name: /Shop is polite on .* 12.5% label is "shop", metadata.tier is 2/ })
          .waitFor();
        await page.getByRole('button', { name: 'Disable Shop is polite' }).click();
        await page.getByRole('cell', { name: 'off', exact: true }).waitFor();
        await checkPage(page, 'monitors');
        await page.getByRole('link', { name: 'Shop is polite' }).click();
        await page.getByRole('heading', { level: 1, name: 'Shop is polite' }).waitFor();
        await page.getByRole('heading', { name: 'No evaluation in this range' }).waitFor();
        await page.getByRole('button', { name: 'Settings' }).click();
        expect(await page.getByLabel(/^output/).inputValue()).toBe('span.llm.output');
        await page.getByRole('button', { name: 'Remove condition 1' }).click();
        await page.getByRole('button', { name: 'Save', exact: true }).click();
        await page.getByText('Saved.').waitFor();
        const { body: kept } = await callRest(address, { path: '/api/monitors', headers });
        expect(kept).toMatchObject([
          {
            enabled: false,
            sample: 0.125,
            preconditions: [{ field: 'metadata.tier', rule: 'is', value: 2 }],
            mappings: { output: 'span.llm.output' },
          },
        ]);
        await checkPage(page, 'monitor');
        await page.getByRole('button', { name: 'Delete the monitor' }).click();
        await page.getByLabel('Type delete to confirm').fill('delete');
        await page.getByRole('button', { name: 'Delete permanently' }).click();
        await page.getByRole('heading', { name: 'No monitor yet' }).waitFor();
      }));

    it('shows the scores of the traces it ran on, and links to them by keyboard', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Scored shop');
        const { address, projectKey, slug } = project;
        const headers = { 'x-auth-token': projectKey };
        const post = async (path: string, body: object) =>
          (await callRest(address, { verb: 'POST', path, body, headers })).body;
        const config = { evaluatorType: 'ragas/rouge_score', settings: {} };
        const evaluator = await post('/api/evaluators', { name: 'Repeats the question', config });
        const mappings = { expected_output: 'input' };
        const monitor = await post('/api/monitors', { name: 'Repetitions', evaluatorId: evaluator.id, mappings });
        await sendShop(project, Date.now(), 6);
        const path = `/api/analytics/evaluations?from=0&to=${Date.now()}&interval=total&monitor_id=${monitor.id}`;
        await until(async () => (await callRest(address, { path, headers })).body.buckets[0]?.scored === 6);
        await openSignedIn(page, signInLink(address, projectKey, `/${slug}/monitors?range=24h`));
        await page.getByRole('region', { name: 'Backlog' }).getByText('Waiting longest since').waitFor();
        await page.getByRole('row', { name: /Repetitions on .* any trace 6 0 – 0\.\d+ Disable/ }).waitFor();
        await checkPage(page, 'monitors-scored');
        await page.getByRole('link', { name: 'Repetitions' }).click();
        await page.waitForURL(new RegExp(`${monitor.id}\\?range=24h`));
        await page.getByRole('link', { name: 'Evaluations 6 0 skipped, 0 errors' }).waitFor();
        await page.getByRole('img', { name: /^Mean score over time/ }).waitFor();
        await checkPage(page, 'monitor-scores');
        await choose(page.getByLabel('Metric'), 'Score, p95');
        await page.getByRole('img', { name: /^Score, p95 over time/ }).waitFor();
        await choose(page.getByLabel('Range'), 'Last hour');
        await page.waitForURL(/range=1h/);
        await page.getByRole('link', { name: /^Mean score/ }).focus();
        await page.keyboard.press('Enter');
        await page.getByRole('button', { name: `Remove Scored by ${evaluator.id}` }).waitFor();
        await page.getByText('6 of 6 shown').waitFor();
        await page
          .getByRole('row', { name: /customer/ })
          .first()
          .getByRole('link')
          .click();
        // The newest trace failed, and opened at its failed span.
        await page.getByRole('button', { name: 'Whole trace' }).click();
        await page.getByText('Evaluator input').click();
        await page.getByText('expected_output:').waitFor();
        await page.getByRole('link', { name: 'Repetitions' }).click();
        await page.getByRole('heading', { level: 1, name: 'Repetitions' }).waitFor();
      }));
  });
}
