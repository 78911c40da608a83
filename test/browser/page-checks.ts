/** Opens pages of the console, and checks their layout and accessibility. */

import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { isFullTier } from '../support/scenario.ts';
import { findBarriers } from './axe.ts';
import { DESK, openSignedIn, takePicture } from './browser.ts';

export const WIDE = { width: 1440, height: 900 };
export const LAPTOP = { width: 1024, height: 768 };
export const PHONE = { width: 390, height: 844 };
const WINDOWS = [
  ['wide', WIDE],
  ['laptop', LAPTOP],
  ['phone', PHONE],
] as const;

/** Signs in, and follows a link of the navigation. */
export async function openFromMenu(page: Page, signIn: string, link: string): Promise<void> {
  await openSignedIn(page, signIn);
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: link, exact: true }).click();
  await page.getByRole('heading', { level: 1, name: link }).waitFor();
  if (!isFullTier) return;
  // The server serves the address of the page, too.
  await page.reload();
  await page.getByRole('heading', { level: 1, name: link }).waitFor();
}

/**
 * Expects no accessibility finding in light and dark mode, and that no window is narrower than its page. The full
 * tier looks for findings in each window.
 */
export async function checkPage(page: Page, name: string): Promise<void> {
  const barriers: string[] = [];
  for (const [windowName, size] of WINDOWS) {
    // A tooltip would stay where it is for a moment.
    await page.mouse.move(0, 0);
    await page.setViewportSize(size);
    for (const colorScheme of ['light', 'dark'] as const) {
      if (!isFullTier && size !== WIDE) continue;
      await page.emulateMedia({ colorScheme });
      await takePicture(page, `${name}-${windowName}-${colorScheme}`);
      const found = await findBarriers(page, colorScheme);
      barriers.push(...found.map((barrier) => `${windowName}, ${colorScheme}: ${barrier}`));
    }
    await page.emulateMedia({ colorScheme: 'light' });
    const widthPx = await settledWidthPx(page, size.width);
    if (widthPx > size.width)
      barriers.push(`${windowName}: the page is ${widthPx} pixels wide, to the right end of ${await widest(page)}`);
  }
  await page.setViewportSize(DESK);
  expect(barriers).toEqual([]);
}

/** Width of the page: at most `maxPx`, or what it still is two seconds after the window was resized. */
async function settledWidthPx(page: Page, maxPx: number): Promise<number> {
  const widthPx = () => page.evaluate<number>('document.documentElement.scrollWidth');
  // An open popover follows its button a few frames after the window has changed.
  const endMs = Date.now() + 2_000;
  while ((await widthPx()) > maxPx && Date.now() < endMs) await page.waitForTimeout(50);
  return await widthPx();
}

/** What reaches furthest to the right: the outermost element that does. */
function widest(page: Page): Promise<string> {
  return page.evaluate<string>(`(() => {
    const rightOf = (element) => element.getBoundingClientRect().right;
    const elements = [...document.body.querySelectorAll('*')];
    const most = elements.reduce((one, other) => (rightOf(other) > rightOf(one) ? other : one));
    return most.cloneNode(false).outerHTML;
  })()`);
}

type Styles = { getComputedStyle(element: unknown): { getPropertyValue(name: string): string } };

/** What a style sheet makes of an element. */
export function styleOf(locator: Locator, property: string): Promise<string> {
  return locator.evaluate(
    (element, name) => (globalThis as unknown as Styles).getComputedStyle(element).getPropertyValue(name),
    property,
  );
}
