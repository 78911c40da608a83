import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { isFullTier } from '../../support/scenario.ts';
import { callRest } from '../../support/surfaces.ts';
import { findBarriers } from '../axe.ts';
import { DESK, openSignedIn, signInLink, takePicture } from '../browser.ts';
import { LAPTOP, PHONE, styleOf, WIDE } from '../page-checks.ts';
import { longTrace, send } from '../sent-traces.ts';
import type { Stage } from '../stage.ts';

const widthOf = async (page: Page, zone: string) =>
  (await page.getByRole('region', { name: zone, exact: true }).boundingBox())?.width ?? 0;

const MORE_VIEWS = [
  ['timeline', LAPTOP],
  ['tree', WIDE],
  ['flame', WIDE],
] as const;

export function readTrace(stage: Stage): void {
  const open = (page: Page, path: string) =>
    openSignedIn(page, signInLink(stage.app.address, stage.app.adminKey, `/${stage.shop.slug}/traces/${path}`));

  describe('the page of a trace', () => {
    it('has three zones with dividers that keys and the pointer move, and that are remembered', () =>
      stage.visit(async ({ page }) => {
        await page.setViewportSize(WIDE);
        await open(page, 'shop-3');
        const divider = page.getByRole('separator', { name: 'Width of the spans' });
        await divider.waitFor();
        const before = await widthOf(page, 'Spans');
        await divider.focus();
        for (let press = 0; press < 3; press += 1) await page.keyboard.press('ArrowLeft');
        const narrower = await widthOf(page, 'Spans');
        expect(narrower).toBeLessThan(before - 50);
        const facts = await widthOf(page, 'Facts');
        const box = await page.getByRole('separator', { name: 'Width of the facts' }).boundingBox();
        if (!box) throw new Error('The divider is not there.');
        await page.mouse.move(box.x + box.width / 2, box.y + 300);
        await page.mouse.down();
        await page.mouse.move(box.x - 80, box.y + 300, { steps: 4 });
        await page.mouse.up();
        expect(await widthOf(page, 'Facts')).toBeGreaterThan(facts + 60);
        await page.reload();
        await divider.waitFor();
        expect(Math.abs((await widthOf(page, 'Spans')) - narrower)).toBeLessThan(2);
        await divider.focus();
        await page.keyboard.press('Enter');
        expect(Math.abs((await widthOf(page, 'Spans')) - before)).toBeLessThan(2);
      }));

    it('shows two zones in a small window, where names of spans can be read, and one on a phone', () =>
      stage.visit(async ({ page }) => {
        await page.setViewportSize(LAPTOP);
        await open(page, 'shop-3');
        await page.getByRole('treeitem', { name: /look_up_order/ }).waitFor();
        const isCut =
          '[...document.querySelectorAll("[role=treeitem] [dir=auto]")].some((name) => name.clientWidth < 90 && name.scrollWidth > name.clientWidth)';
        expect(await page.evaluate(isCut)).toBe(false);
        expect(await page.getByRole('separator').count()).toBe(1);
        await page.getByRole('button', { name: 'Facts' }).click();
        await page.getByRole('region', { name: 'Facts', exact: true }).waitFor();
        await page.setViewportSize(PHONE);
        await page.getByRole('separator').waitFor({ state: 'detached' });
        await page.getByRole('button', { name: 'Spans' }).click();
        await page.getByRole('treeitem', { name: /plan/ }).click();
        await page.getByRole('region', { name: 'Facts', exact: true }).getByRole('heading', { name: 'plan' }).waitFor();
        await page.setViewportSize(DESK);
      }));

    it.each([['timeline', WIDE], ['flame', PHONE], ...(isFullTier ? MORE_VIEWS : [])] as const)(
      'meets no barrier as a %s, in a window of %o',
      (view, size) =>
        stage.visit(async ({ page }) => {
          await page.setViewportSize(size);
          await open(page, `shop-5?span=write-5&view=${view}`);
          if (size === PHONE) await page.getByRole('button', { name: 'Spans' }).click();
          await page.getByRole('treeitem', { name: /write the answer/ }).waitFor();
          for (const colorScheme of ['light', 'dark'] as const) {
            await page.emulateMedia({ colorScheme });
            await takePicture(page, `trace-${view}-${size.width}-${colorScheme}`);
            expect(await findBarriers(page, colorScheme)).toEqual([]);
          }
          expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(size.width);
        }),
    );

    it('tells types apart by hue and icon, and marks the first token and the critical path', () =>
      stage.visit(async ({ page }) => {
        await page.setViewportSize(WIDE);
        await open(page, 'shop-3');
        await page.getByRole('treeitem', { name: /look_up_order/ }).waitFor();
        const row = (name: string) => page.getByRole('treeitem', { name: new RegExp(name) });
        const bar = (name: string) => styleOf(row(name).locator('[class*=bar]').first(), 'background-color');
        const icon = (name: string) => row(name).locator('svg path').getAttribute('d');
        const names = ['answer the customer', 'find documents', 'plan', 'look_up_order'];
        const looks = await Promise.all(names.map(async (name) => [await bar(name), await icon(name)] as const));
        expect(new Set(looks.map(([hue]) => hue)).size).toBe(4);
        expect(new Set(looks.map(([, path]) => path)).size).toBe(4);
        expect(await row('plan').locator('[class*=firstToken]').count()).toBe(1);
        expect(await row('find documents').locator('[class*=firstToken]').count()).toBe(0);
        expect(await row('write the answer').locator('[class*=criticalBar]').count()).toBe(1);
        expect(await row('look_up_order').locator('[class*=criticalBar]').count()).toBe(0);
        expect(await row('plan').getAttribute('title')).toMatch(/Model gpt-5-mini\n.*of its own\nFirst token after/);
        await page.keyboard.press('c');
        await page.locator('[role=treeitem][class*=dimmed]', { hasText: 'look_up_order' }).waitFor();
      }));

    it('shows repeats as one row that unfolds, and finds spans by text and type', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Repeating shop');
        const trace = longTrace('repeats', 40, Date.now() - 20_000);
        for (const span of trace.spans.slice(2, 10)) span.name = 'search_orders';
        await send(project, trace);
        await openSignedIn(page, signInLink(project.address, project.projectKey, `/${project.slug}/traces/repeats`));
        const item = page.getByRole('treeitem');
        const run = item.filter({ hasText: 'search_orders' });
        // The fifth of them is of another type.
        await run.first().getByText('×4').waitFor();
        expect(await run.count()).toBe(4 + 1);
        expect(await run.first().getAttribute('aria-expanded')).toBe('false');
        for (let press = 0; press < 3; press += 1) await page.keyboard.press('j');
        await page.waitForURL(/span=step-2/);
        await page.getByRole('tree').focus();
        await page.keyboard.press('ArrowRight');
        await item.filter({ hasText: 'search_orders' }).nth(7).waitFor();
        await page.keyboard.press('ArrowLeft');
        await item.filter({ hasText: 'search_orders' }).nth(5).waitFor({ state: 'detached' });
        // A link to one of them shows it.
        await page.goto(`${project.address}/${project.slug}/traces/repeats?span=step-4`);
        await page.locator('[role=treeitem][aria-selected=true]', { hasText: 'search_orders' }).waitFor();
        expect(await run.count()).toBe(8);
        await page.keyboard.press('/');
        await page.keyboard.type('step 3');
        await page.getByText('10 found').waitFor();
        await page.getByRole('button', { name: 'Types' }).click();
        await page.getByLabel('llm').uncheck();
        await page.getByText('8 found').waitFor();
        await page.keyboard.press('Escape');
        await page.reload();
        await page.getByText('8 found').waitFor();
      }));

    it('is a flame graph, too, and zooms to a part of its time', () =>
      stage.visit(async ({ page }) => {
        await page.setViewportSize(WIDE);
        await open(page, 'shop-3');
        const block = page.getByRole('treeitem', { name: 'llm plan' });
        const scale = page.getByRole('group', { name: 'Time' });
        await page.getByRole('treeitem', { name: /plan/ }).waitFor();
        await page.keyboard.press('3');
        await block.waitFor();
        const before = (await block.boundingBox())?.width ?? 0;
        const box = await scale.boundingBox();
        if (!box) throw new Error('There is no scale.');
        await page.mouse.move(box.x + box.width * 0.1, box.y + 8);
        await page.mouse.down();
        await page.mouse.move(box.x + box.width * 0.4, box.y + 8, { steps: 4 });
        await page.mouse.up();
        await page.getByRole('button', { name: 'Whole time' }).waitFor();
        expect((await block.boundingBox())?.width).toBeGreaterThan(before * 2.5);
        await page.getByRole('treeitem', { name: 'llm write the answer' }).waitFor({ state: 'detached' });
        await page.keyboard.press('0');
        await page.getByRole('treeitem', { name: 'llm write the answer' }).waitFor();
        await page.keyboard.press('+');
        await page.getByRole('button', { name: 'Whole time' }).waitFor();
        await page.keyboard.press('0');
        await block.dblclick();
        expect((await block.boundingBox())?.width).toBeGreaterThan(before * 5);
        // Left and right lead to the parent and to the first child.
        await page.getByRole('tree').focus();
        await page.keyboard.press('ArrowRight');
        await page.waitForURL(/span=order-3/);
        await page.keyboard.press('ArrowLeft');
        await page.keyboard.press('ArrowLeft');
        await page.waitForURL(/span=agent-3/);
      }));

    it('shows the events and links of a span, and shares of tokens and cost', () =>
      stage.visit(async ({ page }) => {
        const project = await stage.makeProject('Telling shop');
        await sendTelling(project, Date.now() - 10_000);
        const path = `/${project.slug}/traces/${'a'.repeat(32)}?view=tree&span=${'b'.repeat(16)}`;
        await openSignedIn(page, signInLink(project.address, project.projectKey, path));
        const facts = page.getByRole('region', { name: 'Facts', exact: true });
        await facts.getByText('cache missed').waitFor();
        await facts.getByText('after 500 ms').waitFor();
        const link = facts.getByRole('link', { name: 'c'.repeat(32) });
        expect(await link.getAttribute('href')).toBe(
          `/${project.slug}/traces/${'c'.repeat(32)}?span=${'d'.repeat(16)}`,
        );
        const row = page.getByRole('treeitem', { name: /chat/ });
        expect(await row.getAttribute('title')).toContain('1 event');
        expect(await row.getAttribute('title')).toMatch(/150 tokens \(100\.0 ?% of the trace\)/);
        await page.keyboard.press('1');
        await row.locator('[class*=event]').waitFor();
      }));

    it('leads from a thread back to the threads', () =>
      stage.visit(async ({ page }) => {
        await open(page, 'shop-3');
        await page.getByRole('link', { name: 'thread-3' }).click();
        await page.getByRole('heading', { name: 'Thread thread-3' }).waitFor();
        await page.locator('main').getByRole('link', { name: 'Threads', exact: true }).click();
        await page.getByRole('heading', { level: 1, name: 'Threads' }).waitFor();
      }));
  });
}

