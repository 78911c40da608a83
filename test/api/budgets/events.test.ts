import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestApp } from '../../support/app.ts';
import { type Body, callRest } from '../../support/surfaces.ts';
import { until } from '../../support/temp.ts';
import { BASE, type Receiver, startReceiver, startSending } from '../endpoints/endpoints-client.ts';
import { bearer, INSTANT } from '../organization/organization-client.ts';
import { invoke, makeBudget, reportRequests } from './budgets-client.ts';

let app: TestApp;
let receiver: Receiver;
beforeAll(async () => {
  app = await startSending();
  receiver = await startReceiver();
  const body = { url: receiver.url, enabled_events: ['gateway.*'], max_batch_size: 1, max_in_flight: 1 };
  const headers = bearer(app.adminKey);
  expect((await callRest(app.address, { verb: 'POST', path: BASE, headers, body })).status).toBe(201);
});
afterAll(async () => {
  await receiver.close();
  await app.close();
});

function received(): readonly Body[] {
  return receiver.received.flatMap(({ body }) => JSON.parse(body).batch);
}

const told = (budgetId: string) => received().filter(({ data }) => data.budget_id === budgetId);
const spend = (id: string, costUsd: string) =>
  reportRequests(app, Date.now(), [{ gateway_request_id: id, virtual_key_id: 'vk_told', cost_usd: costUsd }]);

/** Waits until the outcome of a request is received, and so all events before it. */
async function receivedOutcome(gatewayRequestId: string): Promise<void> {
  await until(() => received().some(({ data }) => data.gateway_request_id === gatewayRequestId));
}

it('the levels of a budget are pushed once in each period, by the outcome that reached them', async () => {
  const scope = { kind: 'virtual_key', id: 'vk_told' };
  const budget = await makeBudget(app, { scope, limit_usd: '10', on_breach: 'warn', window: 'manual' });
  await spend('e1', '7.9');
  await spend('e2', '0.1');
  for (let time = 0; time < 2; time += 1) await spend('e2', '0.1');
  await spend('e3', '3');
  await spend('e4', '0.5');
  const periodMs = Date.parse(budget.period_started_at);
  await receivedOutcome('e4');
  expect(told(budget.id).map(({ id }) => id)).toEqual(
    ['threshold_crossed', 'breached'].map((action) => `${budget.id}:vk_told:${action}:${periodMs}`),
  );
  const [{ type, data }, breached] = told(budget.id);
  expect(type).toBe('gateway.budget.threshold_crossed');
  expect(data).toEqual({
    event_id: `${budget.id}:vk_told:threshold_crossed:${periodMs}`,
    ...{ event_type: 'gateway.budget.threshold_crossed', organization_id: app.organizationId, budget_id: budget.id },
    ...{ scope_type: 'virtual_key', bucket_scope_id: 'vk_told', virtual_key_id: 'vk_told', anchor_project_id: null },
    ...{ end_user_id: null, window: 'manual', period_started_at: budget.period_started_at },
    ...{ limit_usd: '10.000000', spent_usd: '8.000000', on_breach: 'warn', occurred_at: INSTANT },
  });
  expect(Object.keys(data)).toEqual([
    ...['event_id', 'event_type', 'organization_id', 'budget_id', 'scope_type', 'bucket_scope_id', 'virtual_key_id'],
    ...['anchor_project_id', 'end_user_id', 'window', 'period_started_at', 'limit_usd', 'spent_usd', 'on_breach'],
    'occurred_at',
  ]);
  expect(breached.data).toMatchObject({ event_type: 'gateway.budget.breached', spent_usd: '11.000000' });
  const reset = (await invoke(app, ['REST', 'resetBudget'], { id: budget.id, body: {} })).budget;
  await until(() => Date.now() >= Date.parse(reset.period_started_at));
  await spend('e5', '10');
  await receivedOutcome('e5');
  await until(() => told(budget.id).length >= 4);
  expect(new Set(told(budget.id).map(({ id }) => id)).size).toBe(4);
});

it('each end user of a template has levels of its own', async () => {
  const scope = { kind: 'attributed_user', id: app.projectId };
  const budget = await makeBudget(app, { scope, limit_usd: '1', window: 'total' });
  const records = ['eve', 'tom', 'a,b'].map((user, index) => ({
    ...{ gateway_request_id: `u${index}`, end_user_id: user, cost_usd: user === 'tom' ? '0.1' : '0.9' },
  }));
  await reportRequests(app, Date.now(), records);
  await until(() => told(budget.id).length >= 2);
  await receivedOutcome('u2');
  const periodMs = Date.parse(budget.period_started_at);
  expect(told(budget.id).map(({ id, data }) => [id, data.end_user_id, data.anchor_project_id])).toEqual([
    [`${budget.id}:eve:threshold_crossed:${periodMs}`, 'eve', app.projectId],
    [`${budget.id}:a%2Cb:threshold_crossed:${periodMs}`, 'a,b', app.projectId],
  ]);
});

it('events of an own budget cannot be reported by a gateway', async () => {
  const { id } = await makeBudget(app);
  const event = (budgetId: string) => ({
    ...{ type: 'gateway.budget.breached', occurred_at: Date.now(), budget_id: budgetId, scope_type: 'organization' },
    ...{ bucket_scope_id: 'x', window: 'month', period_started_at: Date.now(), on_breach: 'warn' },
    ...{ limit_usd: '1', spent_usd: '1' },
  });
  const body = { events: [event(id), event('budget_000000000000000000000')] };
  const headers = bearer(app.adminKey);
  const path = '/api/gateway/v1/governance-events';
  const { body: answer } = await callRest(app.address, { verb: 'POST', path, headers, body });
  expect(answer).toMatchObject({ accepted: 1, rejected: [{ index: 0, code: 'invalid_record' }] });
  expect(answer.rejected[0].message).toMatch(/^budget_id: /);
});
