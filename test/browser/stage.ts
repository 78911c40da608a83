/** One browser and one server, with a project that has traces, for concurrent journeys. */

import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { callRest } from '../support/surfaces.ts';
import { launchBrowser, openContext, openPage, type Reader, type TestPage } from './browser.ts';
import { sendShop } from './sent-traces.ts';

/** A project that receives traces. */
export type TestProject = {
  readonly address: string;
  readonly projectKey: string;
  readonly id: string;
  readonly name: string;
  readonly slug: string;
};

export type Stage = {
  readonly browser: Browser;
  readonly app: TestApp;
  /** Always has 130 traces: journeys that send traces create their own project. */
  readonly shop: TestProject;
  makeProject(name: string): Promise<TestProject>;
  makeKey(): Promise<{ readonly token: string; readonly id: string }>;
  /** Presses a button that copies, and returns the text. All pages of a browser share one clipboard. */
  copy(button: Locator): Promise<string>;
  /** Runs `act` on a new page. Fails on browser errors and on requests to other origins. */
  visit(act: (tab: TestPage) => Promise<void>, reader?: Reader): Promise<void>;
};

/** More concurrent visits would not finish faster on two processors. */
const VISITS_AT_ONCE = 3;
export const SHOP_TRACES = 130;

/** Call once per test file. */
export function openStage(): Stage {
  let browser: Browser;
  let app: TestApp;
  let shop: TestProject;
  const permits = createSemaphore(VISITS_AT_ONCE);
  const clipboard = createSemaphore(1);
  beforeAll(async () => {
    [browser, app] = await Promise.all([
      launchBrowser(),
      startApp({ environment: { SPANDREL_WEBHOOK_ALLOW: '127.0.0.1', SPANDREL_GATEWAY_ALLOW: '127.0.0.1' } }),
    ]);
    const { address, projectKey, projectId } = app;
    const { body } = await callRest(address, { path: `/api/projects/${projectId}`, headers: asAdmin() });
    shop = { address, projectKey, id: projectId, name: body.name, slug: body.slug };
    await sendShop(app, Date.now(), SHOP_TRACES);
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });
  const asAdmin = () => ({ 'x-auth-token': app.adminKey });
  const post = async (path: string, body: object) => {
    const answer = await callRest(app.address, { verb: 'POST', path, body, headers: asAdmin() });
    if (answer.status >= 300) throw new Error(`refused: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  return {
    get browser() {
      return browser;
    },
    get app() {
      return app;
    },
    get shop() {
      return shop;
    },
    async makeProject(name) {
      const { id, slug, apiKey } = await post('/api/projects', { name });
      return { address: app.address, projectKey: apiKey, id, name, slug };
    },
    makeKey: () => post('/api/api-keys', { name: 'visitor', keyType: 'service' }),
    async copy(button) {
      const release = await clipboard.acquire();
      try {
        await button.click();
        await button.page().getByText('Copied').waitFor();
        return await button.page().evaluate<string>('navigator.clipboard.readText()');
      } finally {
        release();
      }
    },
    async visit(act, reader) {
      const release = await permits.acquire();
      // Its tabs share a session, other visits have their own.
      const context = await openContext(browser, app.address, reader);
      const tab = await openPage(context, app.address);
      try {
        await act(tab);
        expect(tab.complaints).toEqual([]);
        expect(tab.foreignRequests).toEqual([]);
      } finally {
        await context.close();
        release();
      }
    },
  };
}

function createSemaphore(max: number) {
  const waiting: (() => void)[] = [];
  let taken = 0;
  return {
    /** Resolves with the function that releases the permit. */
    async acquire(): Promise<() => void> {
      if (taken >= max) await new Promise<void>((resolve) => void waiting.push(resolve));
      else taken += 1;
      return () => {
        const next = waiting.shift();
        if (next) next();
        else taken -= 1;
      };
    },
  };
}
