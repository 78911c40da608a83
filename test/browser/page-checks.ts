/** Opens pages of the console, and checks their layout and accessibility. */

import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { findBarriers } from './axe.ts';
import { DESK, followLink, takePicture } from './browser.ts';

export const PHONE = { width: 390, height: 844 };

/** Signs in, and follows a link of the navigation. */
export async function openFromMenu(page: Page, signIn: string, link: string): Promise<void> {
  await followLink(page, signIn);
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: link, exact: true }).click();
  await page.getByRole('heading', { level: 1, name: link }).waitFor();
  // The server serves the address of the page, too.
  await page.reload();
  await page.getByRole('heading', { level: 1, name: link }).waitFor();
}

/** Expects no serious accessibility finding in light and dark mode, and no page wider than a phone. */
export async function checkPage(page: Page, name: string): Promise<void> {
  const barriers: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await takePicture(page, `${name}-${colorScheme}`);
    barriers.push(...(await findBarriers(page, colorScheme)));
  }
  expect(barriers).toEqual([]);
  await page.emulateMedia({ colorScheme: 'light' });
  // A tooltip would stay where it is for a moment.
  await page.mouse.move(0, 0);
  await page.setViewportSize(PHONE);
  await takePicture(page, `${name}-phone`);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(PHONE.width);
  await page.setViewportSize(DESK);
}

type Styles = { getComputedStyle(element: unknown): { getPropertyValue(name: string): string } };

/** What a style sheet makes of an element. */
export function styleOf(locator: Locator, property: string): Promise<string> {
  return locator.evaluate(
    (element, name) => (globalThis as unknown as Styles).getComputedStyle(element).getPropertyValue(name),
    property,
  );
}
