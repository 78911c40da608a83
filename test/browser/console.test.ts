/** The console in a real browser, against a real server. Journeys share the browser; those of pages that judge, sum up and set are in pages.test.ts. */

import { gzipSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { startReceiver } from '../support/receiver.ts';
import { callRest } from '../support/surfaces.ts';
import { findBarriers } from './axe.ts';
import { launchBrowser, openPage, signInLink, type TestPage, takePicture } from './browser.ts';
import { longTrace, send, sendShop, shopTrace } from './sent-traces.ts';

let browser: Browser;
let app: TestApp;
let tab: TestPage;

beforeAll(async () => {
  [browser, app] = await Promise.all([
    launchBrowser(),
    startApp({ environment: { SPANDREL_WEBHOOK_ALLOW: '127.0.0.1' } }),
  ]);
  await sendShop(app, Date.now(), 130);
});
afterAll(async () => {
  await browser?.close();
  await app?.close();
});

beforeEach(async () => {
  tab = await openPage(browser, app.address);
});
afterEach(async () => {
  const { complaints, strangers } = tab;
  await tab.close();
  expect(complaints).toEqual([]);
  expect(strangers).toEqual([]);
});

async function mintKey(): Promise<{ token: string; id: string }> {
  const body = { name: 'visitor', keyType: 'service' };
  const headers = { 'x-auth-token': app.adminKey };
  const { body: made } = await callRest(app.address, { verb: 'POST', path: '/api/api-keys', body, headers });
  return made;
}

const slug = async () => new URL(tab.page.url()).pathname.split('/')[1] ?? '';

describe('signing in', () => {
  it('the link of a first start signs in, and its key stands in no address afterwards', async () => {
    const { page } = tab;
    await page.goto(signInLink(app.address, app.adminKey));
    await page.getByRole('heading', { name: 'Traces' }).waitFor();
    expect(page.url()).not.toContain(app.adminKey.slice(10));
    await page.reload();
    await page.getByRole('heading', { name: 'Traces' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in with a key' }).waitFor();
    expect(
      await page.evaluate('JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie])'),
    ).not.toContain('sk-lw-');
  });

  it('the key of a project signs in too, and a wrong one is told why not', async () => {
    const { page } = tab;
    await page.goto(`${app.address}/`);
    await page.getByLabel('Key').fill(`${app.projectKey.slice(0, -1)}x`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('The key is not accepted').waitFor();
    await page.getByLabel('Key').fill(app.projectKey);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Traces' }).waitFor();
    expect(await page.getByRole('heading', { name: 'Organization' }).count()).toBe(0);
  });
});

describe('the first page', () => {
  it('needs at most 250 KB of scripts, packed', async () => {
    const { page } = tab;
    const scripts: Promise<Buffer>[] = [];
    page.on('response', (response) => {
      if (response.url().endsWith('.js')) scripts.push(response.body());
    });
    await page.goto(signInLink(app.address, app.projectKey));
    await page
      .getByRole('row', { name: /customer/ })
      .first()
      .waitFor();
    const bytes = (await Promise.all(scripts)).map((script) => gzipSync(script).length);
    expect(bytes.length).toBeGreaterThan(1);
    expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(250_000);
  });
});

describe('traces', () => {
  it('the first trace of a project appears by itself', async () => {
    const empty = await startApp();
    const first = await openPage(browser, empty.address);
    try {
      const { page } = first;
      await page.goto(signInLink(empty.address, empty.projectKey));
      await page.getByText('Waiting for the first trace').waitFor();
      await page.getByRole('button', { name: 'Copy' }).first().click();
      await page.getByText('Copied').waitFor();
      const shell = await page.evaluate<string>('navigator.clipboard.readText()');
      expect(shell).toContain(`-H 'X-Auth-Token: ${empty.projectKey}'`);
      expect(await page.content()).not.toContain(empty.projectKey);
      await takePicture(page, 'first-trace');
      await send(
        empty,
        JSON.parse(/-d '(\{.*\})'$/s.exec(shell)?.[1]?.replaceAll(/'\$now'/g, String(Date.now())) ?? ''),
      );
      await page.getByRole('link', { name: 'Open it' }).click();
      await page.getByRole('treeitem', { name: /answer/ }).click();
      await page.getByText('from the price list').waitFor();
      expect(first.complaints).toEqual([]);
    } finally {
      await first.close();
      await empty.close();
    }
  });

  it('a slow trace is found, and its costliest span says where its price comes from', async () => {
    const { page } = tab;
    await page.goto(signInLink(app.address, app.projectKey));
    await page.getByRole('button', { name: 'Duration' }).click();
    await page
      .getByRole('row', { name: /research the order/ })
      .first()
      .waitFor();
    await takePicture(page, 'traces');
    await page.getByRole('link', { name: 'research the order' }).click();
    await page.getByRole('button', { name: 'Costliest span' }).click();
    await page.getByRole('heading', { name: 'write the answer' }).waitFor();
    await page.getByText('from the price list').waitFor();
    expect(new URL(page.url()).searchParams.get('span')).toBe('write-65');
    await takePicture(page, 'trace');
    await page.reload();
    await page.getByRole('heading', { name: 'write the answer' }).waitFor();
  });

  it('filters stand in the address and as chips, and each can be taken away', async () => {
    const { page } = tab;
    await page.goto(signInLink(app.address, app.projectKey));
    await page.getByLabel('Find traces').fill('parcel user:user-3 error:false');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Remove User user-3' }).waitFor();
    const shown = page.getByRole('status').filter({ hasText: 'shown' });
    await shown.filter({ hasNotText: 'of 130' }).waitFor();
    const filtered = await shown.textContent();
    await page.reload();
    await shown.filter({ hasText: filtered ?? '' }).waitFor();
    await page.getByRole('button', { name: 'Remove User user-3' }).click();
    await page.getByRole('button', { name: 'Remove Failed false' }).click();
    await page.getByLabel('Find traces').fill('');
    await shown.filter({ hasText: 'of 130' }).waitFor();
    await page.getByRole('button', { name: 'Add filter' }).click();
    await page.getByLabel('Value').fill('gpt-5');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('button', { name: 'Remove Model gpt-5' }).waitFor();
    expect(new URL(page.url()).searchParams.get('q')).toBe('model:gpt-5');
  });

  it('live, a new trace stands at the top without a reload', async () => {
    const { page } = tab;
    await page.goto(signInLink(app.address, app.projectKey));
    await page.getByLabel('Live').check();
    await send(app, { ...shopTrace(900, Date.now()), trace_id: 'fresh', metadata: {} });
    await page.locator('[aria-rowindex="2"]').getByRole('link').and(page.locator('[href$="/fresh"]')).waitFor();
  });

  it('of ten thousand spans only those in sight are drawn, and the last is a moment away', async () => {
    const { page } = tab;
    await send(app, longTrace('long', 10_000, Date.now() - 20_000));
    await page.goto(signInLink(app.address, app.projectKey));
    await page.getByRole('heading', { name: 'Traces' }).waitFor();
    await page.goto(`${app.address}/${await slug()}/traces/long`);
    const tree = page.getByRole('tree');
    await page.getByRole('treeitem', { name: 'step 9', exact: false }).first().waitFor();
    expect(await page.getByRole('treeitem').count()).toBeLessThan(100);
    await tree.focus();
    for (let press = 0; press < 30; press += 1) await page.keyboard.press('j');
    expect(new URL(page.url()).searchParams.get('span')).toMatch(/^step-/);
    await tree.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await page.getByRole('treeitem', { name: /step 9999/ }).waitFor();
  });
});

describe('the project', () => {
  it('has an overview, of which each figure leads to the traces behind it', async () => {
    const { page } = tab;
    await page.goto(signInLink(app.address, app.projectKey));
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('img', { name: /Cost over time/ }).waitFor();
    await page.getByLabel('Figure').selectOption('latency');
    await page.getByRole('img', { name: /Duration, p95 over time/ }).waitFor();
    await takePicture(page, 'overview');
    await page.getByRole('link', { name: 'claude-sonnet-4-5' }).waitFor();
    await page.getByRole('link', { name: /^Failed/ }).click();
    await page.getByRole('button', { name: 'Remove Failed true' }).waitFor();
    await page
      .getByRole('row', { name: /The carrier did not answer/ })
      .first()
      .waitFor();
  });

  it('is where platformUrl leads, and a thread reads as a conversation', async () => {
    const { page } = tab;
    const headers = { 'x-auth-token': app.projectKey };
    const body = { name: 'Polite', config: { evaluatorType: 'langevals/exact_match', settings: {} } };
    const saved = await callRest(app.address, { verb: 'POST', path: '/api/evaluators', body, headers });
    const trace = await callRest(app.address, { path: '/api/traces/shop-3', headers });
    await page.goto(signInLink(app.address, app.projectKey));
    await page.goto(saved.body.platformUrl);
    await page.getByRole('heading', { level: 1, name: 'Polite' }).waitFor();
    await page.goto(trace.body.platformUrl);
    await page.getByRole('treeitem', { name: /write the answer/ }).waitFor();
    await page.getByRole('link', { name: 'thread-3' }).click();
    await page.getByRole('heading', { name: 'Thread thread-3' }).waitFor();
    await page.getByText('7 traces, oldest first').waitFor();
    await takePicture(page, 'thread');
  });
});

describe('the organization', () => {
  it('gets projects and members, and the audit log says so', async () => {
    const { page } = tab;
    const pages = page.getByRole('navigation', { name: 'Pages' });
    await page.goto(signInLink(app.address, app.adminKey, '/-/projects'));
    await page.getByRole('button', { name: 'New project' }).click();
    await page.getByLabel('Name').fill('Second shop');
    await page.getByRole('button', { name: 'Make the project' }).click();
    await page.getByRole('button', { name: 'I have kept it' }).click();
    await page.getByRole('cell', { name: 'Second shop' }).waitFor();
    await page.getByLabel('Project', { exact: true }).selectOption({ label: 'Second shop' });
    await page.getByText('Waiting for the first trace').waitFor();
    await pages.getByRole('link', { name: 'Members' }).click();
    await page.getByRole('button', { name: 'Add a member' }).click();
    await page.getByLabel('E-mail').fill('ada@example.test');
    await page.getByLabel('Name').fill('Ada');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('row', { name: /ada@example.test/ }).waitFor();
    await pages.getByRole('link', { name: 'Audit log' }).click();
    await page.getByRole('cell', { name: 'member.create' }).waitFor();
    await page.getByRole('cell', { name: 'project.create' }).waitFor();
  });

  it('a key with chosen permissions does that and no more, and is refused once it is revoked', async () => {
    const { page } = tab;
    await page.goto(signInLink(app.address, app.adminKey, '/-/keys'));
    await page.getByRole('link', { name: 'New key' }).click();
    await page.getByLabel('Name', { exact: true }).fill('nightly report');
    await page.getByRole('checkbox', { name: 'traces:view' }).check();
    await page.getByRole('status').getByText('traces:view', { exact: true }).waitFor();
    await takePicture(page, 'new-key');
    await page.getByRole('button', { name: 'Make the key' }).click();
    await page.getByText('shown only this once').waitFor();
    const token = (await page.getByRole('dialog').locator('pre').textContent()) ?? '';
    await page.getByRole('button', { name: 'I have kept it' }).click();
    await page.getByRole('row', { name: /nightly report/ }).waitFor();
    const asked = () =>
      callRest(app.address, {
        verb: 'POST',
        path: '/api/traces/search',
        body: {},
        headers: { 'x-auth-token': token, 'x-project-id': app.projectId },
      });
    expect((await asked()).status).toBe(200);
    const sent = { verb: 'POST', path: '/api/collector', body: shopTrace(901, Date.now()) } as const;
    const headers = { 'x-auth-token': token, 'x-project-id': app.projectId };
    expect((await callRest(app.address, { ...sent, headers })).status).toBe(403);
    await page
      .getByRole('row', { name: /nightly report/ })
      .getByRole('button', { name: 'Revoke' })
      .click();
    const confirm = page.getByRole('button', { name: 'Revoke for good' });
    expect(await confirm.isDisabled()).toBe(true);
    await page.getByLabel('Type revoke to go on').fill('revoke');
    await confirm.click();
    await page.getByRole('row', { name: /nightly report/ }).waitFor({ state: 'detached' });
    expect((await asked()).status).toBe(401);
  });

  it('a key that is revoked while somebody looks ends the session', async () => {
    const { page } = tab;
    const { token, id } = await mintKey();
    await page.goto(signInLink(app.address, token, '/-/keys'));
    await page.getByRole('heading', { name: 'API keys' }).waitFor();
    await callRest(app.address, {
      verb: 'DELETE',
      path: `/api/api-keys/${id}`,
      headers: { 'x-auth-token': app.adminKey },
    });
    await page.getByRole('link', { name: 'Events' }).click();
    await page.getByRole('heading', { name: 'Sign in with a key' }).waitFor();
    await page.getByRole('alert').getByText('The key is not accepted').waitFor();
  });

  it('an endpoint that broke shows why, and once mended gets what it missed', async () => {
    const { page } = tab;
    const receiver = await startReceiver(() => ({ kind: 'answer', status: 500 }));
    try {
      await page.goto(signInLink(app.address, app.adminKey, '/-/webhooks'));
      await page.getByRole('button', { name: 'New endpoint' }).click();
      await page.getByLabel('URL').fill(receiver.url('/hook'));
      await page.getByRole('button', { name: 'Make the endpoint' }).click();
      expect(await page.getByRole('dialog').locator('pre').first().textContent()).toMatch(/^whsec_/);
      await page.getByRole('button', { name: 'I have kept it' }).click();
      await page.getByRole('link', { name: receiver.url('/hook') }).click();
      await page.getByRole('button', { name: 'Send a test' }).click();
      await page.getByText('Test failed').waitFor();
      await send(app, { ...shopTrace(902, Date.now()), trace_id: 'pushed' });
      await page.getByText('failed, another follows').first().waitFor();
      await takePicture(page, 'webhook-broken');
      receiver.react = () => ({ kind: 'answer', status: 204 });
      await page.getByRole('button', { name: 'Redeliver' }).first().click();
      await page.getByRole('cell', { name: 'delivered' }).first().waitFor();
      expect(receiver.of('/hook').at(-1)?.eventIds.length).toBeGreaterThan(0);
      await page.getByRole('navigation', { name: 'Parts of the endpoint' }).getByText('Replay').click();
      await page.getByRole('main').getByRole('button', { name: 'Replay' }).last().click();
      await page.getByText('completed').waitFor();
      await takePicture(page, 'webhook-replay');
      await page.getByRole('button', { name: 'Archive' }).click();
      await page.getByLabel('Type archive to go on').fill('archive');
      await page.getByRole('button', { name: 'Archive for good' }).click();
      await page.getByRole('heading', { name: 'No endpoint yet' }).waitFor();
    } finally {
      await receiver.close();
    }
  });

  it('an event of the log opens to what was pushed', async () => {
    const { page } = tab;
    await page.goto(signInLink(app.address, app.adminKey, '/-/events'));
    await page
      .getByRole('button', { name: /gateway.request.completed/ })
      .first()
      .click();
    await page.getByLabel('Search in data').waitFor();
    await page.reload();
    await page.getByLabel('Search in data').waitFor();
  });
});

describe('what people send', () => {
  it('is text, whatever is in it', async () => {
    const { page } = tab;
    const hostile = `<img src=x onerror=alert(1)><script>alert(2)</script>javascript:alert(3)\u202Etxt.exe\u001b[31mred`;
    const deep = JSON.parse(`${'{"a":'.repeat(60)}"<b>deep</b>"${'}'.repeat(60)}`);
    await send(app, {
      trace_id: 'hostile',
      metadata: { user_id: hostile, [`<b>${hostile}`]: deep },
      spans: [
        {
          type: 'llm',
          span_id: 'hostile-span',
          name: hostile,
          model: hostile,
          input: {
            type: 'chat_messages',
            value: [
              { role: '<b>user</b>', content: hostile },
              { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://elsewhere.test/x.png' } }] },
            ],
          },
          output: {
            type: 'json',
            value: { [hostile]: 'x'.repeat(900_000), list: Array.from({ length: 20_000 }, (_, index) => index) },
          },
          error: { message: hostile, stacktrace: [hostile] },
          timestamps: { started_at: Date.now(), finished_at: Date.now() },
        },
      ],
      evaluations: [{ name: hostile, passed: false, details: hostile, label: hostile }],
    });
    await page.goto(signInLink(app.address, app.projectKey));
    await page
      .getByRole('row', { name: /onerror/ })
      .getByRole('link')
      .click();
    await page.getByRole('treeitem').click();
    await page.getByLabel('Search in output').fill('19999');
    await page.getByText('1 found').waitFor();
    const text = await page.locator('main').innerText();
    expect(text).toContain('<script>alert(2)</script>javascript:alert(3)[U+202E]txt.exe[U+001B][31mred');
    expect(text).not.toMatch(/[\u202e\u001b]/);
    expect(await page.locator('main img, main script, main b, main a[href^="javascript"]').count()).toBe(0);
    expect(text.length).toBeLessThan(100_000);
    await takePicture(page, 'hostile');
  });
});

describe('people', () => {
  it('get everywhere by keyboard alone', async () => {
    const { page } = tab;
    await page.goto(signInLink(app.address, app.projectKey));
    await page
      .getByRole('row', { name: /customer/ })
      .first()
      .waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('error:false');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Remove Failed false' }).waitFor();
    await page.getByRole('table', { name: 'Traces' }).focus();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('tree').waitFor();
    await page.getByRole('tree').focus();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    expect(new URL(page.url()).searchParams.get('span')).toMatch(/^find-/);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Page or trace id' }).waitFor();
    await page.keyboard.type('trac');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Traces' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('slow-65');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'research the order' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').waitFor();
    await page.mouse.click(5, 400);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  it('meet no grave barrier, in the light and in the dark', async () => {
    const { page } = tab;
    const barriers: string[] = [];
    const look = async (name: string) => {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await takePicture(page, `${name}-${colorScheme}`);
        for (const barrier of await findBarriers(page, colorScheme))
          barriers.push(`${name}, ${colorScheme}: ${barrier}`);
      }
    };
    await page.goto(app.address);
    await page.getByLabel('Key').waitFor();
    await look('sign-in');
    await page.goto(signInLink(app.address, app.adminKey));
    await page
      .getByRole('row', { name: /customer/ })
      .first()
      .waitFor();
    await look('traces');
    await page
      .getByRole('row', { name: /Failed answer the customer/ })
      .first()
      .getByRole('link')
      .click();
    await page.getByRole('treeitem', { name: /answer the customer/ }).waitFor();
    await look('trace-whole');
    await page.getByRole('treeitem', { name: /write the answer/ }).click();
    await page.getByRole('heading', { name: 'write the answer' }).waitFor();
    await look('trace-span');
    for (const name of [
      'Overview',
      'Evaluators',
      'Webhooks',
      'Events',
      'Projects',
      'Members',
      'Audit log',
      'API keys',
    ]) {
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click();
      await page.getByRole('heading', { level: 1, name }).waitFor();
      await page.getByRole('status').filter({ hasText: 'Loading' }).waitFor({ state: 'detached' });
      await look(name.toLowerCase().replace(' ', '-'));
    }
    await page.getByRole('link', { name: 'New key' }).click();
    await page.getByRole('checkbox', { name: 'traces:view' }).waitFor();
    await look('new-key');
    expect(barriers).toEqual([]);
  });

  it('can use it on a phone', async () => {
    const phone = await openPage(browser, app.address, { viewport: { width: 390, height: 844 } });
    const { page } = phone;
    try {
      await page.goto(signInLink(app.address, app.projectKey));
      await page
        .getByRole('row', { name: /customer/ })
        .first()
        .waitFor();
      await takePicture(page, 'traces-phone');
      await page
        .getByRole('row', { name: /customer/ })
        .first()
        .getByRole('link')
        .click();
      await page.getByRole('tree').waitFor();
      await takePicture(page, 'trace-phone');
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    } finally {
      await phone.close();
    }
  });
});
