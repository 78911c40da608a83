/** Chromium from npm: one browser for all tests, one page for each. */

import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, type Page, chromium as playwright } from 'playwright-core';
import { isFullTier } from '../support/scenario.ts';

const PICTURES = new URL('./pictures/', import.meta.url).pathname;
/** Far beyond what a page takes on a busy machine. */
const WAIT_MAX_MS = 60_000;
export const DESK = { width: 1280, height: 800 };

export type TestPage = {
  readonly page: Page;
  /** Exceptions, console errors and policy violations. */
  readonly complaints: readonly string[];
  /** Requested addresses of other origins. */
  readonly foreignRequests: readonly string[];
  /** Runs `act` without a network. Failed requests are not complaints then. */
  whileAway(act: () => Promise<void>): Promise<void>;
  close(): Promise<void>;
};

/** Whose browser it is. */
export type Reader = { readonly locale: string; readonly timezoneId?: string };

export async function launchBrowser(): Promise<Browser> {
  // With this variable set, the package unpacks libraries that the machine may lack for Chromium.
  process.env.AWS_LAMBDA_JS_RUNTIME ??= 'nodejs22.x';
  const { default: chromium } = await import('@sparticuz/chromium');
  const executablePath = await chromium.executablePath();
  const libraries = join(tmpdir(), 'al2023', 'lib');
  return playwright.launch({
    executablePath,
    // The package's own list would switch off web protections that these tests need.
    args: ['--no-sandbox', '--headless=shell', '--font-render-hinting=none'],
    env: { ...process.env, LD_LIBRARY_PATH: [libraries, process.env.LD_LIBRARY_PATH ?? ''].join(':') },
  });
}

/** A browser of its own: its pages share cookies. Animations would draw frames that no test sees. */
export async function openContext(
  browser: Browser,
  address: string,
  reader: Reader = { locale: 'en-GB' },
): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: DESK, reducedMotion: 'reduce', ...reader });
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: address });
  return context;
}

export async function openPage(context: BrowserContext, address: string): Promise<TestPage> {
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MAX_MS);
  const complaints: string[] = [];
  const foreignRequests: string[] = [];
  let isAway = false;
  let wasAway = false;
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    // The page shows refused requests, so their console errors are expected.
    if (isAway && /net::ERR_/.test(message.text())) return;
    // It may be told of after the network has come back.
    if (wasAway && message.text().includes('net::ERR_INTERNET_DISCONNECTED')) return;
    if (message.type() === 'error' && !/the server responded with a status of 4\d\d/.test(message.text()))
      complaints.push(message.text());
  });
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    // A blob is made by the page itself.
    if (
      !request
        .url()
        .replace(/^blob:/, '')
        .startsWith(`${address}/`)
    )
      foreignRequests.push(request.url());
  });
  const whileAway = async (act: () => Promise<void>) => {
    [isAway, wasAway] = [true, true];
    await context.setOffline(true);
    await act();
    await context.setOffline(false);
    isAway = false;
  };
  return { page, complaints, foreignRequests, whileAway, close: () => page.close() };
}

/** Saves a screenshot for review, in the full tier only: no test judges it. Git ignores the folder. */
export async function takePicture(page: Page, name: string): Promise<void> {
  if (!isFullTier) return;
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`) });
}

/** Opens the page of a link with a session of its key, which takes less time than the form that offers it. */
export async function openSignedIn(page: Page, link: string): Promise<void> {
  const { origin, pathname, search, hash } = new URL(link);
  const headers = { 'x-auth-token': hash.slice('#key='.length) };
  const answer = await fetch(`${origin}/api/auth/session`, { method: 'POST', headers });
  const [cookie = ''] = answer.headers.getSetCookie();
  const [, name, value] = /^([^=]+)=([^;]+)/.exec(cookie) ?? [];
  if (name === undefined || value === undefined) throw new Error(`no session: ${await answer.text()}`);
  await page.context().addCookies([{ name, value, url: origin }]);
  await page.goto(origin + pathname + search);
}

/** Opens a link with a key in a tab without one, and agrees to sign in. */
export async function followLink(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** The link of a first start. */
export function signInLink(address: string, key: string, path = '/'): string {
  return `${address}${path}#key=${key}`;
}
