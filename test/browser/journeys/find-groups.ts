import { describe, expect, it } from 'vitest';
import { callRest } from '../../support/surfaces.ts';
import { openSignedIn, signInLink } from '../browser.ts';
import { choose } from '../choose.ts';
import { checkPage } from '../page-checks.ts';
import { send } from '../sent-traces.ts';
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

const TALK = 'parcel "talk"';

/** A conversation of three traces, each of which repeats what was said before. */
async function sendTalk(project: TestProject, nowMs: number): Promise<void> {
  const said: { role: string; content: string }[] = [{ role: 'system', content: 'You help the customers of a shop.' }];
  const questions = ['Where is my parcel?', 'Thanks', 'Thanks'];
  for (const [index, question] of questions.entries()) {
    const at = nowMs - (questions.length - index) * 60_000;
    said.push({ role: 'user', content: question });
    const answer = { role: 'assistant', content: `Answer number ${index + 1} of the shop.` };
    await send(project, {
      trace_id: `talk-${index}`,
      metadata: { thread_id: TALK, user_id: 'grace' },
      spans: [
        {
          ...{ type: 'llm', span_id: `call-${index}`, name: `turn ${index + 1}`, model: 'gpt-5' },
          input: { type: 'chat_messages', value: said },
          output: { type: 'chat_messages', value: [answer] },
          metrics: { prompt_tokens: 100, completion_tokens: 10 },
          timestamps: { started_at: at, finished_at: at + 900 },
        },
      ],
      evaluations: index === 1 ? [{ name: 'Polite', score: 0.25, passed: false, details: 'It is too short.' }] : [],
    });
    said.push(answer);
  }
}

export function findGroups(stage: Stage): void {
  describe('threads', () => {
    it('beyond five hundred are listed to the last one, sorted, and found by id', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Talking shop');
        await sendThreads(project, Date.now());
        await openSignedIn(page, signInLink(project.address, stage.app.adminKey, `/${project.slug}/threads`));
        const first = (name: string) => page.getByRole('row').nth(1).getByText(name).waitFor();
        await first(`talk-${THREADS - 1}-`);
        await page.getByText('50 shown, there are more').waitFor();
        await page.getByRole('button', { name: 'Show more' }).click();
        await page.getByText('100 shown, there are more').waitFor();
        for (const key of ['j', 'j', 'k']) await page.keyboard.press(key);
        expect(await page.locator(':focus').textContent()).toBe(`talk-${THREADS - 1}-`);
        await choose(page.getByLabel('Direction'), 'Ascending');
        await first('talk-0-');
        await choose(page.getByLabel('Sorted by'), 'Failed turns');
        await first('talk-0-');
        await page.getByRole('heading', { level: 1 }).click();
        await page.keyboard.press('/');
        await page.keyboard.type('talk-7-');
        await page.getByText('1 shown').waitFor();
        await page.reload();
        await page.getByRole('link', { name: 'talk-7-' }).click();
        await page.getByRole('heading', { name: 'Thread talk-7-' }).waitFor();
        // The way back has the search.
        await page.locator('main').getByRole('link', { name: 'Threads', exact: true }).click();
        const field = page.getByLabel('Find a thread by words or id');
        expect(await field.inputValue()).toBe('talk-7-');
        // What is in no range is reached by its id.
        await field.fill('of-last-year');
        await page.getByText('No thread of this range has these words in a turn').waitFor();
        await page.getByRole('link', { name: 'of-last-year' }).click();
        await page.getByText('No trace that is stored names this thread.').waitFor();
      }));

    it('are found by words of a turn, and replayed as one chat with its evaluations', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Chatting shop');
        await sendTalk(project, Date.now());
        await openSignedIn(page, signInLink(project.address, stage.app.adminKey, `/${project.slug}/threads`));
        await page.getByLabel('Find a thread by words or id').fill('answer number 2');
        const row = page.getByRole('row', { name: /Where is my parcel\?/ });
        await row.getByText('Answer number 3 of the shop.').waitFor();
        await row.getByText('1 not passed').waitFor();
        await row.getByText('0.25').waitFor();
        await checkPage(page, 'threads');
        await row.getByRole('link', { name: TALK }).click();
        await page.getByText('3 traces, oldest first').waitFor();
        const replay = page.getByRole('list', { name: 'Replay' });
        // What an application repeats is shown once; what the customer repeats is shown again.
        await replay.getByText('Answer number 3 of the shop.').waitFor();
        for (const [text, count] of [
          ['Where is my parcel?', 1],
          ['Answer number 1 of the shop.', 1],
          ['Thanks', 2],
        ] as const) {
          expect(await replay.getByText(text, { exact: true }).count(), text).toBe(count);
        }
        const evaluations = page.getByRole('complementary', { name: 'Evaluations of turn 2' });
        await evaluations.getByText('It is too short.').waitFor();
        await checkPage(page, 'thread-replay');
        await replay.getByRole('button', { name: 'turn 3' }).first().click();
        await page.getByRole('heading', { name: 'turn 3' }).first().waitFor();
        await page.goBack();
        await page.goto(`${project.address}/${project.slug}/users`);
        await page.getByRole('link', { name: 'grace' }).click();
        await page.getByRole('link', { name: TALK }).waitFor();
      }));
  });
}
