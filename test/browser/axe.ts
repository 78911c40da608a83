/** Runs axe on a page. The page's policy refuses foreign scripts, so the browser protocol injects axe. */

import { readFileSync } from 'node:fs';
import type axe from 'axe-core';
import type { Page } from 'playwright-core';

const AXE = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
const STANDARDS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** One line per finding. */
export async function findBarriers(page: Page, colorScheme: 'light' | 'dark'): Promise<readonly string[]> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(AXE);
  // Dark mode changes only colours.
  const runOnly: axe.RunOptions['runOnly'] =
    colorScheme === 'light' ? { type: 'tag', values: STANDARDS } : { type: 'rule', values: ['color-contrast'] };
  const { violations } = await page.evaluate((rules) => {
    const { axe: engine } = globalThis as unknown as { axe: typeof axe };
    // Leaves out the places of what is right, and style sheets, which none of these rules reads.
    return engine.run({ runOnly: rules, resultTypes: ['violations'], preload: false });
  }, runOnly);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
  );
}
