import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { type MockProvider, startMockProvider } from '../../support/mock-provider.ts';
import { callRest } from '../../support/surfaces.ts';
import { signInLink } from '../browser.ts';
import { choose } from '../choose.ts';
import { post } from '../gateway-calls.ts';
import { checkPage, openFromMenu } from '../page-checks.ts';
import type { Stage, TestProject } from '../stage.ts';

export function managePrompts(stage: Stage): void {
  describe('a prompt', () => {
    it('is written, tried, saved in versions that are compared and tagged, and evaluated on a dataset', () =>
      stage.visit(async ({ page }) => {
        const mock = await startMockProvider();
        try {
          const project = await stage.makeProject('Prompting shop');
          const keyId = await openGateway(stage, project, mock);
          await openFromMenu(
            page,
            signInLink(project.address, stage.app.adminKey, `/${project.slug}/prompts`),
            'Prompts',
          );
          await createPrompt(page);
          await tryPrompt(page, mock);
          await saveVersion(page, project);
          await compareVersions(page);
          await evaluatePrompt(page, mock, (action) =>
            post(stage.app, `/api/gateway/v1/virtual-keys/${keyId}/${action}`, stage.app.adminKey, {}),
          );
          await deletePrompt(page);
        } finally {
          await mock.close();
        }
      }));
  });
}

const MODEL = 'gpt-4o-mini';

async function openGateway(
  stage: Stage,
  { id, address, projectKey }: TestProject,
  mock: MockProvider,
): Promise<string> {
  const { adminKey } = stage.app;
  const provider = { name: 'prompt models', kind: 'openai_compatible', base_url: mock.url, project_ids: [id] };
  await post(stage.app, '/api/gateway/v1/model-providers', adminKey, { ...provider, models: [MODEL] });
  const key = { name: 'playground', trace_project_id: id };
  const { virtual_key: made } = await post(stage.app, '/api/gateway/v1/virtual-keys', adminKey, key);
  const evaluator = { name: 'Says it exactly', config: { evaluatorType: 'langevals/exact_match', settings: {} } };
  await post({ address }, '/api/evaluators', projectKey, evaluator);
  const entries = ['Ada', 'Grace', 'Linus'].map((name) => ({ customer: name, expected_output: 'Hello' }));
  await post({ address }, '/api/dataset', projectKey, { name: 'Customers', entries });
  return made.id;
}

async function createPrompt(page: Page): Promise<void> {
  await page.getByRole('heading', { name: 'No prompt yet' }).waitFor();
  await page.getByText('npx langwatch prompt sync').waitFor();
  await page.getByRole('link', { name: 'New prompt' }).click();
  await page.getByLabel('Handle').fill('Support/Greeting');
  await page.getByLabel('Model').fill(MODEL);
  await page.getByLabel('System message').fill('You greet {{customer}}.');
  await page.getByRole('button', { name: 'Create the prompt' }).click();
  await page.locator('[aria-invalid]:focus').waitFor();
  await page.getByLabel('Handle').fill('support/greeting');
  await checkPage(page, 'prompt-new');
  await page.getByRole('button', { name: 'Create the prompt' }).click();
  await page.getByRole('heading', { level: 1, name: 'support/greeting' }).waitFor();
}

/** Unsaved text is tried, and stays over a visit of another page and a reload. */
async function tryPrompt(page: Page, mock: MockProvider): Promise<void> {
  await page.getByLabel('System message').fill('You greet {{customer}} in {{language}}.');
  await page.getByLabel('customer', { exact: true }).fill('Ada');
  await page.getByLabel('language', { exact: true }).fill('French');
  await page.getByLabel('input', { exact: true }).fill('Hi!');
  await page.getByLabel('Temperature').fill('warm');
  await page.getByText('The temperature is not a number.').first().waitFor();
  await page.getByLabel('Temperature').fill('0.5');
  await page.getByRole('button', { name: 'Try it' }).click();
  const answer = page.getByRole('link', { name: 'Open the trace' });
  await answer.waitFor();
  expect(JSON.parse(String(mock.requests.at(-1)?.body))).toMatchObject({
    model: MODEL,
    temperature: 0.5,
    messages: [
      { role: 'system', content: 'You greet Ada in French.' },
      { role: 'user', content: 'Hi!' },
    ],
  });
  await checkPage(page, 'prompt-tried');
  await answer.click();
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.getByText('prompt-try').first().waitFor();
  await page.goBack();
  await page.reload();
  expect(await page.getByLabel('System message').inputValue()).toBe('You greet {{customer}} in {{language}}.');
  await page.getByText('This tab keeps your text').waitFor();
}

