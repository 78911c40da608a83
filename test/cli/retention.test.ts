import { expect, it } from 'vitest';
import { startApp } from '../support/app.ts';
import { TEST_SECRET } from '../support/test-database.ts';
import { runCli } from './run-cli.ts';

const DAY_MS = 86_400_000;
const WAIT = 'deletions by age wait: correct the clock, or confirm it with spandrel retention --release';

it('says whether deletions by age wait for a clock that is ahead, and confirms it', async () => {
  const app = await startApp();
  const environment = { ...app.database.environment, SPANDREL_SECRET: TEST_SECRET };
  const retention = (...args: readonly string[]) => runCli(['retention', ...args], environment);
  const certainMs = Date.now() - 30 * DAY_MS;
  await app.store.clock.trust(certainMs);
  await app.stop();
  await app.store.close();

  const before = await retention();
  expect(before).toMatchObject({ code: 0, stderr: '' });
  expect(before.stdout.split('\n').slice(1, 3)).toEqual([`certain:   ${new Date(certainMs).toISOString()}`, WAIT]);
  // Asking changes nothing.
  expect((await retention()).stdout).toContain(WAIT);

  const startedAtMs = Date.now();
  const { stdout } = await retention('--release');
  expect(stdout).toContain('the clock is confirmed');
  const after = await retention();
  expect(after.stdout).toContain('deletions by age follow the clock\n');
  const certain = /^certain: +(\S+)$/m.exec(after.stdout)?.[1] ?? '';
  expect(Date.parse(certain)).toBeGreaterThanOrEqual(startedAtMs);
  await app.close();
});

it('takes --release and nothing else', async () => {
  const { code, stderr } = await runCli(['retention', '--now']);
  expect(code).not.toBe(0);
  expect(stderr).toContain('retention takes --release and nothing else');
});
