/** Ten tasks of somebody who looks for something, with bounds of clicks and seconds. */

import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { callRest } from '../../support/surfaces.ts';
import { findBarriers } from '../axe.ts';
import { openSignedIn, signInLink } from '../browser.ts';
import { refundRun } from '../sent-incidents.ts';
import { send, shopTrace } from '../sent-traces.ts';
import type { Stage, TestProject } from '../stage.ts';
import { doTasks, type Hand, type Task } from '../tasks.ts';

const HOUR_MS = 3_600_000;
const FAILURE = 'The carrier did not answer in time';
const ENTRIES = 4;

const row = (page: Page, name: RegExp) => page.getByRole('row', { name }).getByRole('link').first();
const openPage = (hand: Hand, name: string) =>
  hand.click(hand.page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }));

/** Types a search into the line of the list. */
async function ask(hand: Hand, line: string): Promise<void> {
  await hand.press('/');
  await hand.type(line);
  await hand.press('Enter');
}

const TASKS: readonly Task[] = [
  {
    name: 'slower than 10 s and dearer than 5 cents',
    acts: 3,
    async solve(hand) {
      await ask(hand, 'duration:>10s cost:>0.05');
      await hand.page.getByText('1 of 1 shown').waitFor();
      return row(hand.page, /research the order/);
    },
  },
  {
    name: 'what failed for one user',
    acts: 3,
    async solve(hand) {
      const { page } = hand;
      await hand.click(page.getByRole('button', { name: 'Facets' }));
      const facets = page.getByRole('complementary', { name: 'Facets' });
      const value = (facet: string, name: string) =>
        facets.getByRole('region', { name: facet }).getByRole('button', { name, exact: true });
      await hand.click(value('Failed', 'true 2'));
      await page.getByText('2 of 2 shown').waitFor();
      await hand.click(value('User', 'user-5 1'));
      await page.getByText('1 of 1 shown').waitFor();
      return row(page, /answer the customer/);
    },
  },
  {
    name: 'where a word was said',
    acts: 3,
    async solve(hand) {
      await ask(hand, 'landlord');
      await hand.page.getByText('5 of 5 shown').waitFor();
      return row(hand.page, /answer the customer/);
    },
  },
  {
    name: 'keep a search as a view',
    acts: 4,
    async solve(hand) {
      const { page } = hand;
      await hand.click(page.getByRole('button', { name: 'Views', exact: true }));
      await hand.click(page.getByRole('button', { name: 'Save view…' }));
      await page.getByLabel('Name', { exact: true }).and(page.locator(':focus')).waitFor();
      await hand.type('All of yesterday');
      await hand.press('Enter');
      return page.getByRole('button', { name: 'All of yesterday', exact: true });
    },
  },
  {
    name: 'open a view that was kept',
    acts: 2,
    async solve(hand) {
      const { page } = hand;
      await hand.click(page.getByRole('button', { name: 'Views', exact: true }));
      await hand.click(page.getByRole('dialog').getByRole('button', { name: 'Dear answers' }));
      await page.getByRole('button', { name: 'Remove Model gpt-5' }).waitFor();
      return row(page, /research the order/);
    },
  },
  {
    name: 'the traces of a part of a chart',
    acts: 1,
    async solve(hand) {
      const { page } = hand;
      const chart = page.getByRole('application', { name: 'Count by status over time' });
      await hand.drag(chart.locator('.u-over'), 0.6, 0.8);
      await page.waitForURL(/range=custom/);
      await page.getByText(/^(\d+) of \1 shown/).waitFor();
      return row(page, /answer the customer/);
    },
  },
  {
    name: 'the traces of a point of the cost',
    // One of them brings the chart into view.
    acts: 3,
    async solve(hand) {
      const { page } = hand;
      await openPage(hand, 'Overview');
      const chart = page.getByRole('img', { name: /^Cost over time/ });
      await chart.locator('.u-over').waitFor();
      await hand.clickAt(chart, { x: 300, y: 60 });
      await page.getByRole('heading', { level: 1, name: 'Traces' }).waitFor();
      await page.waitForURL(/sort=cost/);
      return row(page, /answer the customer/);
    },
  },
  {
    name: 'what is new since yesterday: errors, dearest user',
    acts: 1,
    async solve(hand) {
      const { page } = hand;
      await openPage(hand, 'Overview');
      const changes = page.getByRole('region', { name: 'What changed' });
      await changes.getByRole('link', { name: `${FAILURE} (2)` }).waitFor();
      return changes.getByRole('link', { name: /^user-6: / });
    },
  },
  {
    name: 'the conversation that began with a question',
    acts: 4,
    async solve(hand) {
      const { page } = hand;
      await openPage(hand, 'Threads');
      await page.getByRole('heading', { level: 1, name: 'Threads' }).waitFor();
      await hand.press('/');
      await hand.type('money back');
      // At once: the search that begins a moment later leads nobody back.
      await hand.click(row(page, /I want my money back/));
      return page.getByRole('list', { name: 'Replay' }).getByText('The 42 euros are on their way to you.').first();
    },
  },
  {
    name: 'the run that lost points, and where',
    acts: 3,
    async solve(hand) {
      const { page } = hand;
      await openPage(hand, 'Experiments');
      await hand.click(page.locator('#content').getByRole('link', { name: 'Prompts' }));
      await hand.click(
        page.getByRole('row', { name: /^shorter/ }).getByRole('link', { name: 'with the previous run' }),
      );
      await page.getByRole('row', { name: /^similarity, mean score 0.75 0.65 −10.0 pp$/ }).waitFor();
      return page.getByText('question 2', { exact: true });
    },
  },
];

