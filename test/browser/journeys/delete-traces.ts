import { describe, expect, it } from 'vitest';
import { callRest } from '../../support/surfaces.ts';
import { openSignedIn, signInLink } from '../browser.ts';
import { checkPage } from '../page-checks.ts';
import { send, shopTrace } from '../sent-traces.ts';
import type { Stage, TestProject } from '../stage.ts';

const TRACES = 12;

/** The first nine users have one trace each, the first three a second one. */
async function sendTraces(project: TestProject): Promise<void> {
  for (let index = 0; index < TRACES; index += 1) await send(project, shopTrace(index, Date.now() - 60_000));
}

async function countTraces({ address, projectKey }: TestProject): Promise<number> {
  const headers = { 'x-auth-token': projectKey };
  const { body } = await callRest(address, { verb: 'POST', path: '/api/traces/search', body: {}, headers });
  return body.pagination.totalHits;
}

export function deleteTraces(stage: Stage): void {
  describe('deleting many traces', () => {
    it('takes what the list finds, after their number and a word, and shows the progress to the end', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Full shop');
        await sendTraces(project);
        const { address, slug } = project;
        await openSignedIn(page, signInLink(address, stage.app.adminKey, `/${slug}/traces`));
        await page.getByText(`${TRACES} of ${TRACES} shown`).waitFor();
        const open = page.getByRole('button', { name: 'Delete these traces…' });
        // Nothing says yet which ones.
        expect(await open.count()).toBe(0);
        await page.getByLabel('Find traces').fill('user:');
        await page.keyboard.press('Enter');
        await page.getByText('Left out, because a value is missing').waitFor();
        expect(await open.count()).toBe(0);
        await page.getByLabel('Find traces').fill('cost:cheap');
        await page.keyboard.press('Enter');
        await page.getByText('Left out, because cost:cheap is not a range').waitFor();
        expect(await open.count()).toBe(0);
        await page.getByLabel('Find traces').fill('model:gpt-5');
        await page.keyboard.press('Enter');
        await page.getByText('3 of 3 shown').waitFor();
        await open.click();
        const dialog = page.getByRole('dialog', { name: 'Delete these traces' });
        await dialog.getByText('3 traces go, with spans and evaluations.').waitFor();
        await dialog.getByText('that match model:gpt-5').waitFor();
        expect(await dialog.getByRole('button', { name: 'Delete permanently' }).isDisabled()).toBe(true);
        await checkPage(page, 'delete-traces');
        expect(await countTraces(project)).toBe(TRACES);
        await dialog.getByLabel('Type delete to confirm').fill('delete');
        await dialog.getByRole('button', { name: 'Delete permanently' }).click();
        await dialog.getByText('Done: 3 traces deleted.').waitFor();
        expect(await dialog.getByRole('button', { name: 'Cancel the deletion' }).count()).toBe(0);
        await dialog.getByRole('button', { name: 'Close' }).click();
        await page.getByText('No trace matches.').waitFor();
        expect(await countTraces(project)).toBe(TRACES - 3);
      }));

    it('says that negated filters leave the words as they are, and negates nothing without a filter', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Negated shop');
        await sendTraces(project);
        const { address, slug } = project;
        const line = encodeURIComponent('parcel model:gpt-5');
        await openSignedIn(page, signInLink(address, stage.app.adminKey, `/${slug}/traces?q=${line}&not=true`));
        const open = page.getByRole('button', { name: 'Delete these traces…' });
        const dialog = page.getByRole('dialog', { name: 'Delete these traces' });
        await open.click();
        await dialog.getByText('that contain parcel and do not match model:gpt-5.').waitFor();
        await page.keyboard.press('Escape');
        await page.getByRole('button', { name: 'Remove Model gpt-5' }).click();
        await page.waitForURL((url) => !url.searchParams.has('not'));
        await open.click();
        await dialog.getByText(/that contain parcel\.$/).waitFor();
        await page.keyboard.press('Escape');
      }));

    it('takes all of a user, from the page of the user', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Left shop');
        await sendTraces(project);
        const { address, slug } = project;
        await openSignedIn(page, signInLink(address, stage.app.adminKey, `/${slug}/users/user-1`));
        await page.getByRole('button', { name: 'Delete all traces of this user…' }).click();
        const dialog = page.getByRole('dialog', { name: 'Delete all traces of this user' });
        await dialog.getByText('2 traces go, with spans and evaluations.').waitFor();
        await dialog.getByLabel('Type delete to confirm').fill('delete');
        await dialog.getByRole('button', { name: 'Delete permanently' }).click();
        await dialog.getByText('Done: 2 traces deleted.').waitFor();
        await checkPage(page, 'deleted-traces');
        await dialog.getByRole('button', { name: 'Close' }).click();
        expect(await countTraces(project)).toBe(TRACES - 2);
      }));

    it('can be cancelled while it goes on', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Kept shop');
        await sendTraces(project);
        const { address, slug } = project;
        await openSignedIn(page, signInLink(address, stage.app.adminKey, `/${slug}/users/user-2`));
        // A deletion of two traces ends soon, so the page learns of it only once it is cancelled.
        const asked = Promise.withResolvers<void>();
        await page.route(/\/GetTraceDeletion$/, (call) => asked.promise.then(() => call.continue()));
        await page.getByRole('button', { name: 'Delete all traces of this user…' }).click();
        const dialog = page.getByRole('dialog', { name: 'Delete all traces of this user' });
        await dialog.getByLabel('Type delete to confirm').fill('delete');
        await dialog.getByRole('button', { name: 'Delete permanently' }).click();
        const cancelled = page.waitForResponse(/\/CancelTraceDeletion$/);
        await dialog.getByRole('button', { name: 'Cancel the deletion' }).click();
        expect((await cancelled).status()).toBe(200);
        asked.resolve();
        await dialog.getByText(/^(Cancelled|Done): [012] traces deleted\.$/).waitFor();
        expect(await dialog.getByRole('button', { name: 'Cancel the deletion' }).count()).toBe(0);
      }));
  });
}
