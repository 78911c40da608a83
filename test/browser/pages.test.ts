/** The evaluation, analytics and settings pages of the console in a real browser: their use and their accessibility. */

import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { callRest } from '../support/surfaces.ts';
import { findBarriers } from './axe.ts';
import { launchBrowser, openPage, signInLink, type TestPage, takePicture } from './browser.ts';
import { sendShop } from './sent-traces.ts';

const PHONE = { width: 390, height: 844 };
const DESK = { width: 1280, height: 800 };

let browser: Browser;
let app: TestApp;
let tab: TestPage;

beforeAll(async () => {
  [browser, app] = await Promise.all([launchBrowser(), startApp()]);
  await sendShop(app, Date.now(), 60);
});
afterAll(async () => {
  await browser?.close();
  await app?.close();
});

beforeEach(async () => {
  tab = await openPage(browser, app.address);
});
afterEach(async () => {
  const { complaints, strangers } = tab;
  await tab.close();
  expect(complaints).toEqual([]);
  expect(strangers).toEqual([]);
});

/** Expects no serious accessibility finding in light and dark mode, and no page wider than a phone. */
async function look(page: Page, name: string): Promise<void> {
  const barriers: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    barriers.push(...(await findBarriers(page, colorScheme)));
  }
  await takePicture(page, name);
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(PHONE);
  await takePicture(page, `${name}-phone`);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(PHONE.width);
  await page.setViewportSize(DESK);
  expect(barriers).toEqual([]);
}

async function open(key: string, link: string): Promise<Page> {
  const { page } = tab;
  await page.goto(signInLink(app.address, key));
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: link, exact: true }).click();
  await page.getByRole('heading', { level: 1, name: link }).waitFor();
  // The server serves the address of the page, too.
  await page.reload();
  await page.getByRole('heading', { level: 1, name: link }).waitFor();
  return page;
}

describe('an evaluator', () => {
  it('is chosen from the catalogue, tried on a text, run on traces, set anew and deleted', async () => {
    const page = await open(app.projectKey, 'Evaluators');
    await page.getByRole('heading', { name: 'No evaluator yet' }).waitFor();
    await page.getByRole('link', { name: 'New evaluator' }).click();
    await page.getByRole('link', { name: /Competitor Blocklist/ }).waitFor();
    await look(page, 'evaluator-catalogue');
    await page.getByRole('link', { name: /Competitor Blocklist/ }).click();
    await page.getByLabel('Name').fill('No carriers');
    await page.getByLabel('Competitors').fill('Acme Parcels\ndepot\n');
    await look(page, 'evaluator-new');
    await page.getByRole('button', { name: 'Save the evaluator' }).click();
    await page.getByRole('heading', { level: 1, name: 'No carriers' }).waitFor();

    await page.getByLabel('output').fill('Ask Acme Parcels <b>now</b>.');
    await page.getByRole('button', { name: 'Run it' }).click();
    await page.getByText('failed', { exact: true }).waitFor();
    await look(page, 'evaluator-text');

    await page.getByRole('button', { name: 'Run on traces' }).click();
    await page.getByText('60 traces fit.').waitFor();
    await page.getByLabel('Find traces').fill('user:user-3');
    await page.keyboard.press('Enter');
    await page.getByText('7 traces fit.').waitFor();
    await page.getByRole('button', { name: 'Run it on these' }).click();
    await page.getByRole('cell', { name: '7 of 7' }).waitFor();
    await page.getByRole('cell', { name: 'completed' }).waitFor();
    await look(page, 'evaluator-traces');
    await page.reload();
    await page.getByRole('button', { name: 'Remove User user-3' }).waitFor();
    await page.getByRole('cell', { name: '7 of 7' }).waitFor();

    await page.getByRole('button', { name: 'Settings' }).click();
    expect(await page.getByLabel('Competitors').inputValue()).toBe('Acme Parcels\ndepot');
    await page.getByLabel('Name').fill('No competitors');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved.').waitFor();
    await page.getByRole('heading', { level: 1, name: 'No competitors' }).waitFor();
    await look(page, 'evaluator-settings');
    await page.getByRole('button', { name: 'Delete the evaluator' }).click();
    await page.getByLabel('Type delete to go on').fill('delete');
    await page.getByRole('button', { name: 'Delete for good' }).click();
    await page.getByRole('heading', { name: 'No evaluator yet' }).waitFor();
  });
});

