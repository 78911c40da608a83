import { describe, expect, it } from 'vitest';
import { callRest } from '../../support/surfaces.ts';
import { openSignedIn, signInLink } from '../browser.ts';
import { choose } from '../choose.ts';
import { checkPage } from '../page-checks.ts';
import { send, shopTrace } from '../sent-traces.ts';
import type { Stage } from '../stage.ts';

export function annotate(stage: Stage): void {
  describe('what people say about traces', () => {
    it('is shown on a trace, given by keys, and goes into a dataset', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Rated shop');
        const { address, slug } = project;
        await send(project, shopTrace(1, Date.now() - 60_000));
        const headers = { 'x-auth-token': project.projectKey };
        const post = (path: string, body: object) => callRest(address, { verb: 'POST', path, body, headers });
        const vote = { trace_id: 'shop-1', event_type: 'thumbs_up_down', metrics: { vote: -1 } };
        await post('/api/track_event', { ...vote, event_details: { feedback: 'Too slow for me.' } });
        await post('/api/annotation-scores', { name: 'Helpfulness', dataType: 'NUMERIC', min: 1, max: 5 });
        const dataset = (await post('/api/dataset', { name: 'Wanted answers' })).body;
        await openSignedIn(page, signInLink(address, stage.app.adminKey, `/${slug}/traces/shop-1`));
        const facts = page.getByRole('region', { name: 'Facts' });
        await facts.getByText('Too slow for me.').waitFor();
        await facts.getByText('Thumbs down').waitFor();
        await page.keyboard.press('a');
        await page.keyboard.type('The customer is right.');
        await choose(facts.getByLabel('Vote'), 'Thumbs up');
        await facts.getByLabel('Helpfulness').fill('4');
        await facts.getByLabel('Expected output').fill('It arrives today.');
        await page.keyboard.press('Control+Enter');
        await facts.getByLabel('Comment').waitFor({ state: 'detached' });
        await facts.getByText('The customer is right.').waitFor();
        await facts.getByText('Helpfulness: 4').waitFor();
        await checkPage(page, 'annotated-trace');
        const list = await page.context().newPage();
        await list.goto(`${address}/${slug}/traces?columns=name,feedback`);
        await list.getByText('1 down, 1 annotation').waitFor();
        await list.close();
        await facts.getByRole('button', { name: 'Add to a dataset…' }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'Add it' }).click();
        await page.getByRole('dialog').waitFor({ state: 'detached' });
        const { body } = await callRest(address, { path: `/api/dataset/${dataset.id}`, headers });
        const entries = body.data ?? [];
        expect(entries.map(({ entry }: { entry: object }) => entry)).toMatchObject([
          { expected_output: 'It arrives today.', trace_id: 'shop-1' },
        ]);
      }));

    it('is asked for in a queue, whose traces a reviewer goes through by keys', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Reviewed shop');
        const { address, slug } = project;
        for (const index of [1, 2]) await send(project, shopTrace(index, Date.now() - 60_000 * index));
        await openSignedIn(page, signInLink(address, stage.app.adminKey, `/${slug}/queues`));
        await page.getByText('No queue yet').waitFor();
        await checkPage(page, 'no-queues');
        await page.getByRole('button', { name: 'New queue' }).click();
        await page.getByLabel('Name').fill('Complaints');
        await page.getByRole('button', { name: 'Make the queue' }).click();
        await page.getByRole('heading', { level: 1, name: 'Complaints' }).waitFor();
        await page.getByRole('button', { name: 'Add traces' }).click();
        await page.getByLabel('Ids of traces').fill('shop-1\nshop-2');
        await page.getByRole('button', { name: 'Add them' }).click();
        await page.getByText('2 pending · 0 claimed · 0 done').waitFor();
        await page.keyboard.press('n');
        await page.getByText('1 pending · 1 claimed · 0 done').waitFor();
        await page.getByRole('button', { name: 'Annotate' }).waitFor();
        await page.keyboard.press('a');
        await page.keyboard.type('Reviewed.');
        await page.keyboard.press('Control+Enter');
        await page.getByLabel('Comment').waitFor({ state: 'detached' });
        await page.getByRole('article').getByText('Reviewed.').waitFor();
        await checkPage(page, 'claimed-trace');
        await page.keyboard.press('d');
        await page.getByText('0 pending · 1 claimed · 1 done').waitFor();
        await page.keyboard.press('r');
        await page.getByText('1 pending · 0 claimed · 1 done').waitFor();
      }));

    it('stays with the trace and the span for which it was typed', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Typing shop');
        const { address, slug } = project;
        for (const index of [1, 2]) await send(project, shopTrace(index, Date.now() - 60_000 * index));
        await openSignedIn(page, signInLink(address, stage.app.adminKey, `/${slug}/traces`));
        await page.locator('[aria-rowindex="2"]').getByRole('link').first().click();
        const facts = page.getByRole('region', { name: 'Facts' });
        const comment = facts.getByLabel('Comment');
        await facts.getByRole('button', { name: 'Annotate' }).waitFor();
        await page.keyboard.press('a');
        await page.keyboard.type('About the first one.');
        await page.getByRole('treeitem', { name: /find documents/ }).click();
        await facts.getByRole('button', { name: 'Make it about the chosen span' }).waitFor();
        expect(await comment.inputValue()).toBe('About the first one.');
        await facts.getByText('About the whole trace').waitFor();
        // Another trace has a form of its own, and the way back leads to what was typed.
        await page.keyboard.press(']');
        await page.waitForURL(/shop-2/);
        await facts.getByRole('button', { name: 'Annotate' }).waitFor();
        expect(await comment.count()).toBe(0);
        await page.keyboard.press('[');
        await page.waitForURL(/shop-1/);
        await comment.focus();
        expect(await comment.inputValue()).toBe('About the first one.');
        await page.keyboard.press('Control+Enter');
        await page.keyboard.press('Control+Enter');
        await comment.waitFor({ state: 'detached' });
        const headers = { 'x-auth-token': project.projectKey };
        const { body } = await callRest(address, { path: '/api/annotations', headers });
        expect(body).toMatchObject([{ traceId: 'shop-1', comment: 'About the first one.' }]);
        expect(body[0].spanId ?? null).toBeNull();
      }));

    it('is asked about before a review goes on without it, and kept when a claim has ended', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Waiting shop');
        const { address, slug } = project;
        for (const index of [1, 2]) await send(project, shopTrace(index, Date.now() - 60_000 * index));
        const headers = { 'x-auth-token': stage.app.adminKey, 'x-project-id': project.id };
        const post = (path: string, body: object) => callRest(address, { verb: 'POST', path, body, headers });
        const { id } = (await post('/api/annotation-queues', { name: 'Waits' })).body;
        await post(`/api/annotation-queues/${id}/items`, { traceIds: ['shop-1', 'shop-2'] });
        await page.clock.install();
        await openSignedIn(page, signInLink(address, stage.app.adminKey, `/${slug}/queues/${id}`));
        await page.getByRole('button', { name: 'Claim the next trace' }).click();
        await page.getByRole('button', { name: 'Annotate' }).click();
        await page.getByLabel('Comment').fill('Half of a sent');
        await page.getByRole('button', { name: 'Done, and the next one' }).click();
        const dialog = page.getByRole('alertdialog').or(page.getByRole('dialog'));
        await dialog.getByText('What you typed about this trace is not saved yet.').waitFor();
        await checkPage(page, 'unsaved-annotation');
        await dialog.getByRole('button', { name: 'Cancel' }).click();
        expect(await page.getByLabel('Comment').inputValue()).toBe('Half of a sent');
        // The claim is renewed while somebody looks at the page.
        const renewed = page.waitForResponse((response) => response.url().includes('ClaimAnnotationQueueItem'));
        await page.clock.fastForward('04:00');
        expect((await renewed).status()).toBe(200);
        // It ends elsewhere.
        const held = (await post(`/api/annotation-queues/${id}/claim`, { resume: true })).body;
        expect((await post(`/api/annotation-queues/${id}/items/${held.id}/release`, {})).status).toBe(200);
        await page.getByRole('button', { name: 'Give it back' }).click();
        await dialog.getByRole('button', { name: 'Cancel' }).click();
        await page.getByLabel('Comment').fill('');
        await page.getByRole('button', { name: 'Done, and the next one' }).click();
        await page.getByText('You no longer hold the trace').waitFor();
        await page.getByRole('button', { name: 'Claim the next trace' }).waitFor();
        await checkPage(page, 'lost-claim');
        await page.getByRole('link', { name: 'Open the trace' }).waitFor();
        await page.keyboard.press('n');
        await page.getByRole('button', { name: 'Give it back' }).waitFor();
      }));
  });
}