/** What somebody else has saved meanwhile is said, and nothing of it is lost. */
async function saveVersion(page: Page, { address, projectKey }: TestProject): Promise<void> {
  await callRest(address, {
    verb: 'PUT',
    path: '/api/prompts/support%2Fgreeting',
    headers: { 'x-auth-token': projectKey },
    body: { prompt: 'You greet {{customer}} warmly.', commitMessage: 'Warmer' },
  });
  await page.getByLabel('What changes').fill('In their language');
  await page.getByRole('button', { name: 'Save as version 2' }).click();
  await page.getByText('Version 2 was saved meanwhile; your text began from version 1.').waitFor();
  await page.getByRole('button', { name: 'What they changed' }).click();
  await page.locator('ins', { hasText: 'warmly' }).waitFor();
  await page.getByRole('button', { name: 'Editor' }).click();
  await page.getByRole('button', { name: 'Keep mine' }).click();
  await page.getByLabel('What changes').fill('In their language');
  await page.getByRole('button', { name: 'Save as version 3' }).click();
  await page.getByText('Saved as version 3.').waitFor();
}

async function compareVersions(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Versions' }).click();
  await page.getByRole('cell', { name: 'In their language' }).waitFor();
  await choose(page.getByLabel('From'), 'Version 1');
  await page.locator('ins', { hasText: 'language' }).first().waitFor();
  await page
    .getByRole('row', { name: /Initial version/ })
    .getByRole('button', { name: 'Tag' })
    .click();
  await choose(page.getByLabel('Tag', { exact: true }), 'production (protected)');
  await page.getByRole('button', { name: 'Let it name version 1' }).click();
  await page
    .getByRole('row', { name: /Initial version/ })
    .getByText('production')
    .waitFor();
  await page
    .getByRole('row', { name: /Warmer/ })
    .getByRole('button', { name: 'Restore' })
    .click();
  await page.getByRole('dialog').getByRole('button', { name: 'Restore it' }).click();
  await page.getByRole('cell', { name: 'Restore from version 2' }).waitFor();
  await checkPage(page, 'prompt-versions');
  await page.getByRole('button', { name: 'Use it' }).click();
  await choose(page.getByLabel('Version'), 'Tagged production');
  await page.getByText("langwatch.prompts.get('support/greeting:production')").waitFor();
  await checkPage(page, 'prompt-use');
}

type Switch = (action: 'disable' | 'enable') => Promise<unknown>;

/** A run that every further entry would fail stops, and goes on in another page. */
async function evaluatePrompt(page: Page, mock: MockProvider, turnKey: Switch): Promise<void> {
  await page.getByRole('button', { name: 'Evaluate' }).click();
  await page.getByRole('cell', { name: 'Ada' }).waitFor();
  await choose(page.getByLabel('Column for input'), 'expected_output');
  await page.getByLabel('Says it exactly').check();
  await checkPage(page, 'prompt-evaluate');
  const before = mock.requests.length;
  await turnKey('disable');
  await page.getByRole('button', { name: 'Evaluate on 3 entries' }).click();
  await page.getByText('The virtual key is disabled.').waitFor();
  await page.getByText(/0 of 3 entries, .*Stopped/).waitFor();
  await turnKey('enable');
  await page.reload();
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.getByText(/3 of 3 entries, .*Done\./).waitFor();
  expect(mock.requests.length - before).toBe(3);
  await checkPage(page, 'prompt-evaluated');
  await page.getByRole('link', { name: 'Results' }).click();
  await page.getByRole('heading', { level: 1, name: 'support/greeting version 4' }).waitFor();
  await page.getByText('Says it exactly').first().waitFor();
  await page.goBack();
}

async function deletePrompt(page: Page): Promise<void> {
  await page.getByRole('main').getByRole('link', { name: 'Prompts' }).click();
  const row = page.getByRole('row', { name: /support\/greeting/ });
  await row.getByText('latest').waitFor();
  await checkPage(page, 'prompts');
  await row.getByRole('link').click();
  await page.getByRole('button', { name: 'Delete the prompt' }).click();
  await page.getByLabel('Type delete to confirm').fill('delete');
  await page.getByRole('button', { name: 'Delete permanently' }).click();
  await page.getByRole('heading', { name: 'No prompt yet' }).waitFor();
}
