/** The history of triggers when the clock of the server is wrong. */

import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import { until } from '../../support/temp.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';
import { createClient, ON_ERRORS } from './triggers-client.ts';

const AHEAD_MS = 100 * 86_400_000;

let database: TestDatabase;
let removeDatabase: () => Promise<void>;
let app: TestApp;
const client = createClient(() => app);

beforeAll(async () => {
  const made = await createTestDatabase();
  database = { ...made, remove: async () => undefined };
  removeDatabase = made.remove;
});
afterAll(async () => {
  await app.close();
  await removeDatabase();
});

it('outlives a start whose clock is months ahead', async () => {
  app = await startApp({ database });
  const { id } = await client.make(ON_ERRORS);
  await client.rest('PATCH', `/api/triggers/${id}`, { active: false });
  const { projectKey } = app;
  await app.close();
  let pruned = 0;
  app = await startApp({
    ...{ database, clock: () => Date.now() + AHEAD_MS },
    wrapStore: (store) => ({
      ...store,
      triggers: {
        ...store.triggers,
        async prune(cut) {
          const left = await store.triggers.prune(cut);
          pruned += 1;
          return left;
        },
      },
    }),
  });
  await until(() => pruned > 0);
  await app.close();
  app = Object.assign(await startApp({ database }), { projectKey });
  const { body } = await client.rest('GET', `/api/triggers/${id}/history`);
  expect(body.data).toMatchObject([{ kind: 'changed' }]);
});
