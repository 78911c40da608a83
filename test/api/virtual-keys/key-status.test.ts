/** What the holder of a virtual key is told of it. */

import { afterAll, beforeAll, expect, it } from 'vitest';
import { compileBudgets } from '../../../src/domain/budgets/active-budgets.ts';
import { BUDGETS_TOLD_MAX, createKeyStatus, keyStatusJson } from '../../../src/domain/gateway/key-status.ts';
import { hashSecret } from '../../../src/domain/secrets.ts';
import { BARE_CONTENT } from '../../storage/conformance/reports.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { hex } from '../../support/fixtures.ts';
import type { Body } from '../../support/surfaces.ts';
import { makeBudget, reportRequests } from '../budgets/budgets-client.ts';
import { act } from '../organization/organization-client.ts';
import { addVirtualKey } from './gateway-client.ts';

const START = Date.UTC(2026, 0, 31, 12);

let app: TestApp;
let nowMs = START;
beforeAll(async () => {
  app = await startApp({ clock: () => nowMs });
});
afterAll(async () => {
  await app.close();
});

async function statusOf(secret: string) {
  const found = await app.store.keys.findVirtualKey(hashSecret(app.rootKeys.pepper, secret), nowMs);
  if (found === null) throw new Error('there is no such key');
  const readStatus = createKeyStatus({
    async findBudgets(organizationId) {
      const { version, budgets } = await app.store.management.activeBudgets(organizationId);
      return compileBudgets(budgets, version);
    },
    ledger: app.store.budgets,
  });
  return { presented: found, status: keyStatusJson(await readStatus(found, nowMs)) };
}

const byId = (one: Body, other: Body) => (one.id < other.id ? -1 : 1);

it('names the limits of a key without budgets', async () => {
  const config = { models_allowed: ['gpt-5*'], rate_limits: { rpm: 60, tpm: 1000 } };
  const expires_at = '2030-01-01T00:00:00.000Z';
  const { virtual_key: key, secret } = await addVirtualKey(app, { name: 'bare', config, expires_at });
  const { status } = await statusOf(secret);
  expect(status).toEqual({
    ...{ id: key.id, name: 'bare', status: 'active', display_prefix: key.display_prefix, expires_at },
    ...{ trace_project_id: app.projectId, models_allowed: ['gpt-5*'], rate_limits: { rpm: 60, tpm: 1000, rpd: null } },
    ...{ budgets: [], end_user_budgets: [], has_more_budgets: false },
  });
  expect(JSON.stringify(status)).not.toContain(secret.slice(-20));
});

it('has every budget that counts its requests, with what is left, and names those of end users', async () => {
  const project = await app.store.keys.findProject(app.projectId);
  const other = (await act(app, 'POST', '/api/projects', { name: 'other' })).id;
  const { virtual_key: stranger } = await addVirtualKey(app, { name: 'stranger' });
  const made = await addVirtualKey(app, {
    ...{ name: 'limited', principal_user_id: app.userId },
    budget: { window: 'day', limit_usd: '10', on_breach: 'warn' },
  });
  const { virtual_key: key, secret, budget } = made;
  const scopes = [
    { kind: 'organization' },
    { kind: 'team', id: project?.teamId },
    { kind: 'project', id: app.projectId },
    { kind: 'principal', id: app.userId },
  ];
  const counting = [budget];
  for (const scope of scopes) counting.push(await makeBudget(app, { scope, window: 'total', limit_usd: '5' }));
  const ofProvider = { scope: { kind: 'virtual_key', id: key.id }, provider_id: 'openai', limit_usd: '1' };
  counting.push(await makeBudget(app, ofProvider));
  const templates = [];
  for (const id of [key.id, app.projectId]) {
    templates.push(await makeBudget(app, { scope: { kind: 'attributed_user', id }, limit_usd: '0.5' }));
  }
  for (const scope of [
    { kind: 'project', id: other },
    { kind: 'virtual_key', id: stranger.id },
    { kind: 'principal', id: 'another' },
    { kind: 'attributed_user', id: stranger.id },
  ]) {
    await makeBudget(app, { scope });
  }
  const archived = await makeBudget(app, { scope: scopes[2] });
  await act(app, 'DELETE', `/api/gateway/v1/budgets/${archived.id}`);
  const request = { virtual_key_id: key.id, principal_user_id: app.userId, cost_usd: '7.25', end_user_id: 'eve' };
  await reportRequests(app, nowMs, [{ ...request, gateway_request_id: hex(8) }]);

  const bucket = { budgetId: budget.id, subject: '', periodStartedAtMs: Date.parse(budget.period_started_at) };
  await app.store.requests.admit({
    ...{ kind: 'admission', organizationId: app.organizationId, organizationNumber: project?.organizationNumber ?? 0 },
    ...{ projectId: app.projectId, projectNumber: project?.number ?? 0, receivedAtMs: nowMs, processId: 'process' },
    ...{ gatewayRequestId: 'gwreq_1', content: { ...BARE_CONTENT, occurredAtMs: nowMs, virtualKeyId: key.id } },
    amounts: [{ ...bucket, nanoUsd: 2_000_000_000, fence: null }],
  });

  const { status } = await statusOf(secret);
  const money = new Map([
    [budget.id, { spent_usd: '7.25', reserved_usd: '2', left_usd: '2.75' }],
    [counting.at(-1)?.id, { spent_usd: '0', reserved_usd: '0', left_usd: '1' }],
  ]);
  // More is spent than the limit.
  const over = { spent_usd: '7.25', reserved_usd: '0', left_usd: '0' };
  const pick = ({ id, name, scope, window, limit_usd, on_breach, provider_id }: Body) => ({
    ...{ id, name, scope, window, limit_usd, on_breach, provider_id },
  });
  expect(status.budgets).toEqual(
    counting
      .toSorted(byId)
      .map((each) => ({ ...pick(each), ...(money.get(each.id) ?? over), resets_at: each.resets_at })),
  );
  expect(status.end_user_budgets).toEqual(templates.toSorted(byId).map(pick));
  expect(status.budgets.find(({ id }) => id === budget.id)).toMatchObject({
    ...{ name: 'limited', on_breach: 'warn', resets_at: '2026-02-01T12:00:00.000Z' },
  });

  nowMs += 86_400_000;
  const next = (await statusOf(secret)).status.budgets.find(({ id }) => id === budget.id);
  expect(next).toMatchObject({ spent_usd: '0', left_usd: '10', resets_at: '2026-02-02T12:00:00.000Z' });
});

it('tells a bounded number of budgets, and that there are more', async () => {
  const { secret } = await addVirtualKey(app);
  const { presented } = await statusOf(secret);
  const { budgets } = await app.store.management.activeBudgets(app.organizationId);
  const [sample] = budgets.filter(({ scope }) => scope.kind === 'organization');
  if (sample === undefined) throw new Error('there is no budget');
  const many = (count: number) =>
    compileBudgets(
      Array.from({ length: count }, (_, index) => ({ ...sample, id: `budget_${index + 1000}` })),
      1,
    );
  for (const count of [BUDGETS_TOLD_MAX, BUDGETS_TOLD_MAX + 1]) {
    const status = await createKeyStatus({ findBudgets: () => many(count), ledger: app.store.budgets })(
      presented,
      nowMs,
    );
    expect([status.budgets.length, status.hasMoreBudgets]).toEqual([BUDGETS_TOLD_MAX, count > BUDGETS_TOLD_MAX]);
  }
});
