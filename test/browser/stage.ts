/** One browser and one server, with a project that has traces, for journeys that go side by side. */

import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { callRest } from '../support/surfaces.ts';
import { launchBrowser, openPage, type TestPage } from './browser.ts';
import { sendShop } from './sent-traces.ts';

/** Where traces are sent to, and what leads to it. */
export type TestProject = {
  readonly address: string;
  readonly projectKey: string;
  readonly id: string;
  readonly name: string;
  readonly slug: string;
};

export type Stage = {
  readonly app: TestApp;
  /** Has 130 traces, and never one more: journeys that send traces make a project of their own. */
  readonly shop: TestProject;
  makeProject(name: string): Promise<TestProject>;
  makeKey(): Promise<{ readonly token: string; readonly id: string }>;
  /** A page of one's own. Fails when the browser complained, or when anybody but the server was asked for anything. */
  visit(act: (tab: TestPage) => Promise<void>, options?: BrowserContextOptions): Promise<void>;
};

/** Two processors are as busy with three as with more, and each gets on. */
const VISITS_AT_ONCE = 3;
export const SHOP_TRACES = 130;

/** To be called once in a file; what it answers can be used by the tests. */
export function openStage(): Stage {
  let browser: Browser;
  let app: TestApp;
  let shop: TestProject;
  const turns = createTurns(VISITS_AT_ONCE);
  beforeAll(async () => {
    [browser, app] = await Promise.all([
      launchBrowser(),
      startApp({ environment: { SPANDREL_WEBHOOK_ALLOW: '127.0.0.1' } }),
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
    async visit(act, options = {}) {
      const end = await turns.take();
      const tab = await openPage(browser, app.address, options);
      try {
        await act(tab);
        expect(tab.complaints).toEqual([]);
        expect(tab.strangers).toEqual([]);
      } finally {
        await tab.close();
        end();
      }
    },
  };
}

function createTurns(max: number) {
  const waiting: (() => void)[] = [];
  let taken = 0;
  return {
    /** Resolves when it is one's turn, to what ends it. */
    async take(): Promise<() => void> {
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
