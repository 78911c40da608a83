/** The history of triggers when the clock of the server is wrong. */

import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';
import { createClient, ON_ERRORS } from './triggers-client.ts';

const AHEAD_MS = 100 * 86_400_000;
/** The first step of a server removes what is old. */
const FIRST_STEP_MS = 1_000;

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
  app = await startApp({ database, clock: () => Date.now() + AHEAD_MS });
  await delay(FIRST_STEP_MS);
  await app.close();
  app = Object.assign(await startApp({ database }), { projectKey });
  const { body } = await client.rest('GET', `/api/triggers/${id}/history`);
  expect(body.data).toMatchObject([{ kind: 'changed' }]);
});
