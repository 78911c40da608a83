import { expect, it } from 'vitest';
import { ConfigError, readConfig } from '../../src/config/config.ts';

function problemsOf(environment: { [name: string]: string }): readonly string[] {
  try {
    readConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

it('the gateway reaches no private destination unless a setting says so', () => {
  const byDefault = { isOn: true, concurrencyMax: 1_024, virtualKeyPrefix: 'vk-lw-', allow: [] };
  expect(readConfig({}).gateway).toEqual(byDefault);
  expect(readConfig({ SPANDREL_GATEWAY: 'off' }).gateway.isOn).toBe(false);
  const settings = { SPANDREL_VIRTUAL_KEY_PREFIX: 'acme-', SPANDREL_GATEWAY_ALLOW: '127.0.0.1:11434' };
  expect(readConfig(settings).gateway).toMatchObject({ virtualKeyPrefix: 'acme-', allow: [{ port: 11_434 }] });
});

it('a virtual key may be set where a server starts, as the docs set it', () => {
  expect(problemsOf({ SPANDREL_VIRTUAL_KEY: 'vk-lw-1' })).toEqual([]);
});

it.each([
  ['SPANDREL_VIRTUAL_KEY_PREFIX', 'VK-'],
  ['SPANDREL_VIRTUAL_KEY_PREFIX', 'vk'],
  ['SPANDREL_VIRTUAL_KEY_PREFIX', 'one-,two-'],
  ['SPANDREL_VIRTUAL_KEY_PREFIX', 'sk-lw-'],
  ['SPANDREL_GATEWAY_ALLOW', '10.0.0.0/33'],
  ['SPANDREL_GATEWAY', 'yes'],
  ['SPANDREL_GATEWAY_CONCURRENCY', '3'],
  ['SPANDREL_ROLE', 'proxy'],
  // Its database is a SQLite file.
  ['SPANDREL_ROLE', 'gateway'],
])('%s=%s stops the start with one line that names it', (name, value) => {
  const problems = problemsOf({ [name]: value });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(new RegExp(`^${name} [^\\n]+$`));
});

it('a process may be a gateway alone on PostgreSQL, unless that leaves nothing to serve', () => {
  const onPostgres = { SPANDREL_ROLE: 'gateway', SPANDREL_DATABASE_URL: 'postgres://spandrel@localhost/spandrel' };
  expect(readConfig({}).role).toBe('all');
  expect(readConfig(onPostgres).role).toBe('gateway');
  expect(problemsOf({ ...onPostgres, SPANDREL_GATEWAY: 'off' })).toEqual([
    expect.stringMatching(/leaves nothing to serve/),
  ]);
});
