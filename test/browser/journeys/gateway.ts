import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { callRest } from '../../support/surfaces.ts';
import { signInLink } from '../browser.ts';
import { choose } from '../choose.ts';
import { post, report } from '../gateway-calls.ts';
import { checkPage, openFromMenu } from '../page-checks.ts';
import { send, shopTrace } from '../sent-traces.ts';
import type { Stage, TestProject } from '../stage.ts';

const PROVIDER_KEY = 'sk-of-the-house-0123456789WXYZ';

export function useGateway(stage: Stage): void {
  describe('the gateway', () => {
    it('gets a provider that is tested, and a virtual key whose secret is shown once', () =>
      stage.visit(async ({ page }) => {
        const models = await startModels();
        try {
          const project = await stage.makeProject('Calling shop');
          await post(project, '/api/evaluators', project.projectKey, {
            name: 'No secrets',
            config: { evaluatorType: 'langevals/exact_match', settings: {} },
          });
          await makeProvider(stage, page, models);
          await post(project, '/api/gateway/v1/model-providers', stage.app.adminKey, {
            name: 'Spare models',
            kind: 'openai_compatible',
            base_url: models.url,
          });
          const { id, secret } = await makeKey(project, page);
          await changeKey(stage, page, id);
          await seeRequests(stage, page, { project, id });
          await endKey(page, secret);
          await deleteProvider(page);
        } finally {
          models.server.close();
        }
      }));
  });
}

type Models = { readonly server: Server; readonly url: string; readonly keys: (string | undefined)[] };

/** Lists two models for the key of the house alone. */
async function startModels(): Promise<Models> {
  const keys: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    keys.push(request.headers.authorization);
    const isKnown = request.headers.authorization === `Bearer ${PROVIDER_KEY}`;
    response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isKnown ? { data: [{ id: 'small' }, { id: 'large' }] } : { error: {} }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, keys };
}

