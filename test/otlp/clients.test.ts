import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { callRest } from '../support/surfaces.ts';
import { type StandIn, startOpenAiStandIn } from './openai-stand-in.ts';
import { CLIENT_NAMES, runClient } from './run-client.ts';

let app: TestApp;
let openAi: StandIn;
beforeAll(async () => {
  app = await startApp();
  openAi = await startOpenAiStandIn();
});
afterAll(async () => {
  openAi.close();
  await app.close();
});

it.each(CLIENT_NAMES)('%s', async (name) => {
  const to = { address: app.address, key: app.projectKey, openAiUrl: openAi.url };
  const traceId = await runClient(name, to);
  const { status, body } = await callRest(app.address, {
    path: `/api/traces/${traceId}`,
    headers: { 'x-auth-token': app.projectKey },
  });
  console.log(JSON.stringify(body, null, 1));
  expect(status).toBe(200);
});
