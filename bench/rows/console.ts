/** How long console users wait for the first page and a long trace. In Chromium, which npm installs for tests. */

import { performance } from 'node:perf_hooks';
import { gzipSync } from 'node:zlib';
import type { Browser, BrowserContext, Page, Response } from 'playwright-core';
import { launchBrowser } from '../../test/browser/browser.ts';
import type { Bench, Row } from '../bench.ts';
import { type Figure, judge } from '../figure.ts';
import { storeTrace } from '../load/store-trace.ts';
import { median } from '../machine.ts';
import { mintKeys, startServer } from '../sides.ts';

const roundsMin = 5;
const listed = 100;
const spans = 10_000;
const spansPerParent = 10;
const rowPx = 30;

type Side = { readonly browser: Browser; readonly port: number; readonly projectKey: string };

export const consoleFirst: Row = {
  name: 'console-first',
  about: `the first page of the console with ${listed} traces: scripts, packed, and a cold load up to the first row`,
  run: (bench) =>
    withBrowser(bench, async (side) => {
      for (let trace = 0; trace < listed; trace += 1) await storeTrace(side.port, side.projectKey, 3);
      const times: number[] = [];
      let bytes = 0;
      for (let round = 1; round <= Math.max(roundsMin, bench.rounds); round += 1) {
        // A new context has an empty cache.
        const context = await signIn(side);
        const page = await context.newPage();
        const scripts: Response[] = [];
        const collect = (response: Response) => void (response.url().endsWith('.js') && scripts.push(response));
        page.on('response', collect);
        times.push(await measureFirstRow(page, side));
        page.off('response', collect);
        const bodies = await Promise.all(scripts.map((script) => script.body()));
        bytes = bodies.reduce((sum, body) => sum + gzipSync(body).length, 0);
        bench.detail(`  console-first round ${round}: ${times.at(-1)?.toFixed(0)} ms, ${scripts.length} scripts`);
        await context.close();
      }
      const kilobytes = { name: 'console-first-scripts', value: bytes / 1_000, unit: 'KB', reference: null };
      const ms = { name: 'console-first-row', value: median(times), unit: 'ms', reference: null };
      return [judge(kilobytes, { of: 'value', atMost: 250 }), judge(ms, { of: 'value', atMost: 1_500 })];
    }),
};

export const consoleTrace: Row = {
  name: 'console-trace',
  about: `a trace of ${spans} spans in the console: from the click on it until keys move in it, and frames while scrolling`,
  run: (bench) =>
    withBrowser(bench, async (side) => {
      await storeTrace(side.port, side.projectKey, spans, spansPerParent);
      const times: number[] = [];
      const frames: number[] = [];
      for (let round = 1; round <= Math.max(roundsMin, bench.rounds); round += 1) {
        const context = await signIn(side);
        const page = await context.newPage();
        await measureFirstRow(page, side);
        times.push(await measureUsable(page));
        frames.push(await measureLongestFrame(page));
        bench.detail(
          `  console-trace round ${round}: usable in ${times.at(-1)?.toFixed(0)} ms, longest frame ${frames.at(-1)?.toFixed(0)} ms`,
        );
        await context.close();
      }
      const usable = { name: 'console-trace-usable', value: median(times), unit: 'ms', reference: null };
      const frame = { name: 'console-trace-frame', value: median(frames), unit: 'ms', reference: null };
      return [judge(usable, { of: 'value', atMost: 1_000 }), judge(frame, { of: 'value', atMost: 100 })];
    }),
};

async function withBrowser(bench: Bench, measure: (side: Side) => Promise<Figure[]>): Promise<Figure[]> {
  if (bench.calibrate) return [];
  const keys = mintKeys();
  const server = await startServer(bench, keys);
  const browser = await launchBrowser();
  try {
    return await measure({ browser, port: server.port, projectKey: keys.projectKey });
  } finally {
    await browser.close();
    await server.stop();
  }
}

/** Begins a session as the console does. */
export async function signIn({ browser, port, projectKey }: Side): Promise<BrowserContext> {
  // Without a locale it is that of the machine, which may not be a language tag.
  const context = await browser.newContext({ locale: 'en-GB' });
  const headers = { 'x-auth-token': projectKey, 'x-spandrel-console': '1' };
  const answer = await context.request.post(`http://127.0.0.1:${port}/api/auth/session`, { headers, data: {} });
  if (!answer.ok()) throw new Error(`No session was begun: ${answer.status()}`);
  return context;
}

async function measureFirstRow(page: Page, { port }: Side): Promise<number> {
  const startedAt = performance.now();
  await page.goto(`http://127.0.0.1:${port}/`, { waitUntil: 'commit' });
  await page.locator('[role=row] a').first().waitFor();
  return performance.now() - startedAt;
}

async function measureUsable(page: Page): Promise<number> {
  const startedAt = performance.now();
  await page.locator('[role=row] a').first().click();
  await page.getByRole('treeitem').first().waitFor();
  await page.getByRole('tree').press('j');
  await page.locator('[role=treeitem][aria-selected=true]').waitFor();
  return performance.now() - startedAt;
}

/** Scrolls to the end while spans still load, three screens per frame. */
function measureLongestFrame(page: Page): Promise<number> {
  return page.getByRole('tree').evaluate((tree, height) => {
    const { promise, resolve } = Promise.withResolvers<number>();
    const view = globalThis as unknown as { requestAnimationFrame(act: (at: number) => void): void };
    const box = tree as unknown as { scrollTop: number; clientHeight: number; scrollHeight: number };
    let longestMs = 0;
    let lastAt: number | null = null;
    const scroll = (at: number): void => {
      if (lastAt !== null) longestMs = Math.max(longestMs, at - lastAt);
      lastAt = at;
      const isWhole = box.scrollHeight >= height;
      if (isWhole && box.scrollTop + box.clientHeight >= box.scrollHeight - 1) resolve(longestMs);
      else {
        box.scrollTop += 3 * box.clientHeight;
        view.requestAnimationFrame(scroll);
      }
    };
    view.requestAnimationFrame(scroll);
    return promise;
  }, spans * rowPx);
}
