import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { followLink, signInLink, takePicture } from '../browser.ts';
import { checkPage } from '../page-checks.ts';
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

export function readRuns(stage: Stage): void {
  describe('a run', () => {
    it('reads like one dialogue: nothing twice, a call with its result, instructions and reasoning folded', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Talking shop');
        await send(project, agentRun('run', Date.now() - 20_000));
        await followLink(page, signInLink(project.address, project.projectKey, `/${project.slug}/traces/run`));
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
        await followLink(
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
        await followLink(
          page,
          signInLink(project.address, project.projectKey, `/${project.slug}/traces/chat?span=chat`),
        );
        const list = page.getByRole('list', { name: 'Input and output' });
        await list.getByText('Question 0', { exact: true }).waitFor();
        expect(await list.getByRole('article').count()).toBeLessThan(60);
        await page.getByText('5,001 messages').waitFor();
        await page.getByRole('button', { name: 'Newest' }).press('Enter');
        await list.getByText('Question 5000', { exact: true }).waitFor();
        await page.getByRole('button', { name: 'Oldest' }).press('Enter');
        await list.getByText('Question 0', { exact: true }).waitFor();
      }));
  });
}