type Project = { readonly address: string; readonly projectKey: string };

async function sendTelling({ address, projectKey }: Project, startedAt: number): Promise<void> {
  const nano = (ms: number) => `${startedAt + ms}000000`;
  const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
  const count = (key: string, intValue: string) => ({ key, value: { intValue } });
  const span = {
    traceId: 'a'.repeat(32),
    spanId: 'b'.repeat(16),
    name: 'chat',
    kind: 3,
    startTimeUnixNano: nano(0),
    endTimeUnixNano: nano(2_000),
    attributes: [
      text('gen_ai.operation.name', 'chat'),
      text('gen_ai.request.model', 'gpt-5-mini'),
      count('gen_ai.usage.input_tokens', '100'),
      count('gen_ai.usage.output_tokens', '50'),
    ],
    events: [{ name: 'cache missed', timeUnixNano: nano(500), attributes: [text('store', 'redis')] }],
    links: [{ traceId: 'c'.repeat(32), spanId: 'd'.repeat(16), attributes: [] }],
  };
  const body = {
    resourceSpans: [{ resource: { attributes: [] }, scopeSpans: [{ scope: { name: 'shop' }, spans: [span] }] }],
  };
  const headers = { 'x-auth-token': projectKey };
  const answer = await callRest(address, { verb: 'POST', path: '/api/otel/v1/traces', body, headers });
  expect(answer.status, answer.text).toBe(200);
}
