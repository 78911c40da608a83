/** Chromium as npm brings it: one for all tests, and a context of its own for each. */

import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, type Page, chromium as playwright } from 'playwright-core';

const PICTURES = new URL('./pictures/', import.meta.url).pathname;
const WAIT_MAX_MS = 15_000;

export type TestPage = {
  readonly page: Page;
  /** What the browser complained of: exceptions, errors on the console, refusals of the policy of the page. */
  readonly complaints: readonly string[];
  /** Addresses of other origins that were asked for anything. */
  readonly strangers: readonly string[];
  close(): Promise<void>;
};

export async function launchBrowser(): Promise<Browser> {
  // By this variable the package tells that the machine may lack the libraries that Chromium needs, and unpacks them.
  process.env.AWS_LAMBDA_JS_RUNTIME ??= 'nodejs22.x';
  const { default: chromium } = await import('@sparticuz/chromium');
  const executablePath = await chromium.executablePath();
  const libraries = join(tmpdir(), 'al2023', 'lib');
  return playwright.launch({
    executablePath,
    // The package's own list switches protections of the web off, which these tests are to see at work.
    args: ['--no-sandbox', '--headless=shell', '--font-render-hinting=none'],
    env: { ...process.env, LD_LIBRARY_PATH: [libraries, process.env.LD_LIBRARY_PATH ?? ''].join(':') },
  });
}

export async function openPage(
  browser: Browser,
  address: string,
  options: BrowserContextOptions = {},
): Promise<TestPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB', ...options });
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: address });
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MAX_MS);
  const complaints: string[] = [];
  const strangers: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    // A refusal that the page shows is no complaint.
    if (message.type() === 'error' && !/the server responded with a status of 4\d\d/.test(message.text()))
      complaints.push(message.text());
  });
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(`${address}/`)) strangers.push(request.url());
  });
  return { page, complaints, strangers, close: () => context.close() };
}

/** For people to look at; git leaves the folder out. */
export async function takePicture(page: Page, name: string): Promise<void> {
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`) });
}

/** The link of a first start. */
export function signInLink(address: string, key: string, path = '/'): string {
  return `${address}${path}#key=${key}`;
}
