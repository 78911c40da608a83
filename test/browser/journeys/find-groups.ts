import { describe, expect, it } from 'vitest';
import { callRest } from '../../support/surfaces.ts';
import { followLink, signInLink } from '../browser.ts';
import { choose } from '../choose.ts';
import { checkPage } from '../page-checks.ts';
import type { Stage, TestProject } from '../stage.ts';

const THREADS = 520;

/** One trace per thread; the last thread is the newest. */
async function sendThreads({ address, projectKey }: TestProject, nowMs: number): Promise<void> {
  const spans = Array.from({ length: THREADS }, (_, index) => ({
    traceId: `e${index.toString(16).padStart(31, '0')}`,
    spanId: `e${index.toString(16).padStart(15, '0')}`,
    name: `turn ${index}`,
    kind: 1,
    startTimeUnixNano: `${nowMs - (THREADS - index) * 1_000}000000`,
    endTimeUnixNano: `${nowMs - (THREADS - index) * 1_000 + 400 + index}000000`,
    attributes: [{ key: 'langwatch.thread.id', value: { stringValue: `talk-${index}-` } }],
  }));
  const body = { resourceSpans: [{ resource: { attributes: [] }, scopeSpans: [{ scope: { name: 'shop' }, spans }] }] };
  const headers = { 'x-auth-token': projectKey };
  const answer = await callRest(address, { verb: 'POST', path: '/api/otel/v1/traces', body, headers });
  expect(answer.status, answer.text).toBe(200);
}

export function findGroups(stage: Stage): void {
  describe('threads', () => {
    it('beyond five hundred are listed, found by id, and sorted by their last activity', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Talking shop');
        await sendThreads(project, Date.now());
        await followLink(page, signInLink(project.address, stage.app.adminKey, `/${project.slug}/threads`));
        await page.getByText(`100 of ${THREADS} shown`).waitFor();
        await page.getByRole('button', { name: 'Show more' }).click();
        await page.getByText(`200 of ${THREADS} shown`).waitFor();
        await choose(page.getByLabel('Sorted by'), 'Duration, p95');
        await page
          .getByRole('row')
          .nth(1)
          .getByText(`talk-${THREADS - 1}-`)
          .waitFor();
        await choose(page.getByLabel('Sorted by'), 'Last activity');
        await page
          .getByRole('row')
          .nth(1)
          .getByText(`talk-${THREADS - 1}-`)
          .waitFor();
        await page.getByText('older threads are not read yet').waitFor();
        await page.getByRole('button', { name: 'Show more' }).click();
        await page.getByText('400 shown').waitFor();
        await page.getByRole('button', { name: 'Show more' }).click();
        await page.getByText(`${THREADS} shown`).waitFor();
        expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0);
        await page.keyboard.press('/');
        await page.keyboard.type('talk-7-');
        await page.getByText('1 shown').waitFor();
        await checkPage(page, 'threads');
        await page.reload();
        await page.getByRole('link', { name: 'talk-7-' }).click();
        await page.getByRole('heading', { name: 'Thread talk-7-' }).waitFor();
        // The way back has the search.
        await page.locator('main').getByRole('link', { name: 'Threads', exact: true }).click();
        await page.getByText('No thread among those read so far has such an id.').waitFor();
        expect(await page.getByLabel('Find a thread by id').inputValue()).toBe('talk-7-');
        // What is in no range is reached by its id.
        await page.getByLabel('Find a thread by id').fill('of-last-year');
        await page.getByRole('link', { name: 'of-last-year' }).waitFor();
      }));
  });
}
