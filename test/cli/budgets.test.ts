import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { KNOWN_KEYS } from '../support/installation.ts';
import { ADMIN_KEY } from '../support/server.ts';
import { runCli } from './run-cli.ts';

let server: TestApp;
beforeAll(async () => {
  server = await startApp({ environment: KNOWN_KEYS });
});
afterAll(async () => {
  await server.close();
});

const run = (...args: readonly string[]) =>
  runCli(['budgets', ...args], { SPANDREL_URL: server.address, SPANDREL_ADMIN_KEY: ADMIN_KEY });

/** What a command prints when all goes well. */
async function printed(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(...args);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  return stdout;
}

const ORGANIZATION = ['--name', 'All', '--scope', 'organization', '--window', 'month', '--limit', '100'];

describe('spandrel budgets', () => {
  it('creates, lists, changes, resets and archives a budget', async () => {
    const created = await printed('create', ...ORGANIZATION, '--warn');
    const id = /budget_\w{21}/.exec(created)?.[0] ?? '';
    expect(created).toMatch(
      new RegExp(`^${id} +All +organization:organization_\\w+ +month +100 USD +0 USD +0 USD +warn `, 'm'),
    );
    expect(await printed('list')).toBe(created);
    expect(await printed('set', id, '--limit', '0.5', '--on-breach', 'block')).toMatch(/ 0\.5 USD .* block /);
    const reset = JSON.parse(await printed('reset', id, '--reason', 'a new year', '--json'));
    expect(reset.budget.last_reset_reason).toBe('a new year');
    expect(await printed('archive', id)).toContain(id);
    expect(await printed('list')).not.toContain(id);
    expect(await printed('list', '--archived')).toContain(id);
  });

  it('creates a budget with every option, and lists those of a scope', async () => {
    const args = ['--name', 'Key', '--scope', 'virtual_key:vk_1', '--window', 'total', '--limit', '5', '--worst'];
    const more = ['--provider', 'openai', '--anchor', '2026-01-01', '--json'];
    const { budget } = JSON.parse(await printed('create', ...args, ...more));
    expect(budget).toMatchObject({
      ...{ scope: { kind: 'virtual_key', id: 'vk_1' }, reserve: 'worst', provider_id: 'openai' },
      cycle_anchor_at: '2026-01-01T00:00:00.000Z',
    });
    expect(await printed('list', '--scope', 'virtual_key:vk_1')).toContain(budget.id);
    expect(await printed('list', '--scope', 'virtual_key:vk_2')).not.toContain(budget.id);
  });

  it.each<[args: readonly string[], problem: RegExp]>([
    [[], /budgets takes list, create, set, reset or archive/],
    [['create', '--name', 'x'], /--name, --scope, --window and --limit are all needed/],
    [['list', '--scope', 'team'], /--scope takes organization, or a kind with an id/],
    [['archive'], /name exactly one budget by its id/],
    [['set', 'budget_000000000000000000000'], /name what to change/],
  ])('refuses %j', async (args, problem) => {
    const { code, stderr } = await run(...args);
    expect(code).toBe(1);
    expect(stderr).toMatch(problem);
  });

  it('prints the refusal of the server', async () => {
    const { code, stderr } = await run('archive', 'budget_000000000000000000000');
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'spandrel: Budget not found. (budget_not_found)\n' });
  });
});
