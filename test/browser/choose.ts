import type { Locator } from 'playwright-core';

/** Chooses from the list of a select by the text that it shows. */
export async function choose(select: Locator, label: string): Promise<void> {
  await select.click();
  await select.page().getByRole('option', { name: label, exact: true }).click();
}
