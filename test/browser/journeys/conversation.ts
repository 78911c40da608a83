import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { isFullTier } from '../../support/scenario.ts';
import { openSignedIn, signInLink, takePicture } from '../browser.ts';
import { checkPage } from '../page-checks.ts';
import { hostileChat } from '../sent-hostile-chat.ts';
import { agentRun, longChat } from '../sent-runs.ts';
import { send } from '../sent-traces.ts';
import type { Stage } from '../stage.ts';

/** The width of a picture once the browser has read it. */
async function widthOf(picture: Locator): Promise<number> {
  return picture.evaluate(async (element: unknown) => {
    const image = element as { decode(): Promise<void>; readonly naturalWidth: number };
    await image.decode();
    return image.naturalWidth;
  });
}

/** What no message may bring into the page: elements and attributes that run or request something, and links elsewhere than the web. */
const DANGERS = `(() => {
  const main = document.querySelector('main');
  for (const each of main.querySelectorAll('details')) each.open = true;
  const dangers = [...main.querySelectorAll('script, iframe, object, embed, article svg, style, link, form[action], base, meta, b, img[alt=vector]')];
  for (const element of main.querySelectorAll('*')) {
    if ([...element.attributes].some(({ name }) => /^on|^srcset$|^formaction$/.test(name))) dangers.push(element);
    const source = element.getAttribute('src');
    if (source !== null && !source.startsWith('blob:')) dangers.push(element);
  }
  for (const link of main.querySelectorAll('a[href]')) {
    if (!['http:', 'https:', 'mailto:'].includes(link.protocol)) dangers.push(link);
    const isForeign = link.origin !== location.origin;
    if (isForeign && (link.target !== '_blank' || link.rel !== 'noopener noreferrer')) dangers.push(link);
    if (!isForeign && link.closest('article')) dangers.push(link);
  }
  return dangers.map((element) => element.outerHTML.slice(0, 200));
})()`;

/** Scrolls the messages by a screen; true at their end. */
const SCROLL_ON = `new Promise((resolve) => {
  let box = document.querySelector('ol[aria-label]');
  while (!/auto|scroll/.test(getComputedStyle(box).overflowY)) box = box.parentElement;
  const before = box.scrollTop;
  box.scrollTop += box.clientHeight / 2;
  setTimeout(() => resolve(box.scrollTop === before), 100);
})`;

/** Scrolls to and fro, three screens a frame; the milliseconds of the longest frame. */
const LONGEST_FRAME = `new Promise((resolve) => {
  let box = document.querySelector('ol[aria-label]');
  while (!/auto|scroll/.test(getComputedStyle(box).overflowY)) box = box.parentElement;
  let [frames, longest, last] = [0, 0, null];
  const step = (at) => {
    if (last !== null) longest = Math.max(longest, at - last);
    last = at;
    frames += 1;
    if (frames > 120) return resolve(longest);
    box.scrollTop += (frames <= 60 ? 3 : -3) * box.clientHeight;
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})`;

