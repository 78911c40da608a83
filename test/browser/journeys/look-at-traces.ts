import { describe, expect, it } from 'vitest';
import { callRest } from '../../support/surfaces.ts';
import { openSignedIn, signInLink, takePicture } from '../browser.ts';
import { choose } from '../choose.ts';
import { longTrace, send, sendText } from '../sent-traces.ts';
import type { Stage } from '../stage.ts';

export function lookAtTraces(stage: Stage): void {
  describe('a trace', () => {
    it('of ten thousand spans renders only the visible ones, and its last is reached at once', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Long shop');
        await send(project, longTrace('long', 10_000, Date.now() - 20_000));
        await openSignedIn(page, signInLink(project.address, project.projectKey, `/${project.slug}/traces/long`));
        const tree = page.getByRole('tree');
        await page.getByRole('treeitem', { name: 'step 9', exact: false }).first().waitFor();
        expect(await page.getByRole('treeitem').count()).toBeLessThan(100);
        await tree.focus();
        for (let press = 0; press < 30; press += 1) await page.keyboard.press('j');
        await page.waitForURL(/span=step-/);
        await page.getByText('Loading more spans').waitFor({ state: 'detached' });
        await tree.evaluate((element) => element.scrollTo(0, element.scrollHeight));
        await page.getByRole('treeitem', { name: /step 9999/ }).waitFor();
      }));

    it('is the target of platformUrl, and its thread shows a conversation', () =>
      stage.visit(async ({ page }) => {
        const { address, projectKey } = stage.app;
        const headers = { 'x-auth-token': projectKey };
        const body = { name: 'Polite', config: { evaluatorType: 'langevals/exact_match', settings: {} } };
        const saved = await callRest(address, { verb: 'POST', path: '/api/evaluators', body, headers });
        const trace = await callRest(address, { path: '/api/traces/shop-3', headers });
        await openSignedIn(page, signInLink(address, projectKey));
        await page.goto(saved.body.platformUrl);
        await page.getByRole('heading', { level: 1, name: 'Polite' }).waitFor();
        await page.goto(trace.body.platformUrl);
        await page.getByRole('treeitem', { name: /write the answer/ }).waitFor();
        await page.getByRole('link', { name: 'user-3' }).click();
        await page.getByRole('heading', { level: 1, name: 'user-3' }).waitFor();
        await page.goBack();
        await page.getByRole('link', { name: 'thread-3' }).click();
        await page.getByRole('heading', { name: 'Thread thread-3' }).waitFor();
        await page.getByText('7 traces, oldest first').waitFor();
        await takePicture(page, 'thread');
      }));

    it('is summed up with others, and each figure links to its traces', () =>
      stage.visit(async ({ page }) => {
        await openSignedIn(page, signInLink(stage.app.address, stage.app.projectKey));
        await page.getByRole('link', { name: 'Overview' }).click();
        await page.getByRole('img', { name: /Cost over time/ }).waitFor();
        await page.getByRole('img', { name: /Duration, p95 over time/ }).waitFor();
        await takePicture(page, 'overview');
        await page.getByRole('link', { name: 'claude-sonnet-4-5' }).waitFor();
        await choose(page.getByLabel('Group by'), 'User');
        await page
          .getByRole('row', { name: /user-5/ })
          .getByRole('link', { name: '1', exact: true })
          .click();
        await page.getByRole('button', { name: 'Remove User user-5' }).waitFor();
        await page.getByText('1 of 1 shown').waitFor();
        await page.goBack();
        await page.getByRole('link', { name: /^Failed/ }).click();
        await page.getByRole('button', { name: 'Remove Failed true' }).waitFor();
        await page
          .getByRole('row', { name: /The carrier did not answer/ })
          .first()
          .waitFor();
      }));

    it('is shown as text with hostile content, and completely', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Hostile shop');
        // JavaScript has no number with exactly this value.
        await sendText(project, JSON.stringify(hostileTrace()).replace(`"${SEED}"`, SEED));
        await openSignedIn(page, signInLink(project.address, project.projectKey));
        await page
          .getByRole('row', { name: /onerror/ })
          .getByRole('link')
          .click();
        await page.getByRole('treeitem').click();
        await page.getByLabel('Search in output').fill('19999');
        await page.getByText('1 found').waitFor();
        const text = await page.locator('main').innerText();
        expect(text).toContain('<script>alert(2)</script>javascript:alert(3)[U+202E]txt.exe[U+001B][31mred');
        expect(text).not.toMatch(/[\u202e\u001b]/);
        expect(text).toContain(SEED);
        expect(text).toContain('Call id call_7');
        expect(await page.locator('main img, main script, main b, main a[href^="javascript"]').count()).toBe(0);
        expect(text.length).toBeLessThan(100_000);
        await takePicture(page, 'hostile');
      }));
  });
}

const SEED = '9007199254740993';

function hostileTrace() {
  const hostile = `<img src=x onerror=alert(1)><script>alert(2)</script>javascript:alert(3)\u202Etxt.exe\u001b[31mred`;
  const deep = JSON.parse(`${'{"a":'.repeat(100)}"<b>deep</b>"${'}'.repeat(100)}`);
  return {
    trace_id: 'hostile',
    metadata: { user_id: hostile, [`<b>${hostile}`]: deep },
    spans: [
      {
        type: 'llm',
        span_id: 'hostile-span',
        name: hostile,
        model: hostile,
        input: {
          type: 'chat_messages',
          value: [
            { role: '<b>user</b>', content: hostile },
            { role: 'tool', content: 'done', tool_call_id: 'call_7' },
            { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://elsewhere.test/x.png' } }] },
          ],
        },
        output: {
          type: 'json',
          value: { [hostile]: 'x'.repeat(5_000_000), list: Array.from({ length: 20_000 }, (_, index) => index) },
        },
        params: { seed: SEED },
        error: { message: hostile, stacktrace: [hostile] },
        timestamps: { started_at: Date.now(), finished_at: Date.now() },
      },
    ],
    evaluations: [{ name: hostile, passed: false, details: hostile, label: hostile }],
  };
}
