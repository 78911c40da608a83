import { expect, it } from 'vitest';
import { startApp } from '../support/app.ts';
import { TEST_SECRET } from '../support/test-database.ts';
import { RANGE, readCosts, sendTraces, setPrice } from './repricing.ts';
import { runCli } from './run-cli.ts';

it('on PostgreSQL spans are repriced while a server receives traces', async () => {
  const app = await startApp();
  try {
    const ids = await sendTraces(
      app,
      Array.from({ length: 30 }, () => ({})),
    );
    await setPrice(app, 0.01);
    const environment = { ...app.database.environment, SPANDREL_SECRET: TEST_SECRET };
    const [{ code, stdout }, more] = await Promise.all([
      runCli(['reprice', ...RANGE], environment),
      sendTraces(
        app,
        Array.from({ length: 30 }, () => ({})),
      ),
    ]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('\nchanged the cost of 30 spans\n') });
    expect(new Set(await readCosts(app, [...ids, ...more]))).toEqual(new Set([1]));
  } finally {
    await app.close();
  }
});