async function makeProvider(stage: Stage, page: Page, models: Models): Promise<void> {
  const { address, adminKey } = stage.app;
  await openFromMenu(page, signInLink(address, adminKey), 'Model providers');
  // Other journeys have providers and keys of their own.
  await page.getByRole('link', { name: 'New provider' }).click();
  await choose(page.getByLabel('Kind'), 'Compatible with OpenAI');
  await page.getByLabel('Name', { exact: true }).fill('House models');
  await page.getByLabel('Base URL').fill('http://10.0.0.1/v1');
  await page.getByLabel('Model aliases').fill('fast');
  await page.getByText('“fast” does not have the form “name = model”.').waitFor();
  await page.getByLabel('Model aliases').fill('fast = small');
  await page.getByRole('button', { name: 'Create the provider' }).click();
  // The problem is told beside its field, and to those who hear the page.
  await page.getByRole('alert').waitFor();
  expect(await page.getByLabel('Base URL').getAttribute('aria-invalid')).toBe('true');
  expect(await page.evaluate<string>('document.activeElement.value')).toBe('http://10.0.0.1/v1');
  await checkPage(page, 'provider-refused');
  await page.getByLabel('Base URL').fill(models.url);
  await page.getByRole('button', { name: 'Create the provider' }).click();
  await page.getByRole('heading', { level: 1, name: 'House models' }).waitFor();
  await page.getByRole('button', { name: 'Test', exact: true }).click();
  await page.getByText('It failed').waitFor();
  await page.getByLabel('API key (optional)').fill(PROVIDER_KEY);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The stored key ends with WXYZ.').waitFor();
  expect(await page.getByLabel('API key (optional)').inputValue()).toBe('');
  await page.getByRole('button', { name: 'Test', exact: true }).click();
  await page.getByText('small, large').waitFor();
  expect(models.keys.at(-1)).toBe(`Bearer ${PROVIDER_KEY}`);
  await page.getByRole('button', { name: 'Disable' }).click();
  await page.getByText('disabled', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Enable' }).click();
  await page.getByText('enabled', { exact: true }).waitFor();
  await checkPage(page, 'provider');
  expect(await page.content()).not.toContain(PROVIDER_KEY);
  await page.getByRole('main').getByRole('link', { name: 'Model providers' }).click();
  await page.getByRole('link', { name: 'New provider' }).click();
  await choose(page.getByLabel('Kind'), 'Compatible with OpenAI');
  await page.getByLabel('Name', { exact: true }).fill('House models');
  await page.getByLabel('Base URL').fill(models.url);
  await page.getByRole('button', { name: 'Create the provider' }).click();
  await page.locator('[aria-invalid]:focus').waitFor();
  expect(await page.getByLabel('Name', { exact: true }).getAttribute('aria-invalid')).toBe('true');
}

type MadeKey = { readonly id: string; readonly secret: string };

async function makeKey({ address, name }: TestProject, page: Page): Promise<MadeKey> {
  await page.getByRole('link', { name: 'Virtual keys', exact: true }).click();
  await page.getByRole('link', { name: 'New virtual key' }).click();
  await page.getByLabel('Name', { exact: true }).fill('checkout');
  await choose(page.getByLabel('Project', { exact: true }).last(), name);
  await page.getByLabel('Models allowed').fill('small\ngpt-5*');
  await choose(page.getByLabel('Providers', { exact: true }).last(), 'House models');
  await choose(page.getByLabel('Then'), 'Spare models');
  await page.getByRole('button', { name: 'Try Spare models earlier' }).click();
  await page.getByText('1. Spare models').waitFor();
  await page.getByRole('group', { name: 'Judge the answer' }).getByLabel('No secrets').check();
  await page.getByLabel('Requests a minute').fill('600');
  await page.getByLabel('Metadata (optional)').fill('shop');
  await page.getByText('This is not a JSON object').waitFor();
  await page.getByLabel('Metadata (optional)').fill('{"shop": 7}');
  await checkPage(page, 'new-virtual-key');
  await page.getByRole('button', { name: 'Create the key' }).click();
  await page.getByText('It will not be shown again').waitFor();
  const secret = (await page.getByRole('dialog').locator('pre').first().textContent()) ?? '';
  expect(secret).toMatch(/^vk-lw-/);
  await page.getByRole('button', { name: 'Anthropic' }).click();
  await page.getByText(`baseURL: '${address}'`).waitFor();
  await page.getByRole('button', { name: 'OpenAI, Python' }).click();
  await page.getByText(`base_url="${address}/v1"`).waitFor();
  await checkPage(page, 'virtual-key-secret');
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByRole('heading', { level: 1, name: 'checkout' }).waitFor();
  const kept = await page.evaluate<string>('location.href + JSON.stringify({ ...sessionStorage, ...localStorage })');
  expect(kept).not.toContain(secret);
  expect(await page.content()).not.toContain(secret);
  return { id: new URL(page.url()).pathname.split('/').at(-1) ?? '', secret };
}

async function changeKey(stage: Stage, page: Page, id: string): Promise<void> {
  const part = page.getByRole('navigation', { name: 'Parts of the key' });
  await part.getByText('Settings').click();
  expect(await page.getByLabel('Requests a minute').inputValue()).toBe('600');
  const path = `/api/gateway/v1/virtual-keys/${id}`;
  const headers = { 'x-auth-token': stage.app.adminKey };
  const changed = await callRest(stage.app.address, { verb: 'PATCH', path, headers, body: { description: 'Pays' } });
  expect(changed.status).toBe(200);
  await page.getByLabel('Requests a minute').fill('');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The key has changed since this form was opened').waitFor();
  await checkPage(page, 'virtual-key-stale');
  await page.getByRole('button', { name: 'Load what is stored' }).click();
  await page.getByText('The key has changed since this form was opened').waitFor({ state: 'detached' });
  expect(await page.getByLabel('Description (optional)').inputValue()).toBe('Pays');
  await page.getByLabel('Requests a minute').fill('');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  const { body } = await callRest(stage.app.address, { path, headers });
  const { description, metadata, config } = body.virtual_key;
  expect({ description, metadata }).toEqual({ description: 'Pays', metadata: { shop: 7 } });
  expect(config.rate_limits).toEqual({ rpm: null, tpm: null, rpd: null });
  expect([config.models_allowed, config.providers.length]).toEqual([['small', 'gpt-5*'], 2]);
  expect(config.guardrails).toEqual({ pre: [], post: [expect.any(String)] });
  await page.getByText('1. Spare models').waitFor();
}

type UsedKey = { readonly project: TestProject; readonly id: string };

async function seeRequests(stage: Stage, page: Page, { project, id }: UsedKey): Promise<void> {
  const nowMs = Date.now();
  const part = page.getByRole('navigation', { name: 'Parts of the key' });
  await send(project, { ...shopTrace(904, nowMs), trace_id: 'without-key' });
  await send(project, { ...shopTrace(905, nowMs), trace_id: 'by-key', metadata: { virtual_key_id: id } });
  await report(stage, { project_id: project.id, virtual_key_id: id, model: 'small', cost_usd: '1.25' });
  await page.getByRole('link', { name: 'Spend' }).click();
  await choose(page.getByLabel('Group by'), 'Virtual key');
  await page.getByRole('link', { name: 'checkout' }).click();
  await page.getByRole('row', { name: /^small 1 0 0 .*\$1\.25$/ }).waitFor();
  await page.getByRole('link', { name: 'all 1 of them' }).waitFor();
  await checkPage(page, 'virtual-key');
  await page.getByRole('link', { name: 'all 1 of them' }).click();
  await page.getByRole('row', { name: /customer/ }).waitFor();
  await page.goBack();
  await part.getByText('Connect').click();
  await page.getByRole('button', { name: 'Vercel AI SDK' }).click();
  await page.getByText('gateway("small")').waitFor();
  await part.getByText('Budgets').click();
  await page.getByRole('heading', { name: 'No budget here' }).waitFor();
  await page.getByRole('link', { name: 'New budget of this key' }).click();
  expect(await page.getByLabel('Id of the virtual key').inputValue()).toBe(id);
  await page.getByLabel('Name', { exact: true }).fill('Of checkout');
  await page.getByLabel('Limit per period, USD').fill('10');
  await page.getByRole('button', { name: 'Create the budget' }).click();
  await page.getByRole('link', { name: 'All budgets of this scope' }).click();
  await page.getByRole('button', { name: `Remove Scope ${id}` }).waitFor();
  await page.getByRole('link', { name: 'Of checkout' }).click();
  await page.getByRole('link', { name: 'The virtual key' }).click();
  await part.getByText('Budgets').click();
  await page.getByRole('row', { name: /^Of checkout .* \$10\.00 \$0 \$0 \$10\.00/ }).waitFor();
}

async function endKey(page: Page, before: string): Promise<void> {
  const close = () => page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Rotate' }).click();
  await choose(page.getByLabel('The current secret ends'), 'In an hour');
  await page.getByRole('button', { name: 'Make a new secret' }).click();
  const secret = (await page.getByRole('dialog').locator('pre').first().textContent()) ?? '';
  expect(secret).toMatch(/^vk-lw-/);
  expect(secret).not.toBe(before);
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByText('Secret before ends').waitFor();
  await page.getByRole('button', { name: 'Disable' }).click();
  await page.getByLabel('Reason (optional)').fill('a leak');
  await page.getByRole('button', { name: 'Disable it' }).click();
  await close();
  await page.getByText('disabled', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Enable' }).click();
  await page.getByRole('button', { name: 'Enable it' }).click();
  await close();
  await page.getByRole('button', { name: 'Revoke' }).click();
  await page.getByLabel('Type revoke to confirm').fill('revoke');
  await page.getByRole('button', { name: 'Revoke permanently' }).click();
  await close();
  await page.getByText('revoked', { exact: true }).waitFor();
  expect(await page.getByRole('button', { name: 'Rotate' }).count()).toBe(0);
  await page.getByRole('main').getByRole('link', { name: 'Virtual keys' }).click();
  await page.getByRole('row', { name: /^checkout revoked vk-lw-/ }).waitFor();
  await checkPage(page, 'virtual-keys');
}

async function deleteProvider(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Model providers' }).click();
  await page.getByRole('row', { name: /House models/ }).waitFor();
  await checkPage(page, 'providers');
  await page.getByRole('link', { name: 'House models' }).click();
  await page.getByRole('button', { name: 'Delete the provider' }).click();
  await page.getByLabel('Type delete to confirm').fill('delete');
  await page.getByRole('button', { name: 'Delete permanently' }).click();
  await page.getByRole('row', { name: /Spare models/ }).waitFor();
  await page.getByRole('row', { name: /House models/ }).waitFor({ state: 'detached' });
}