export function readRuns(stage: Stage): void {
  describe('a run', () => {
    it('reads like one dialogue: nothing twice, a call with its result, instructions and reasoning folded', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Chattering shop');
        await send(project, agentRun('run', Date.now() - 20_000));
        await openSignedIn(page, signInLink(project.address, project.projectKey, `/${project.slug}/traces/run`));
        await page.getByRole('button', { name: 'Whole trace' }).click();
        const turns = page.getByRole('list', { name: 'Conversation' }).getByRole('article');
        await turns.filter({ hasText: 'instructions' }).waitFor();
        const labels = await turns.evaluateAll((found) => found.map((each) => each.getAttribute('aria-label')));
        expect(labels).toEqual([
          'Message, system',
          'Message, user',
          'Tool call, look_up_order',
          'Message, assistant',
          'Tool call, look_up_order',
          'Message, assistant',
        ]);
        const [first, second] = [turns.nth(2), turns.nth(4)];
        await first.getByText('at the depot').waitFor();
        await second.getByText('the carrier is away').waitFor();
        await second.getByText('failed', { exact: true }).waitFor();
        // The instructions and the reasoning are folded.
        expect(await page.getByText('Be polite and precise.').count()).toBe(0);
        await page.getByRole('button', { name: /instructions/ }).press('Enter');
        await page.getByText('Be polite and precise.').waitFor();
        const answer = turns.nth(5);
        expect(await answer.getByText('The parcel is late').isVisible()).toBe(false);
        await answer.getByText(/^Reasoning/).click();
        await answer.getByText('The parcel is late').waitFor();
        // The answer is Markdown.
        await answer.getByRole('heading', { name: 'Your order' }).waitFor();
        await answer.getByRole('cell', { name: 'depot' }).waitFor();
        await answer.locator('pre span', { hasText: 'def' }).first().waitFor();
        const link = answer.getByRole('link', { name: 'the carrier' });
        expect(await link.getAttribute('rel')).toBe('noopener noreferrer');
        // A picture of a data URL is a blob, one of elsewhere is only a link.
        const picture = turns.nth(1).getByRole('img');
        await picture.waitFor();
        expect(await picture.getAttribute('src')).toMatch(/^blob:/);
        expect(await widthOf(picture)).toBe(1);
        await turns
          .nth(1)
          .getByRole('link', { name: /elsewhere\.test/ })
          .waitFor();
        await takePicture(page, 'conversation');
        await checkPage(page, 'conversation');
        // A turn leads to its span.
        await first.getByRole('button', { name: 'look_up_order' }).click();
        await page.waitForURL(/span=order-1/);
      }));

    it('shows each message rendered, as it was sent, or as JSON, and remembers the choice', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Plain shop');
        await send(project, agentRun('run', Date.now() - 20_000));
        await openSignedIn(
          page,
          signInLink(project.address, project.projectKey, `/${project.slug}/traces/run?span=answer`),
        );
        const answer = page.getByRole('list', { name: 'Input and output' }).getByRole('article').last();
        await answer.getByRole('heading', { name: 'Your order' }).waitFor();
        await answer.getByLabel('Show this message as').selectOption('Raw');
        await answer.getByText('## Your order').waitFor();
        await answer.getByLabel('Show this message as').selectOption('JSON');
        await answer.getByRole('button', { name: /^content:/ }).waitFor();
        await page.getByLabel('Show all messages as').selectOption('Raw');
        await answer.getByText('## Your order').waitFor();
        await page.reload();
        await answer.getByText('## Your order').waitFor();
      }));

    it('of five thousand messages is usable at once, its newest message reached at once, and it scrolls smoothly', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Chatty shop');
        await send(project, longChat('chat', 5_001, Date.now() - 20_000));
        await openSignedIn(
          page,
          signInLink(project.address, project.projectKey, `/${project.slug}/traces/chat?span=chat`),
        );
        const list = page.getByRole('list', { name: 'Input and output' });
        await list.getByText('Question 0', { exact: true }).waitFor();
        expect(await list.getByRole('article').count()).toBeLessThan(60);
        await page.getByRole('button', { name: 'Whole trace' }).click();
        await page.getByRole('list', { name: 'Conversation' }).waitFor();
        const clickedAt = performance.now();
        await page.getByRole('treeitem').click();
        await list.getByText('Question 0', { exact: true }).waitFor();
        expect(performance.now() - clickedAt).toBeLessThan(isFullTier ? 1_000 : 15_000);
        expect(await page.evaluate(LONGEST_FRAME)).toBeLessThan(isFullTier ? 100 : 3_000);
        await page.getByText('5,001 messages').waitFor();
        await page.getByRole('button', { name: 'Newest' }).press('Enter');
        await list.getByText('Question 5000', { exact: true }).waitFor();
        await page.getByRole('button', { name: 'Oldest' }).press('Enter');
        await list.getByText('Question 0', { exact: true }).waitFor();
      }));

    it('that failed opens where it failed, with its stack and a search for similar failures', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Failing shop');
        await send(project, agentRun('run', Date.now() - 20_000));
        await openSignedIn(page, signInLink(project.address, project.projectKey, `/${project.slug}/traces/run`));
        await page.waitForURL(/span=order-2/);
        await page.getByRole('heading', { name: 'look_up_order' }).waitFor();
        await page.getByText('at ask (carrier.ts:40)').waitFor();
        await page.getByRole('button', { name: 'Whole trace' }).click();
        await page.getByRole('button', { name: 'In look_up_order' }).waitFor();
        await page.getByRole('link', { name: 'Similar failures' }).click();
        await page.getByRole('button', { name: 'Remove Failed true' }).waitFor();
        expect(await page.getByLabel('Find traces').inputValue()).toBe('"The carrier did not answer" error:true');
        await page.getByRole('row', { name: /help the customer/ }).waitFor();
      }));

    it('has its cost by kind of token, and its duration beside that of others', () =>
      stage.visit(async ({ page }) => {
        const { address, projectKey } = stage.app;
        const { slug } = stage.shop;
        await openSignedIn(page, signInLink(address, projectKey, `/${slug}/traces/shop-3?span=write-3`));
        await page.getByRole('row', { name: /^Input 1,803 \$\d/ }).waitFor();
        await page.getByRole('row', { name: /^Output 93 \$\d/ }).waitFor();
        await page.getByText('Time to first token').waitFor();
        await page.getByRole('button', { name: 'Whole trace' }).click();
        await page.getByText(/^Slower than \d+ % of the last \d+ traces of this name\.$/).waitFor();
        // The first call of the run gave its first token long before the answer began.
        const wait = (label: string) => page.locator('dt', { hasText: label }).locator('xpath=../dd').innerText();
        expect(await wait('First token of any call')).not.toBe(await wait('First token of the answer'));
      }));

    it('says of a score that counts faults that less is better', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Secret shop');
        const type = 'langwatch/api_keys_and_secrets_detection';
        const evaluations = [
          { name: 'Secrets', type, passed: true, score: 0 },
          { name: 'Grade', score: 0.123456 },
        ];
        await send(project, { ...agentRun('run', Date.now() - 20_000), evaluations });
        await openSignedIn(page, signInLink(project.address, project.projectKey, `/${project.slug}/traces/run`));
        await page.waitForURL(/span=order-2/);
        await page.getByRole('button', { name: 'Whole trace' }).click();
        await page.getByText('0 secrets found, less is better').waitFor();
        await page.getByText('Score 0.1235').waitFor();
      }));

    it('is compared with the one opened before, word by word', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Shop of two runs');
        await send(project, agentRun('first', Date.now() - 40_000));
        const second = JSON.stringify(agentRun('second', Date.now() - 20_000));
        await send(project, JSON.parse(second.replaceAll('Wait until noon', 'Wait until midnight')));
        await openSignedIn(page, signInLink(project.address, project.projectKey, `/${project.slug}/traces/first`));
        await page.getByLabel('Id of another trace').waitFor();
        await page.goto(`${project.address}/${project.slug}/traces/second`);
        await page.getByRole('link', { name: 'With the trace opened before' }).click();
        await page.getByText('1 of 6 messages differ').waitFor();
        await page.getByLabel('Only what differs').check();
        const rows = page.getByRole('list', { name: 'Messages side by side' }).getByRole('listitem');
        await rows.nth(1).waitFor({ state: 'detached' });
        expect(await rows.locator('del').allInnerTexts()).toEqual(['noon']);
        expect(await rows.locator('ins').allInnerTexts()).toEqual(['midnight']);
        await page.getByRole('row', { name: /^Duration .* the same$/ }).waitFor();
        await checkPage(page, 'compare');
        await page.goBack();
        await page.getByLabel('Id of another trace').fill('nothing');
        await page.keyboard.press('Enter');
        await page
          .getByText(/trace was not found|no such trace|not found/i)
          .first()
          .waitFor();
      }));

    it('with hostile Markdown, pictures and pages runs and requests nothing, and deceives nobody', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Hostile chat shop');
        await send(project, hostileChat('chat', Date.now() - 20_000));
        const main = page.locator('main');
        await openSignedIn(page, signInLink(project.address, project.projectKey));
        for (const path of ['chat', 'chat?span=chat']) {
          await page.goto(`${project.address}/${project.slug}/traces/${path}`);
          await main.getByText('safe link').first().waitFor();
          await page.getByRole('button', { name: /instructions/ }).click();
          // Every message is shown at some time.
          for (let step = 0; step < 40; step += 1) {
            expect(await page.evaluate(DANGERS)).toEqual([]);
            if (await page.evaluate(SCROLL_ON)) break;
          }
        }
        expect(await page.locator('main').innerText()).not.toMatch(/[\u202e\u200b]/);
      }));
  });
}
