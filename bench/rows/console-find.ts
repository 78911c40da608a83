/** How long console users wait for what they look for among many traces, and for the overview of twice as many. */

import { performance } from 'node:perf_hooks';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../../test/browser/browser.ts';
import { type Bench, nameOf, type Row } from '../bench.ts';
import { type Figure, judge } from '../figure.ts';
import { MODELS, wordOf } from '../fill/traces.ts';
import { openFilledTraces } from '../filled.ts';
import { median } from '../machine.ts';
import { startServer } from '../sides.ts';
import { signIn } from './console.ts';

const roundsMin = 5;
const firstPageMs = 120_000;
const FOUND_MS_MAX = 300;
const VALUES_MS_MAX = 200;
const OVERVIEW_MS_MAX = 1_000;

/** Milliseconds by the name of what is measured. */
type Measured = Readonly<Record<string, number>>;

export const consoleFind: Row = {
  name: 'console-find',
  about:
    'in the console, among a million traces: facets, suggestions, a filter and a word, from the key or click until drawn',
  secondsMax: 7_200,
  async run(bench) {
    const times = await measureRounds(bench, bench.traces, async (page, round) => ({
      facets: await measureFacets(page),
      suggestions: await measureSuggestions(page, round),
      filter: await measureFound(page, `label:beta model:${MODELS[round % MODELS.length]}`),
      text: await measureFound(page, wordOf(round)),
    }));
    const most = (name: string) => (name === 'filter' || name === 'text' ? FOUND_MS_MAX : VALUES_MS_MAX);
    return figuresOf(bench, 'console-find', times, most);
  },
};

export const consoleOverview: Row = {
  name: 'console-overview',
  about:
    'the overview of two million traces in the console: from the click until its sums, its percentiles, and what changed',
  secondsMax: 14_400,
  async run(bench) {
    const times = await measureRounds(bench, 2 * bench.traces, measureOverview);
    const changed = times.map(({ changed: ms = Number.NaN }) => ms);
    if (times.length > 0) bench.say(`  what changed, which holds up nothing: ${median(changed).toFixed(0)} ms`);
    const judged = times.map(({ sums = Number.NaN, whole = Number.NaN }) => ({ sums, whole }));
    return figuresOf(bench, 'console-overview', judged, () => OVERVIEW_MS_MAX);
  },
};

/** Each round has a new browser session, at the list of traces with its charts. */
async function measureRounds(
  bench: Bench,
  traces: number,
  measure: (page: Page, round: number) => Promise<Measured>,
): Promise<readonly Measured[]> {
  if (bench.calibrate) return [];
  const { keys, workspace } = await openFilledTraces(bench, traces);
  const server = await startServer(bench, keys, workspace);
  const browser = await launchBrowser();
  const times: Measured[] = [];
  try {
    for (let round = 1; round <= Math.max(roundsMin, bench.rounds); round += 1) {
      const context = await signIn({ browser, port: server.port, projectKey: keys.projectKey });
      const page = await context.newPage();
      page.setDefaultTimeout(firstPageMs);
      await page.goto(`http://127.0.0.1:${server.port}/`);
      await page.getByRole('application', { name: 'Duration, p50–p99 over time' }).locator('canvas').waitFor();
      const measured = await measure(page, round);
      times.push(measured);
      const said = Object.entries(measured).map(([name, ms]) => `${name} ${ms.toFixed(0)} ms`);
      bench.detail(`  round ${round}: ${said.join(', ')}`);
      await context.close();
    }
    return times;
  } finally {
    await browser.close();
    await server.stop();
  }
}

function figuresOf(bench: Bench, row: string, times: readonly Measured[], msMaxOf: (name: string) => number): Figure[] {
  return Object.keys(times[0] ?? {}).map((name) => {
    const value = median(times.map((measured) => measured[name] ?? Number.NaN));
    const figure = { name: nameOf(bench, `${row}-${name}`), value, unit: 'ms', reference: null };
    return judge(figure, { of: 'value', atMost: msMaxOf(name) });
  });
}

async function measureFacets(page: Page): Promise<number> {
  const button = page.getByRole('button', { name: 'Facets' });
  const startedAt = performance.now();
  await button.click();
  await appears(page, '#facets button');
  const tookMs = performance.now() - startedAt;
  await button.click();
  return tookMs;
}

async function measureSuggestions(page: Page, round: number): Promise<number> {
  const line = page.getByLabel('Find traces');
  const startedAt = performance.now();
  await line.fill(`user:user_${round % 10}`);
  await appears(page, '[role=option]');
  const tookMs = performance.now() - startedAt;
  await line.fill('');
  return tookMs;
}

async function measureFound(page: Page, line: string): Promise<number> {
  await page.getByLabel('Find traces').fill(line);
  const isAnswered = page.waitForResponse((response) => response.url().endsWith('/SearchTraces'));
  const startedAt = performance.now();
  await page.keyboard.press('Enter');
  await isAnswered;
  // Until it is drawn, the rows of the search before stay.
  await holds(page, "!document.body.innerText.includes('Searching…')");
  await appears(page, '[role=row] a');
  const tookMs = performance.now() - startedAt;
  await page.getByRole('application', { name: 'Count by status over time' }).locator('canvas').waitFor();
  return tookMs;
}

async function measureOverview(page: Page): Promise<Measured> {
  const startedAt = performance.now();
  const tookMs = () => performance.now() - startedAt;
  const chart = (name: string) => appears(page, `[role=img][aria-label^="${name} over time"] canvas`);
  await page.getByRole('link', { name: 'Overview', exact: true }).click();
  for (const name of ['Traces', 'Failed traces', 'Cost', 'Tokens']) await chart(name);
  const sums = tookMs();
  for (const name of ['Duration, p95', 'First token of any call, p95']) await chart(name);
  await page.waitForFunction('/Duration, p95\\s+[\\d.,]+ m?s/.test(document.body.innerText)');
  const whole = tookMs();
  await page.getByText('Compared with the period before…').waitFor({ state: 'detached' });
  return { sums, whole, changed: tookMs() };
}

function appears(page: Page, selector: string): Promise<void> {
  return holds(page, `document.querySelector(${JSON.stringify(selector)})?.checkVisibility()`);
}

/** Resolves with the frame in which it holds: a locator would look for it at growing intervals. */
function holds(page: Page, expression: string): Promise<void> {
  return page.evaluate(
    `new Promise((resolve) => { const look = () => (${expression}) ? resolve() : requestAnimationFrame(look); look(); })`,
  );
}
