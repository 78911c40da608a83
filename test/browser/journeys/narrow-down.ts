import { describe, expect, it } from 'vitest';
import { DESK, openSignedIn, signInLink } from '../browser.ts';
import { checkPage } from '../page-checks.ts';
import { send, shopTrace } from '../sent-traces.ts';
import type { Stage } from '../stage.ts';

const JUDGED = 20;

export function narrowDown(stage: Stage): void {
  describe('a search', () => {
    it('is narrowed down by facets, which count the values of its traces', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Counted shop');
        const now = Date.now();
        for (let index = 0; index < JUDGED; index += 1) await send(project, shopTrace(index, now - index * 1_000));
        await openSignedIn(page, signInLink(project.address, project.projectKey, `/${project.slug}/traces`));
        await page.getByText(`${JUDGED} of ${JUDGED} shown`).waitFor();
        await page.getByRole('button', { name: 'Facets' }).click();
        const facets = page.getByRole('complementary', { name: 'Facets' });
        const values = (name: string) => facets.getByRole('region', { name }).getByRole('button');
        await values('Label')
          .filter({ hasText: `shop ${JUDGED}` })
          .waitFor();
        // A long value is cut, so that its count is in sight.
        expect(await facets.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
        await checkPage(page, 'facets');
        // The browser remembers that they are shown.
        await page.reload();
        await values('User').filter({ hasText: 'user-1 3' }).click();
        await page.getByRole('button', { name: 'Remove User user-1' }).waitFor();
        await page.getByText('3 of 3 shown').waitFor();
        await values('Label').filter({ hasText: 'shop 3' }).waitFor();
        // The other users are alternatives.
        await values('User').filter({ hasText: 'user-0 3' }).click();
        await page.getByText('6 of 6 shown').waitFor();
        expect(new URL(page.url()).searchParams.get('q')).toBe('user:user-1 user:user-0');
        const pressed = facets.getByRole('button', { pressed: true });
        expect((await pressed.allTextContents()).toSorted()).toEqual(['user-0 3', 'user-1 3']);
        await pressed.filter({ hasText: 'user-0' }).click();
        await pressed.filter({ hasText: 'user-1' }).click();
        await page.getByText(`${JUDGED} of ${JUDGED} shown`).waitFor();
        await values('Passed')
          .filter({ hasText: `false ${JUDGED / 4}` })
          .click();
        await page.getByText('5 of 5 shown').waitFor();
        await page.setViewportSize({ width: 1_000, height: 800 });
        await facets.waitFor({ state: 'detached' });
        await page.getByRole('button', { name: 'Facets' }).click();
        await facets.waitFor();
        await page.setViewportSize(DESK);
        await page.getByRole('button', { name: 'Facets' }).click();
        await facets.waitFor({ state: 'detached' });
      }));

    it('suggests values while one types, and has ranges of numbers', () =>
      stage.visit(async ({ page }) => {
        const { address, projectKey } = stage.app;
        await openSignedIn(page, signInLink(address, projectKey));
        const line = page.getByLabel('Find traces');
        await line.pressSequentially('model:gpt');
        const list = page.getByRole('listbox', { name: 'Values of model' });
        await list.getByRole('option', { name: /^gpt-5-mini / }).waitFor();
        await checkPage(page, 'suggestions');
        await page.keyboard.press('Escape');
        await list.waitFor({ state: 'detached' });
        await page.keyboard.type('-5');
        await list.getByRole('option', { name: /^gpt-5 / }).waitFor();
        const wanted = list.getByRole('option', { name: /^gpt-5-mini / });
        while ((await wanted.getAttribute('aria-selected')) !== 'true') await page.keyboard.press('ArrowDown');
        await page.keyboard.press('Enter');
        expect(await line.inputValue()).toBe('model:gpt-5-mini ');
        await page.keyboard.type('duration:>10s cost:cheap');
        await page.keyboard.press('Enter');
        await page.getByRole('button', { name: 'Remove Model gpt-5-mini' }).waitFor();
        await page.getByRole('button', { name: 'Remove Duration > 10 s' }).waitFor();
        await page.getByText('Left out, because cost:cheap is not a range.').waitFor();
        await page.getByText(/^1 of 1 shown/).waitFor();
        await page
          .getByRole('row', { name: /research the order/ })
          .first()
          .waitFor();
        await line.pressSequentially(' user:');
        await page.getByRole('option').first().click();
        expect(await line.inputValue()).toMatch(/^model:gpt-5-mini duration:>10s cost:cheap user:user-\d $/);
      }));
  });
}
