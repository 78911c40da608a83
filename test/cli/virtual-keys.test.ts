import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { type CliOutcome, runCli } from './run-cli.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ environment: { SPANDREL_GATEWAY_ALLOW: '127.0.0.1' } });
});
afterAll(async () => {
  await app.close();
});

function run(...args: readonly string[]): Promise<CliOutcome> {
  const provider = { KEY_OF_PROVIDER: 'sk-of-the-provider-1234' };
  return runCli(args, { SPANDREL_URL: app.address, SPANDREL_ADMIN_KEY: app.adminKey, ...provider });
}

/** What a command prints when all goes well. */
async function printed(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(...args);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  return stdout;
}

const field = (text: string, name: string) => new RegExp(`^${name} +(\\S.*)$`, 'm').exec(text)?.[1] ?? '';

it('a virtual key is minted, rotated, stopped and revoked from the command line', async () => {
  const args = ['--name', 'shop', '--project', app.projectId, '--model', 'gpt-5*', '--rpm', '60', '--expires', '30d'];
  const created = await printed('virtual-keys', 'create', ...args);
  const id = field(created, 'id');
  expect(field(created, 'secret')).toMatch(/^vk-lw-[0-9A-Z]{26}$/);
  const [listed] = JSON.parse(await printed('virtual-keys', 'list', '--json')).data;
  expect(listed).toMatchObject({ id, config: { models_allowed: ['gpt-5*'], rate_limits: { rpm: 60 } } });
  const rotated = await printed('virtual-keys', 'rotate', id, '--overlap', '0');
  expect(field(rotated, 'secret')).not.toBe(field(created, 'secret'));
  expect(await printed('virtual-keys', 'disable', id, '--reason', 'a test')).toMatch(/ disabled +shop /);
  expect(await printed('virtual-keys', 'enable', id)).toMatch(/ active +shop /);
  expect(await printed('virtual-keys', 'revoke', id)).toMatch(/ revoked +shop /);
  const again = await run('virtual-keys', 'revoke', id);
  expect(again.stderr).toMatch(/^spandrel: The virtual key is revoked.*\(virtual_key_already_revoked\)\n$/);
});

it('a virtual key is minted with a budget', async () => {
  const args = ['virtual-keys', 'create', '--name', 'limited', '--project', app.projectId];
  const limits = ['--budget-limit', '12.50', '--budget-window', 'day', '--budget-warn'];
  const created = await printed(...args, ...limits);
  const { data } = JSON.parse(await printed('budgets', 'list', '--json'));
  expect(data).toMatchObject([
    {
      ...{ id: field(created, 'budget'), name: 'limited', window: 'day', limit_usd: '12.5', on_breach: 'warn' },
      scope: { kind: 'virtual_key', id: field(created, 'id') },
    },
  ]);
  const { stderr } = await run(...args, '--budget-limit', 'much', '--budget-window', 'day');
  expect(stderr).toContain('budget.limit_usd must be a decimal number above 0');
});

it('a secret in place of an id is not sent', async () => {
  const created = await printed('virtual-keys', 'create', '--name', 'mistaken', '--project', app.projectId);
  const secret = field(created, 'secret');
  const { code, stderr } = await run('virtual-keys', 'revoke', secret);
  expect(code).toBe(1);
  expect(stderr).toContain('a token was given where the id of a virtual key belongs');
  expect(stderr).not.toContain(secret.slice(-26));
});

it('a model provider is made with a key from the environment, tested and deleted', async () => {
  const args = ['--name', 'local', '--kind', 'openai_compatible', '--base-url', 'http://127.0.0.1:1/v1'];
  const created = await printed('model-providers', 'create', ...args, '--api-key-from', 'KEY_OF_PROVIDER');
  const [, id = ''] = /^(modelprovider_\w+) +local +openai_compatible +\S+ +1234 +true$/m.exec(created) ?? [];
  expect(await printed('model-providers', 'test', id)).toBe('failed: The provider refuses the connection.\n');
  expect(await printed('model-providers', 'list')).toContain(id);
  expect(await printed('model-providers', 'delete', id)).toBe(`deleted ${id}\n`);
  expect(await printed('model-providers', 'list')).not.toContain(id);
  const { code, stderr } = await run('model-providers', 'create', ...args, '--api-key-from', 'UNSET_VARIABLE');
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'spandrel: the variable that --api-key-from names holds no API key\n',
  });
});

it.each([
  ['virtual-keys'],
  ['virtual-keys', 'create', '--name', 'x'],
  ['virtual-keys', 'create', '--name', 'x', '--project', 'p', '--budget-limit', '1'],
  ['virtual-keys', 'rotate'],
  ['virtual-keys', 'rotate', 'vk_1', '--overlap', 'soon'],
  ['model-providers'],
  ['model-providers', 'create', '--name', 'x'],
  ['model-providers', 'test'],
])('%s %s is refused with what it takes', async (...args) => {
  const { code, stderr } = await run(...args);
  expect(code).toBe(1);
  expect(stderr).toMatch(new RegExp(`^spandrel: ${args[0]}.*\nRun spandrel ${args[0]} --help.\n$`));
});
