/**
 * Takes the pictures of docs/console.md, of a server with the data of a shop. With a folder, takes every page there, in
 * both themes and three widths, for review.
 *
 *     node scripts/console-pictures.ts [folder]
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { followLink, launchBrowser, signInLink } from '../test/browser/browser.ts';
import { ADMIN_KEY, PROJECT_KEY, spawnServer } from '../test/support/server.ts';
import { temporaryFolder } from '../test/support/temp.ts';
import { fillShop } from './pictures/shop.ts';

type Theme = 'light' | 'dark';
type Size = { readonly width: number; readonly height: number };
type Picture = { readonly name: string; readonly path: string; readonly theme: Theme; readonly size: Size };

const DOCS = new URL('../docs/pictures/', import.meta.url).pathname;
const DESK: Size = { width: 1280, height: 800 };
const SIZES: readonly Size[] = [
  { width: 1440, height: 900 },
  { width: 1024, height: 768 },
  { width: 390, height: 844 },
];
const QUALITY = 78;
/** Evaluations of monitors run a moment after their trace. */
const SETTLE_MS = 6_000;

const [folder] = process.argv.slice(2);
const temporary = temporaryFolder();
const server = await spawnServer({
  SPANDREL_DATABASE_URL: `sqlite:${join(temporary.path, 'spandrel.db')}`,
  SPANDREL_SECRET: 'the secret of a server for pictures',
});
const browser = await launchBrowser();
try {
  const shop = await fillShop({ address: server.address, adminKey: ADMIN_KEY, projectKey: PROJECT_KEY }, Date.now());
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  await takeAll(browser, folder === undefined ? chosen(pagesOf(shop)) : everything(pagesOf(shop)), folder ?? DOCS);
} finally {
  await browser.close();
  await server.stop('SIGTERM');
  temporary.remove();
}

type PageRef = readonly [name: string, path: string];

function pagesOf(shop: Awaited<ReturnType<typeof fillShop>>): readonly PageRef[] {
  const project = `/${shop.slug}`;
  return [
    ['overview', `${project}/overview`],
    ['overview-two-dimensions', `${project}/overview?and=user&range=7d`],
    ['dashboards', `${project}/dashboards`],
    ['traces', `${project}/traces`],
    ['trace', `${project}/traces/trace-7`],
    ['threads', `${project}/threads`],
    ['users', `${project}/users`],
    ['user', `${project}/users/ada`],
    ['evaluators', `${project}/evaluators`],
    ['evaluators-new', `${project}/evaluators/new`],
    ['evaluator', `${project}/evaluators/${shop.evaluatorId}`],
    ['evaluator-settings', `${project}/evaluators/${shop.evaluatorId}?tab=settings`],
    ['monitors', `${project}/monitors`],
    ['monitor', `${project}/monitors/${shop.monitorId}`],
    ['monitor-secrets', `${project}/monitors/${shop.secretsId}`],
    ['monitor-failing', `${project}/monitors/${shop.failingId}`],
    ['monitor-new', `${project}/monitors/new`],
    ['datasets', `${project}/datasets`],
    ['dataset', `${project}/datasets/${shop.datasetId}`],
    ['experiments', `${project}/experiments`],
    ['experiment', `${project}/experiments/${shop.experiment}`],
    ['comparison', `${project}/experiments/${shop.experiment}/runs/shorter?against=baseline`],
    ['settings', `${project}/settings`],
    ['webhooks', '/-/webhooks'],
    ['webhook', `/-/webhooks/${shop.endpointId}`],
    ['events', '/-/events'],
    ['keys', '/-/keys'],
    ['keys-new', '/-/keys/new'],
    ['projects', '/-/projects'],
    ['members', '/-/members'],
    ['teams', '/-/teams'],
    ['roles', '/-/teams?tab=roles'],
    ['model-providers', '/-/model-providers'],
    ['model-providers-new', '/-/model-providers/new'],
    ['virtual-keys', '/-/virtual-keys'],
    ['virtual-key', `/-/virtual-keys/${shop.virtualKeyId}`],
    ['virtual-keys-new', '/-/virtual-keys/new'],
    ['budgets', '/-/budgets'],
    ['budgets-new', '/-/budgets/new'],
    ['spend', '/-/spend'],
    ['prices', '/-/prices'],
    ['audit-log', '/-/audit-log'],
    ['sessions', '/-/sessions'],
    ['organization', '/-/settings'],
  ];
}

/** The pictures of the documentation. */
function chosen(pages: readonly PageRef[]): readonly Picture[] {
  const themes: { readonly [name: string]: Theme } = {
    overview: 'light',
    traces: 'light',
    trace: 'dark',
    monitors: 'light',
    comparison: 'dark',
  };
  return pages.flatMap(([name, path]) => {
    const theme = themes[name];
    return theme === undefined ? [] : [{ name, path, theme, size: DESK }];
  });
}

function everything(pages: readonly PageRef[]): readonly Picture[] {
  return pages.flatMap(([name, path]) =>
    (['light', 'dark'] as const).flatMap((theme) =>
      SIZES.map((size) => ({ name: `${name}-${size.width}-${theme}`, path, theme, size })),
    ),
  );
}

async function takeAll(from: Browser, pictures: readonly Picture[], target: string): Promise<void> {
  mkdirSync(target, { recursive: true });
  const context = await from.newContext({ locale: 'en-GB', timezoneId: 'Europe/Berlin', reducedMotion: 'reduce' });
  const page = await context.newPage();
  await followLink(page, signInLink(server.address, ADMIN_KEY));
  await page.getByRole('heading', { level: 1 }).waitFor();
  for (const { name, path, theme, size } of pictures) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme: theme });
    await page.goto(`${server.address}${path}`);
    await page.getByRole('heading').first().waitFor();
    await page.waitForLoadState('networkidle').catch(() => undefined);
    writeFileSync(join(target, `${name}.webp`), await shoot(page));
  }
}

/** As WebP, which takes a third of the bytes of PNG. */
async function shoot(page: Page): Promise<Buffer> {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
  await session.detach();
  return Buffer.from(data, 'base64');
}
