import { describe, expect, it } from 'vitest';
import { callRest } from '../../support/surfaces.ts';
import { findBarriers } from '../axe.ts';
import { openSignedIn, signInLink } from '../browser.ts';
import { choose } from '../choose.ts';
import { checkPage, openFromMenu } from '../page-checks.ts';
import { sendShop } from '../sent-traces.ts';
import type { Stage } from '../stage.ts';

export function experiment(stage: Stage): void {
  describe('a dataset', () => {
    it('takes any span of a trace, mapped to its columns, after a preview', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Mapping shop');
        const { address, projectKey, slug } = project;
        await sendShop(project, Date.now(), 4);
        const dataset = { name: 'Answers', entries: [{ input: 'hi', expected_output: 'hello', docs: [] }] };
        const headers = { 'x-auth-token': projectKey };
        await callRest(address, { verb: 'POST', path: '/api/dataset', body: dataset, headers });
        await openSignedIn(page, signInLink(address, projectKey, `/${slug}/traces/shop-1?span=find-1`));
        await page.getByRole('button', { name: 'Add to dataset…' }).click();
        const dialog = page.getByRole('dialog', { name: 'Add a span to a dataset' });
        // The columns of the dataset; one whose name says nothing is empty until it is mapped.
        await choose(dialog.getByLabel('Source of column 1'), 'Input of the trace');
        await choose(dialog.getByLabel('Source of column 3'), 'Contexts');
        const preview = dialog.getByRole('region', { name: 'Preview' });
        await preview.getByRole('cell', { name: 'Can I return shoes that I wore once?' }).waitFor();
        await preview.getByRole('cell', { name: /Shoes can be returned within thirty days/ }).waitFor();
        await dialog.getByRole('button', { name: 'Add a column' }).click();
        await dialog.getByText('Each column needs a name.').waitFor();
        await dialog.getByLabel('Column 4', { exact: true }).fill('span');
        await choose(dialog.getByLabel('Source of column 4'), 'Id of the span');
        await preview.getByRole('cell', { name: 'find-1' }).waitFor();
        // In a window of another size the zones change, and close the dialog.
        for (const scheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme: scheme });
          expect(await findBarriers(page, scheme)).toEqual([]);
        }
        await dialog.getByRole('button', { name: 'Add the entry' }).click();
        await dialog.getByText('1 entry was added to Answers, which has 2 now.').waitFor();
        await dialog.getByRole('link', { name: 'Open the dataset' }).click();
        await page.getByRole('cell', { name: 'find-1' }).waitFor();
        await page.getByRole('cell', { name: 'Can I return shoes that I wore once?' }).waitFor();
      }));

    it('takes a file larger than one request, is read page by page and by version, and is deleted', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Testing shop');
        await sendShop(project, Date.now(), 60);
        await openFromMenu(page, signInLink(project.address, project.projectKey), 'Datasets');
        await page.getByRole('heading', { name: 'No dataset yet' }).waitFor();
        await page.getByRole('button', { name: 'New dataset' }).click();
        await page.getByLabel('Name').fill('Parcels');
        const rows = Array.from(
          { length: 120 },
          (_, index) => `"<b>${index}</b>\nwhere is it?","${'x'.repeat(9_000)}"`,
        );
        const buffer = Buffer.from(['input,expected_output', ...rows].join('\n'));
        await page.getByLabel('File').setInputFiles({ name: 'cases.csv', mimeType: 'text/csv', buffer });
        await page.getByText('The file was read.').waitFor();
        const adding = '**/spandrel.v1.DatasetService/AddDatasetEntries';
        const json = { code: 'resource_exhausted', message: 'Too many requests at once.' };
        await page.route(adding, (each) => each.fulfill({ status: 429, json }));
        await page.getByRole('button', { name: 'Create the dataset' }).click();
        await page.getByText('1 of 2 parts are there, and stay.').waitFor();
        await page.getByRole('button', { name: 'Open what is there' }).waitFor();
        await page.unroute(adding);
        await page.getByRole('button', { name: 'Add the rest' }).click();
        await page.getByText('120 entries').waitFor();
        await page.getByRole('button', { name: 'Next' }).click();
        await page.getByRole('button', { name: 'Next' }).click();
        await page.getByText('Page 3 of 3').waitFor();
        await page.getByRole('cell', { name: '<b>119</b> where is it?' }).waitFor();
        await checkPage(page, 'dataset');
        await page.getByRole('button', { name: 'Add entries' }).click();
        await page
          .getByRole('textbox', { name: 'Entries' })
          .fill('{"input": {"deep": [1]}, "expected_output": "hello"}');
        await page.getByRole('button', { name: 'Add them' }).click();
        await page.getByRole('cell', { name: '{"deep":[1]}' }).waitFor();
        await page.getByRole('button', { name: 'Add from traces' }).click();
        await page.getByLabel('Find traces').fill('user:user-3');
        await page.keyboard.press('Enter');
        await page.getByText('7 traces match.').waitFor();
        await page.getByLabel('At most').fill('5');
        await page.getByRole('button', { name: 'Add them as entries' }).click();
        await page.getByText('5 entries were added; 2 more matched and were left out.').waitFor();
        await checkPage(page, 'dataset-traces');
        await page.getByRole('button', { name: 'Entries', exact: true }).click();
        await choose(page.getByLabel('Version'), '1');
        await page.getByText('Page 1 of 2').waitFor();
        await page.getByRole('button', { name: 'Delete' }).click();
        await page.getByLabel('Type delete to confirm').fill('delete');
        await page.getByRole('button', { name: 'Delete permanently' }).click();
        await page.getByRole('heading', { name: 'No dataset yet' }).waitFor();
      }));
  });

  describe('an experiment', () => {
    it('has runs, and one is compared with another down to the entries that differ', () =>
      stage.visit(async ({ page }) => {
        const { address, projectKey } = await stage.makeProject('Trying shop');
        const headers = { 'x-auth-token': projectKey };
        const post = (path: string, body: object) => callRest(address, { verb: 'POST', path, body, headers });
        await openFromMenu(page, signInLink(address, projectKey), 'Experiments');
        await page.getByRole('heading', { name: 'No experiment yet' }).waitFor();
        const { body: experiment } = await post('/api/experiment/init', { experiment_name: 'Answers' });
        for (const [run_id, passed] of [
          ['first', false],
          ['second', true],
        ] as const)
          await post('/api/evaluations/batch/log_results', {
            experiment_slug: experiment.slug,
            run_id,
            name: `${run_id} prompt`,
            dataset: Array.from({ length: 60 }, (_, index) => ({
              index,
              entry: { input: `<b>question ${index}</b>`, notes: 'Be brief.\nName a day.' },
              predicted: { output: `answer ${index} of the ${run_id}` },
              trace_id: 'shop-3',
              cost: 0.01,
              duration: passed ? 100 : 300,
            })),
            evaluations: Array.from({ length: 60 }, (_, index) => ({
              index,
              evaluator: 'exact_match',
              score: passed || index !== 57 ? 1 : 0,
              passed: passed || index !== 57,
            })),
            timestamps: { created_at: Date.now(), finished_at: Date.now() },
          });
        await page.reload();
        await page.getByRole('link', { name: 'Answers' }).click();
        await page.getByRole('link', { name: 'with the previous run' }).waitFor();
        await checkPage(page, 'experiment');
        await page.getByRole('link', { name: 'with the previous run' }).click();
        await page.getByRole('heading', { level: 1, name: 'second prompt (second)' }).waitFor();
        await page.getByRole('row', { name: 'exact_match, passed 98.3% 100.0% +1.7 pp' }).waitFor();
        const color = await page.evaluate(
          "getComputedStyle([...document.querySelectorAll('td span')].find((cell) => cell.textContent === '+1.7 pp')).color",
        );
        expect(color).toBe('rgb(26, 112, 68)');
        await page
          .getByRole('row', {
            name: /input <b>question 3<\/b> notes Be brief. Name a day. answer 3 of the first .* answer 3 of the first ?second/,
          })
          .waitFor();
        await checkPage(page, 'experiment-run');
        await page.getByRole('button', { name: 'Show more' }).click();
        await page.getByLabel('Only differences').check();
        await page.getByRole('row', { name: /question 57/ }).waitFor();
        expect(await page.getByRole('row', { name: /question/ }).count()).toBe(1);
        await page.reload();
        await page.getByText('None of these results differ.').waitFor();
        await page.getByRole('button', { name: 'Delete run' }).click();
        await page.getByLabel('Type delete to confirm').fill('delete');
        await page.getByRole('button', { name: 'Delete permanently' }).click();
        await page.getByRole('link', { name: 'first prompt' }).waitFor();
        expect(await page.getByRole('link', { name: 'second prompt' }).count()).toBe(0);
        await checkPage(page, 'experiment');
        await post('/api/evaluations/batch/log_results', {
          experiment_slug: experiment.slug,
          run_id: 'longer',
          dataset: [0, 60].map((index) => ({ index, entry: `question ${index}`, predicted: `longer answer ${index}` })),
        });
        await page.reload();
        await page.getByRole('link', { name: 'with the previous run' }).click();
        await page.getByText('Results in both runs: 1; only in this run: 1; only in the baseline: 59.').waitFor();
        await page.getByRole('row', { name: /question 1.* answer 1 of the first .*no result/ }).waitFor();
        await page.getByRole('button', { name: 'Show more' }).click();
        await page.getByRole('row', { name: /question 60 no result longer answer 60/ }).waitFor();
        await checkPage(page, 'experiment-only-in-one');
      }));

    it('compares any of its runs with a baseline, the worst entries first', () =>
      stage.visit(async ({ page }) => {
        const { address, projectKey, slug } = await stage.makeProject('Comparing shop');
        const headers = { 'x-auth-token': projectKey };
        const post = (path: string, body: object) => callRest(address, { verb: 'POST', path, body, headers });
        const { body: experiment } = await post('/api/experiment/init', { experiment_name: 'Prompts' });
        // Of each run the entries that fail, and the score of the others.
        for (const [run_id, failing, score, cost] of [
          ['one', [], 0.75, 0.02],
          ['two', [70], 0.75, 0.01],
          ['three', [2, 70], 1, 0.03],
        ] as const)
          await post('/api/evaluations/batch/log_results', {
            experiment_slug: experiment.slug,
            run_id,
            name: run_id,
            dataset: Array.from({ length: 75 }, (_, index) => ({
              ...{ index, entry: { input: `question ${index}` }, predicted: { output: `the ${run_id} answer` } },
              ...{ cost, duration: 1_000 * cost },
            })),
            evaluations: Array.from({ length: 75 }, (_, index) => ({
              index,
              evaluator: 'similarity',
              score: failing.some((each) => each === index) ? 0.25 : score,
            })),
          });
        const run = `/${slug}/experiments/${experiment.slug}/runs/three`;
        await openSignedIn(page, signInLink(address, projectKey, `${run}?against=one`));
        await page.getByRole('row', { name: 'Cost $1.50 $2.25 +$0.7500' }).waitFor();
        await choose(page.getByLabel('Compare one more run'), 'two');
        await page.getByRole('row', { name: /^similarity, mean score 0.75 0.98 \+23.0 pp 0.7433 −0.7 pp$/ }).waitFor();
        await choose(page.getByLabel('Sorted by'), 'Regression');
        const first = page.getByRole('table').nth(1).getByRole('row').nth(1);
        await first.getByText('question 2', { exact: true }).waitFor();
        await first.getByText('−50.0 pp').waitFor();
        expect(await first.locator('del').allTextContents()).toEqual(['one', 'one']);
        expect(await first.locator('ins').allTextContents()).toEqual(['three', 'two']);
        await first.getByText('cost +$0.0100', { exact: true }).waitFor();
        await first.getByText('duration −10 ms').waitFor();
        await checkPage(page, 'experiment-runs');
        await page.reload();
        await page.getByLabel('Mark words').uncheck();
        await first.getByText('the three answer').waitFor();
        await page.getByRole('button', { name: 'Remove Run two' }).click();
        await page.getByRole('row', { name: /^similarity, mean score 0.75 0.98 \+23.0 pp$/ }).waitFor();
        await choose(page.getByLabel('Baseline'), 'two');
        await page.getByRole('row', { name: 'Cost $0.7500 $2.25 +$1.50' }).waitFor();
        expect(new URL(page.url()).searchParams.get('sort')).toBe('regression');
      }));

    it('shows the entries of its dataset beside results that do not repeat them', () =>
      stage.visit(async ({ page }) => {
        const { address, projectKey } = await stage.makeProject('Dataset shop');
        const headers = { 'x-auth-token': projectKey };
        const post = (path: string, body: object) => callRest(address, { verb: 'POST', path, body, headers });
        const { body: dataset } = await post('/api/dataset', {
          name: 'Parcels',
          entries: [{ input: 'where is it?' }, { input: 'when does it come?' }],
        });
        const { body: experiment } = await post('/api/experiment/init', { experiment_name: 'Parcel answers' });
        for (const run_id of ['first', 'second']) {
          await post(`/api/experiments/${experiment.slug}/runs`, { run_id, dataset: dataset.id });
          await post('/api/evaluations/batch/log_results', {
            experiment_slug: experiment.slug,
            run_id,
            dataset: [0, 1].map((index) => ({ index, predicted: `${run_id} answer ${index}` })),
          });
        }
        await openFromMenu(page, signInLink(address, projectKey), 'Experiments');
        await page.getByRole('link', { name: 'Parcel answers' }).click();
        await page.getByRole('link', { name: 'with the previous run' }).click();
        await page.getByRole('row', { name: /1 when does it come\? first answer 1 first ?second answer 1/ }).waitFor();
        await choose(page.getByLabel('Baseline'), 'None');
        await page.getByRole('row', { name: /0 where is it\? second answer 0/ }).waitFor();
        await callRest(address, { verb: 'DELETE', path: `/api/dataset/${dataset.id}`, headers });
        await page.reload();
        await page.getByRole('row', { name: /0 – second answer 0/ }).waitFor();
      }));
  });
}
