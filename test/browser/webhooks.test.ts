/** Webhooks and events in the console, with a server of their own: an endpoint gets the events of every project. */

import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { startReceiver } from '../support/receiver.ts';
import { callRest } from '../support/surfaces.ts';
import { openSignedIn, signInLink } from './browser.ts';
import { checkPage } from './page-checks.ts';
import { send, shopTrace } from './sent-traces.ts';
import { openStage } from './stage.ts';

const stage = openStage();

/** Reports the creation of a virtual key; returns its instant. */
async function reportKey(): Promise<number> {
  const { app } = stage;
  const atMs = Date.now();
  const key = { virtual_key_id: 'vk-1', name: 'Shop', display_prefix: 'sk-' };
  const answer = await callRest(app.address, {
    verb: 'POST',
    path: '/api/gateway/v1/governance-events',
    headers: { 'x-auth-token': app.adminKey },
    body: { events: [{ type: 'gateway.virtual_key.created', occurred_at: atMs, ...key }] },
  });
  expect(answer.body.accepted, answer.text).toBe(1);
  return atMs;
}

/** Expects that nobody has to scroll the box to see all of its part. */
async function expectShownIn(box: Locator, part: Locator): Promise<void> {
  const inner = await part.boundingBox();
  const outer = await box.boundingBox();
  if (!inner || !outer) throw new Error('one of both is not on the page');
  expect(inner.y).toBeGreaterThanOrEqual(outer.y);
  expect(inner.y + inner.height).toBeLessThanOrEqual(outer.y + outer.height);
}

describe('events in the console', () => {
  it('that an endpoint missed while it failed arrive after its repair, and again when replayed', () =>
    stage.visit(async ({ page }) => {
      const receiver = await startReceiver(() => ({ kind: 'answer', status: 500 }));
      const project = await stage.makeProject('Pushing shop');
      const part = page.getByRole('navigation', { name: 'Parts of the endpoint' });
      try {
        await openSignedIn(page, signInLink(stage.app.address, stage.app.adminKey, '/-/webhooks'));
        await page.getByRole('button', { name: 'New endpoint' }).click();
        await page.getByLabel('URL').fill('http://shop.test/hook');
        await page.keyboard.press('Enter');
        await expectShownIn(page.getByRole('dialog'), page.getByRole('alert'));
        await expectShownIn(page.getByRole('dialog'), page.getByRole('button', { name: 'Create the endpoint' }));
        await page.getByLabel('URL').fill(receiver.url('/hook'));
        await page.getByRole('button', { name: 'Create the endpoint' }).click();
        expect(await page.getByRole('dialog').locator('pre').first().textContent()).toMatch(/^whsec_/);
        await page.getByRole('button', { name: 'I have stored it' }).click();
        await page.getByRole('link', { name: receiver.url('/hook') }).click();
        await page.getByRole('button', { name: 'Send a test' }).click();
        await page.getByText('Test failed').waitFor();
        await send(project, { ...shopTrace(902, Date.now()), trace_id: 'pushed' });
        await page.getByText('failed, will be retried').first().waitFor();
        await page.getByRole('button', { name: 'Change' }).click();
        await page.getByLabel('Description').fill('Keeps the <b>books</b>');
        await page.getByLabel('gateway.request.completed').check();
        await checkPage(page, 'webhook-change');
        await page.getByRole('button', { name: 'Save' }).click();
        await page.getByText('Keeps the <b>books</b>').waitFor();
        await checkPage(page, 'webhook-broken');
        await page.getByText('Deliveries being retried').waitFor();
        await page.getByText('Oldest undelivered event').waitFor();
        // The oldest: retries appear above it meanwhile.
        const tried = page.getByRole('row', { name: /failed, will be retried/ }).last();
        await tried.getByText('Details').click();
        await tried.getByText(/^webhook-id: /).waitFor();
        await tried.locator('[href*="/-/events?event="]').first().click();
        await page.getByLabel('Search in the envelope').waitFor();
        await page.goBack();
        receiver.react = () => ({ kind: 'answer', status: 204 });
        await page.getByRole('button', { name: 'Redeliver' }).first().click();
        await page.getByRole('cell', { name: 'delivered' }).first().waitFor();
        expect(receiver.of('/hook').at(-1)?.eventIds.length).toBeGreaterThan(0);
        await part.getByText('Replay').click();
        await page.getByRole('main').getByRole('button', { name: 'Replay' }).last().click();
        await page.getByRole('progressbar', { name: 'Replayed events' }).waitFor();
        // Another tab in between does not lose the replay.
        await part.getByText('Attempts').click();
        await page.getByRole('columnheader', { name: 'Outcome' }).waitFor();
        await part.getByText('Replay').click();
        await page.getByText('completed', { exact: true }).waitFor();
        await checkPage(page, 'webhook-replay');
        await part.getByText('Dead letters').click();
        await page.getByRole('heading', { name: 'No dead letters' }).waitFor();
        receiver.react = () => ({ kind: 'answer', status: 410 });
        await send(project, { ...shopTrace(903, Date.now()), trace_id: 'lost' });
        await page.getByRole('cell', { name: 'the receiver is gone' }).first().waitFor();
        await page.reload();
        await page.getByText('Disabled because the receiver answered 410 Gone.').waitFor();
        await checkPage(page, 'webhook-dead');
        receiver.react = () => ({ kind: 'answer', status: 204 });
        await page.getByRole('button', { name: 'Enable' }).click();
        await page.getByRole('button', { name: 'Disable' }).waitFor();
        await page.getByRole('button', { name: 'Redeliver' }).first().click();
        await page.getByRole('heading', { name: 'No dead letters' }).waitFor();
        // Events that the log does not have do not lead there.
        await page.getByRole('button', { name: 'Change' }).click();
        await page.getByLabel('All, including types that are added later').check();
        await page.getByRole('button', { name: 'Save' }).click();
        await page.getByRole('dialog').waitFor({ state: 'detached' });
        const atMs = await reportKey();
        await part.getByText('Attempts').click();
        const id = `vk-1:created:${atMs}`;
        const pushed = page.getByRole('row').filter({ hasText: id });
        await pushed.getByText('Details').click();
        const listed = pushed.getByRole('listitem').filter({ hasText: id });
        await listed.waitFor();
        expect(await listed.getByRole('link').count()).toBe(0);
        await page.getByRole('button', { name: 'Archive' }).click();
        await page.getByLabel('Type archive to confirm').fill('archive');
        await page.getByRole('button', { name: 'Archive permanently' }).click();
        await page.getByRole('heading', { name: 'No endpoint yet' }).waitFor();
      } finally {
        await receiver.close();
      }
    }));

  it('of the log show the envelope that was pushed', () =>
    stage.visit(async ({ page }) => {
      await openSignedIn(page, signInLink(stage.app.address, stage.app.adminKey, '/-/events'));
      await page
        .getByRole('button', { name: /gateway.request.completed/ })
        .first()
        .click();
      const search = page.getByLabel('Search in the envelope');
      await search.waitFor();
      await page.getByText('schema_version: "1"').waitFor();
      await page.reload();
      await search.waitFor();
      // Also where the list does not have it.
      await page.goto(`${page.url()}&range=custom&from=2001-01-01T00:00:00Z&to=2001-01-02T00:00:00Z`);
      await page.getByRole('heading', { name: 'No event in this range' }).waitFor();
      await search.waitFor();
      await checkPage(page, 'event');
    }));
});