describe('a monitor', () => {
  it('is made with conditions and a mapping, switched off, changed and deleted', async () => {
    const headers = { 'x-auth-token': app.projectKey };
    const body = { name: 'Polite', config: { evaluatorType: 'langevals/exact_match', settings: {} } };
    await callRest(app.address, { verb: 'POST', path: '/api/evaluators', body, headers });
    const page = await open(app.projectKey, 'Monitors');
    await page.getByRole('heading', { name: 'No monitor yet' }).waitFor();
    await page.getByRole('link', { name: 'New monitor' }).click();
    await page.getByLabel('Name').fill('Shop is polite');
    await page.getByLabel('Evaluator', { exact: true }).selectOption('Polite');
    await page.getByLabel('Share of traces').fill('12.5');
    await page.getByRole('button', { name: 'Add a condition' }).click();
    await page.getByLabel('Value of condition 1').fill('shop');
    await page.getByRole('button', { name: 'Add a condition' }).click();
    await page.getByLabel('Subject of condition 2').selectOption('metadata');
    await page.getByLabel('Key of condition 2').fill('tier');
    await page.getByLabel('Kind of condition 2').selectOption('number');
    await page.getByLabel('Value of condition 2').fill('2');
    await page.getByLabel(/^output/).fill('span.llm.output');
    await look(page, 'monitor-new');
    await page.getByRole('button', { name: 'Make the monitor' }).click();
    await page.getByRole('row', { name: /Shop is polite on .* 12.5 % label is "shop", metadata.tier is 2/ }).waitFor();
    await page.getByRole('button', { name: 'Switch off Shop is polite' }).click();
    await page.getByRole('cell', { name: 'off', exact: true }).waitFor();
    await look(page, 'monitors');
    await page.getByRole('link', { name: 'Shop is polite' }).click();
    await page.getByRole('heading', { level: 1, name: 'Shop is polite' }).waitFor();
    expect(await page.getByLabel(/^output/).inputValue()).toBe('span.llm.output');
    await page.getByRole('button', { name: 'Remove condition 1' }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved.').waitFor();
    const { body: kept } = await callRest(app.address, { path: '/api/monitors', headers });
    expect(kept).toMatchObject([
      {
        enabled: false,
        sample: 0.125,
        preconditions: [{ field: 'metadata.tier', rule: 'is', value: 2 }],
        mappings: { output: 'span.llm.output' },
      },
    ]);
    await look(page, 'monitor');
    await page.getByRole('button', { name: 'Delete the monitor' }).click();
    await page.getByLabel('Type delete to go on').fill('delete');
    await page.getByRole('button', { name: 'Delete for good' }).click();
    await page.getByRole('heading', { name: 'No monitor yet' }).waitFor();
  });
});

describe('a dataset', () => {
  it('takes a file of more than one request, is read page by page and by version, and is deleted', async () => {
    const page = await open(app.projectKey, 'Datasets');
    await page.getByRole('heading', { name: 'No dataset yet' }).waitFor();
    await page.getByRole('button', { name: 'New dataset' }).click();
    await page.getByLabel('Name').fill('Parcels');
    const rows = Array.from({ length: 120 }, (_, index) => `"<b>${index}</b>\nwhere is it?","${'x'.repeat(9_000)}"`);
    const buffer = Buffer.from(['input,expected_output', ...rows].join('\n'));
    await page.getByLabel('File').setInputFiles({ name: 'cases.csv', mimeType: 'text/csv', buffer });
    await page.getByText('The file is read.').waitFor();
    await page.getByRole('button', { name: 'Make the dataset' }).click();
    await page.getByText('120 entries').waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('Page 3 of 3').waitFor();
    await page.getByRole('cell', { name: '<b>119</b> where is it?' }).waitFor();
    await look(page, 'dataset');
    await page.getByRole('button', { name: 'Add entries' }).click();
    await page.getByRole('textbox', { name: 'Entries' }).fill('{"input": {"deep": [1]}, "expected_output": "hello"}');
    await page.getByRole('button', { name: 'Add them' }).click();
    await page.getByRole('cell', { name: '{"deep":[1]}' }).waitFor();
    await page.getByRole('button', { name: 'Add from traces' }).click();
    await page.getByLabel('Find traces').fill('user:user-3');
    await page.keyboard.press('Enter');
    await page.getByText('7 traces fit.').waitFor();
    await page.getByLabel('At most').fill('5');
    await page.getByRole('button', { name: 'Add them as entries' }).click();
    await page.getByText('5 entries were added; 2 more fit and were left out.').waitFor();
    await look(page, 'dataset-traces');
    await page.getByRole('button', { name: 'Entries', exact: true }).click();
    await page.getByLabel('Version').selectOption('1');
    await page.getByText('Page 1 of 2').waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByLabel('Type delete to go on').fill('delete');
    await page.getByRole('button', { name: 'Delete for good' }).click();
    await page.getByRole('heading', { name: 'No dataset yet' }).waitFor();
  });
});

describe('an experiment', () => {
  it('has runs, of which one is read beside another down to what went otherwise', async () => {
    const headers = { 'x-auth-token': app.projectKey };
    const asked = (path: string, body: object) => callRest(app.address, { verb: 'POST', path, body, headers });
    const page = await open(app.projectKey, 'Experiments');
    await page.getByRole('heading', { name: 'No experiment yet' }).waitFor();
    const { body: experiment } = await asked('/api/experiment/init', { experiment_name: 'Answers' });
    for (const [run_id, passed] of [
      ['first', false],
      ['second', true],
    ] as const)
      await asked('/api/evaluations/batch/log_results', {
        experiment_slug: experiment.slug,
        run_id,
        name: `${run_id} prompt`,
        dataset: Array.from({ length: 60 }, (_, index) => ({
          index,
          entry: { input: `<b>question ${index}</b>` },
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
    await page.getByRole('link', { name: 'with the one before' }).click();
    await page.getByRole('heading', { level: 1, name: 'second prompt' }).waitFor();
    await page.getByRole('row', { name: 'exact_match, passed 100.0 % 98.3 % +1.7 %' }).waitFor();
    await page
      .getByRole('row', { name: /<b>question 3<\/b> answer 3 of the second .* answer 3 of the first/ })
      .waitFor();
    await look(page, 'experiment-run');
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByLabel('Only what went otherwise').check();
    await page.getByRole('row', { name: /question 57/ }).waitFor();
    expect(await page.getByRole('row', { name: /question/ }).count()).toBe(1);
    await page.reload();
    await page.getByText('Of these entries none went otherwise.').waitFor();
    await page.getByRole('button', { name: 'Delete the run' }).click();
    await page.getByLabel('Type delete to go on').fill('delete');
    await page.getByRole('button', { name: 'Delete for good' }).click();
    await page.getByRole('link', { name: 'first prompt' }).waitFor();
    expect(await page.getByRole('link', { name: 'second prompt' }).count()).toBe(0);
    await look(page, 'experiment');
  });
});

describe('users', () => {
  it('are listed by what they cost, and one leads to threads and traces', async () => {
    const page = await open(app.projectKey, 'Users');
    await page.getByRole('link', { name: 'user-3', exact: true }).waitFor();
    await look(page, 'users');
    await page.getByRole('link', { name: 'user-3', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'user-3' }).waitFor();
    await page.getByRole('img', { name: /Cost over time/ }).waitFor();
    await page.getByRole('link', { name: 'thread-3', exact: true }).waitFor();
    await page.getByRole('link', { name: 'all 7 of them' }).waitFor();
    await look(page, 'user');
    await page.getByRole('link', { name: 'all 7 of them' }).click();
    await page.getByRole('button', { name: 'Remove User user-3' }).waitFor();
  });
});

describe('prices', () => {
  it('are looked up, and one of the organization comes before the list until it is deleted', async () => {
    const page = await open(app.adminKey, 'Prices');
    await page.getByRole('heading', { name: 'No price of your own yet' }).waitFor();
    await page.getByLabel('The price of').fill('openai/gpt-5');
    await page.keyboard.press('Enter');
    await page.getByText('price list', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'New price' }).click();
    await page.getByLabel('Model').fill('gpt-5');
    await page.getByLabel('A million tokens in').fill('0.1');
    await page.getByLabel('A million tokens out').fill('0.7');
    await page.getByRole('button', { name: 'Set the price' }).click();
    await page.getByText('own price', { exact: true }).waitFor();
    await page.getByRole('row', { name: /gpt-5 \$0.1 \$0.7/ }).waitFor();
    await look(page, 'prices');
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('button', { name: 'Delete it' }).click();
    await page.getByText('price list', { exact: true }).waitFor();
  });
});

describe('teams and settings', () => {
  it('a member is given a role at a new team, and it is taken back', async () => {
    const headers = { 'x-auth-token': app.adminKey };
    const body = { email: 'grace@example.test', name: 'Grace', role: 'EXTERNAL' };
    await callRest(app.address, { verb: 'POST', path: '/api/organization/members', body, headers });
    const page = await open(app.adminKey, 'Teams and roles');
    await page.getByRole('button', { name: 'New team' }).click();
    await page.getByLabel('Name').fill('Support');
    await page.getByRole('button', { name: 'Make the team' }).click();
    await page.getByRole('cell', { name: 'Support', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Roles' }).click();
    await page.getByRole('button', { name: 'New grant' }).click();
    await page.getByLabel('Member').selectOption({ label: 'Grace <grace@example.test>' });
    await page.getByLabel('Where').selectOption({ label: 'team Support' });
    await page.getByLabel('Role', { exact: true }).selectOption('Chosen permissions');
    await page.getByRole('checkbox', { name: 'traces:view' }).check();
    await page.getByRole('button', { name: 'Grant it' }).click();
    const grant = page.getByRole('row', { name: /grace@example.test Chosen permissions traces:view team Support/ });
    await grant.waitFor();
    await look(page, 'roles');
    await grant.getByRole('button', { name: 'Take back' }).click();
    await page.getByRole('button', { name: 'Take it back' }).click();
    await grant.waitFor({ state: 'detached' });
  });

  it('traces are kept for less time only after it was confirmed, and names change', async () => {
    const page = await open(app.adminKey, 'Settings');
    await page.getByLabel('Days that traces are kept').fill('30');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByLabel('Type delete to go on').fill('delete');
    await page.getByRole('button', { name: 'Delete what is older' }).click();
    await page.getByText('Saved.').waitFor();
    const headers = { 'x-auth-token': app.projectKey };
    const { body: settings } = await callRest(app.address, { path: '/api/project/settings', headers });
    expect(settings).toMatchObject({ traceRetentionDays: 30 });
    await page.getByLabel('Days that traces are kept').fill('');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByLabel('Language').fill('TypeScript');
    await page.getByRole('button', { name: 'Save the project' }).click();
    await page.getByText('Saved.').nth(1).waitFor();
    await look(page, 'project-settings');
    await page.getByRole('link', { name: 'Organization', exact: true }).click();
    await page.getByLabel('Name').fill('Acme');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved.').waitFor();
    await look(page, 'organization');
  });
});
