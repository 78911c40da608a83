import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import { createManualPause } from '../../support/manual-pause.ts';
import { type Body, callRest } from '../../support/surfaces.ts';
import { until } from '../../support/temp.ts';

const GRACE_MS = 30 * 60_000;
const FIRST_DELAY_MS = 5 * 60_000;
const INTERVAL_MS = 60_000;

let app: TestApp;
let nowMs = Date.now();
const { pause, waiting, pass } = createManualPause();
beforeAll(async () => {
  app = await startApp({ clock: () => nowMs, wait: pause });
});
afterAll(async () => {
  await app.close();
});

async function send(gateway_request_id: string, status: string): Promise<void> {
  const records = [{ gateway_request_id, status, occurred_at: nowMs, model: 'gpt-5', virtual_key_id: 'vk_1' }];
  const path = '/api/gateway/v1/requests';
  const headers = { 'x-auth-token': app.projectKey };
  const answer = await callRest(app.address, { verb: 'POST', path, body: { records }, headers });
  expect(answer.body).toEqual({ accepted: 1, rejected: [] });
}

async function list(): Promise<readonly Body[]> {
  const path = '/api/webhooks/v1/events?from=0&to=9007199254740991';
  const { body } = await callRest(app.address, { path, headers: { authorization: `Bearer ${app.adminKey}` } });
  return body.data;
}

/** Lets the jobs run once. */
async function settleOverdue(): Promise<void> {
  await pass();
  await until(() => waiting().includes(INTERVAL_MS));
}

it('a request without an outcome settles once its grace is over, and may still complete', async () => {
  await until(() => waiting().includes(FIRST_DELAY_MS));
  await send('gw-late', 'admitted');
  await send('gw-done', 'admitted');
  await send('gw-done', 'success');
  nowMs += GRACE_MS - 1;
  await send('gw-young', 'admitted');
  await settleOverdue();
  expect((await list()).map(({ id }) => id)).toEqual(['gw-done:completed']);
  nowMs += 1;
  await settleOverdue();
  await until(async () => (await list()).length === 2);
  const settled = (await list()).find(({ id }) => id === 'gw-late:settled');
  expect(settled.data).toMatchObject({ status: 'settled', virtual_key_id: 'vk_1', model: 'gpt-5', cost: null });
  await send('gw-late', 'success');
  await settleOverdue();
  const ids = (await list()).map(({ id }) => id).toSorted();
  expect(ids).toEqual(['gw-done:completed', 'gw-late:completed', 'gw-late:settled']);
  expect((await list()).find(({ id }) => id === 'gw-late:settled')).toEqual(settled);
});