/** Two days of a shop: in the last one two traces fail, for the first time, and one is slow and dear. */
async function sendTwoDays(project: TestProject, nowMs: number): Promise<void> {
  for (let index = 40; index < 46; index += 1)
    await send(project, shopTrace(index, nowMs - (25 + index - 40) * HOUR_MS));
  for (let index = 0; index < 30; index += 1)
    await send(project, shopTrace(index, nowMs - (index % 20) * HOUR_MS - 60_000, index === 24));
  for (const index of [0, 1]) await send(project, refundRun(`refund-${index}`, nowMs - 90_000 + 10_000 * index));
}

async function compareRuns(project: TestProject): Promise<void> {
  const post = (path: string, body: object) =>
    callRest(project.address, { verb: 'POST', path, body, headers: { 'x-auth-token': project.projectKey } });
  const { body: experiment } = await post('/api/experiment/init', { experiment_name: 'Prompts' });
  for (const run_id of ['longer', 'shorter']) {
    const answer = await post('/api/evaluations/batch/log_results', {
      ...{ experiment_slug: experiment.slug, run_id, name: run_id },
      dataset: Array.from({ length: ENTRIES }, (_, index) => ({
        ...{ index, entry: { input: `question ${index}` }, predicted: { output: `the ${run_id} answer` } },
      })),
      evaluations: Array.from({ length: ENTRIES }, (_, index) => ({
        ...{ index, evaluator: 'similarity', score: run_id === 'shorter' && index === 2 ? 0.35 : 0.75 },
      })),
    });
    expect(answer.status, answer.text).toBe(200);
  }
}

export function doFindTasks(stage: Stage): void {
  describe('somebody who looks for something', () => {
    it('does ten tasks in a bounded number of clicks and seconds, on pages without barriers', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Searched shop');
        const { address, projectKey, slug } = project;
        await sendTwoDays(project, Date.now());
        await compareRuns(project);
        const view = { name: 'Dear answers', search: 'q=model%3Agpt-5&sort=cost', visibility: 'PROJECT' };
        const headers = { 'x-auth-token': projectKey };
        const saved = await callRest(address, { verb: 'POST', path: '/api/saved-views', body: view, headers });
        expect(saved.status, saved.text).toBe(201);
        await openSignedIn(page, signInLink(address, stage.app.adminKey, `/${slug}/traces`));
        const barriers: string[] = [];
        await doTasks('Ten tasks of finding', TASKS, {
          page,
          async begin() {
            await page.goto(`${address}/${slug}/traces?range=24h`);
            await row(page, /answer the customer/).waitFor();
          },
          async end({ name }) {
            for (const found of await findBarriers(page, 'light')) barriers.push(`${name}: ${found}`);
          },
        });
        expect(barriers).toEqual([]);
      }));
  });
}
