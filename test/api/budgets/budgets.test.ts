import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import type { Body } from '../../support/surfaces.ts';
import { addForeign } from '../access/foreign.ts';
import { SURFACES } from '../access/question.ts';
import { anyId, INSTANT } from '../organization/organization-client.ts';
import { BUDGET, invoke as invokeOn, makeBudget, type Operation, reportRequests } from './budgets-client.ts';

const START = Date.UTC(2026, 0, 31, 12);

let app: TestApp;
let nowMs = START;
beforeAll(async () => {
  app = await startApp({ clock: () => nowMs });
});
afterAll(async () => {
  await app.close();
});

const make = (fields?: Body) => makeBudget(app, fields);
const report = (records: readonly Body[]) => reportRequests(app, nowMs, records);
const read = async (id: string) => (await invokeOn(app, ['REST', 'getBudget'], { id })).budget;

describe.each(SURFACES)('budgets over %s', (surface) => {
  const invoke = (operation: Operation, sent: Parameters<typeof invokeOn>[2] = {}, wanted?: string) =>
    invokeOn(app, [surface, operation], wanted === undefined ? sent : { ...sent, wanted });

  it('are made with their defaults, and with every field', async () => {
    const { budget } = await invoke('createBudget', { body: BUDGET });
    expect(budget).toEqual({
      id: anyId('budget'),
      ...{ name: 'Team', scope: { kind: 'organization', id: app.organizationId }, window: 'month', limit_usd: '100' },
      ...{ on_breach: 'block', provider_id: null, reserve: 'expected' },
      cycle_anchor_at: new Date(nowMs).toISOString(),
      ...{ spent_usd: '0', reserved_usd: '0', period_started_at: new Date(nowMs).toISOString(), resets_at: INSTANT },
      ...{ last_reset_at: null, last_reset_reason: null, archived_at: null, created_at: INSTANT, updated_at: INSTANT },
    });
    const every = {
      ...{ name: '😀'.repeat(128), scope: { kind: 'attributed_user', id: app.projectId }, window: 'total' },
      ...{ limit_usd: '9007199.254740991', on_breach: 'warn', provider_id: 'openai', reserve: 'worst' },
      cycle_anchor_at: '2020-02-29T00:00:00.000Z',
    };
    const full = (await invoke('createBudget', { body: every })).budget;
    expect(full).toMatchObject({ ...every, resets_at: null, period_started_at: every.cycle_anchor_at });
    expect(await read(full.id)).toEqual(full);
  });

  it.each<[field: string, body: Body]>([
    ['name', { name: '' }],
    ['name', { name: ' ' }],
    ['name', { name: 'x'.repeat(129) }],
    ['scope', { scope: undefined }],
    ['scope.kind', { scope: { id: 'x' } }],
    ['scope.id', { scope: { kind: 'team' } }],
    ['scope.id', { scope: { kind: 'virtual_key', id: '' } }],
    ['scope.id', { scope: { kind: 'organization', id: 'other' } }],
    ['window', { window: undefined }],
    ['limit_usd', { limit_usd: '0' }],
    ['limit_usd', { limit_usd: '0.0000000001' }],
    ['limit_usd', { limit_usd: '-1' }],
    ['limit_usd', { limit_usd: '1e3' }],
    ['limit_usd', { limit_usd: '9007199.254740992' }],
    ['limit_usd', { limit_usd: undefined }],
    ['provider_id', { provider_id: '' }],
    ['cycle_anchor_at', { cycle_anchor_at: '1999-12-31T23:59:59Z' }],
    ['cycle_anchor_at', { cycle_anchor_at: '2026-06-01T00:00:00Z', window: 'total' }],
  ])('are refused with a bad %s: %j', async (field, body) => {
    const sent = JSON.parse(JSON.stringify({ ...BUDGET, ...body }));
    const { meta } = await invoke('createBudget', { body: sent }, '400 validation_error');
    const fields = typeof meta.fields === 'string' ? JSON.parse(meta.fields) : meta.fields;
    expect(fields).toEqual([field]);
  });

  it('are of teams and projects that exist', async () => {
    const of = (kind: string) => ({ body: { ...BUDGET, scope: { kind, id: 'unknown' } } });
    await invoke('createBudget', of('team'), '404 team_not_found');
    await invoke('createBudget', of('project'), '404 project_not_found');
    for (const kind of ['virtual_key', 'principal', 'attributed_user']) await invoke('createBudget', of(kind));
  });

  it('count what is reported with their scope, in the current period', async () => {
    const key = `vk-${surface}`;
    const scope = { kind: 'virtual_key', id: key };
    const month = await make({ scope });
    const minute = await make({ scope, window: 'minute' });
    const users = await make({ scope: { kind: 'attributed_user', id: key }, window: 'total' });
    await report([
      { gateway_request_id: `a-${surface}`, virtual_key_id: key, cost_usd: '0.25', end_user_id: 'eve' },
      { gateway_request_id: `b-${surface}`, virtual_key_id: key, cost_usd: '0.000000001', end_user_id: 'tom' },
      { gateway_request_id: `c-${surface}`, virtual_key_id: 'other', cost_usd: '5' },
      { gateway_request_id: `d-${surface}`, virtual_key_id: key, cost_usd: '1', occurred_at: nowMs - 2 * 60_000 },
    ]);
    const spent = async ({ id }: Body) => (await invoke('getBudget', { id })).budget.spent_usd;
    expect(await spent(month)).toBe('0.250000001');
    expect(await spent(minute)).toBe('0.250000001');
    expect(await spent(users)).toBe('0.250000001');
    nowMs += 60_000;
    expect(await spent(month)).toBe('0.250000001');
    expect(await spent(minute)).toBe('0');
  });

  it('begin a new month on the day of their anchor, or the last day of a month that is too short', async () => {
    const budget = await make({ cycle_anchor_at: '2026-01-31T12:00:00Z' });
    const before = nowMs;
    nowMs = Date.UTC(2026, 1, 28, 12);
    const { period_started_at, resets_at } = (await invoke('getBudget', { id: budget.id })).budget;
    nowMs = before;
    expect([period_started_at, resets_at]).toEqual(['2026-02-28T12:00:00.000Z', '2026-03-31T12:00:00.000Z']);
  });

  it('are reset: a new period begins, and what was spent stays', async () => {
    const budget = await make({ scope: { kind: 'principal', id: `ann-${surface}` }, window: 'manual' });
    await report([{ gateway_request_id: `r-${surface}`, principal_user_id: `ann-${surface}`, cost_usd: '2' }]);
    expect((await read(budget.id)).spent_usd).toBe('2');
    const reset = (await invoke('resetBudget', { id: budget.id, body: { reason: 'new quarter' } })).budget;
    expect(reset).toMatchObject({ spent_usd: '0', last_reset_reason: 'new quarter', last_reset_at: INSTANT });
    expect(Date.parse(reset.period_started_at)).toBeGreaterThan(Date.parse(budget.period_started_at));
    expect(await read(budget.id)).toEqual(reset);
    const [sums] = await app.store.budgets.sums(1, [
      { budgetId: budget.id, periodStartedAtMs: Date.parse(budget.period_started_at) },
    ]);
    expect(sums?.spentNanoUsd).toBe(2_000_000_000n);
    const again = (await invoke('resetBudget', { id: budget.id, body: {} })).budget;
    expect(again.last_reset_reason).toBeNull();
    expect(Date.parse(again.period_started_at)).toBeGreaterThan(Date.parse(reset.period_started_at));
    const long = { id: budget.id, body: { reason: 'x'.repeat(501) } };
    await invoke('resetBudget', long, '400 validation_error');
  });

  it('change what is sent, and never their scope, window, provider or anchor', async () => {
    const { id, ...before } = await make();
    const body = { name: 'Other', limit_usd: '0.5', on_breach: 'warn', reserve: 'worst' };
    const { budget } = await invoke('updateBudget', { id, body });
    expect(budget).toEqual({ ...before, id, ...body, updated_at: INSTANT });
    expect((await invoke('updateBudget', { id, body: { limit_usd: '7' } })).budget.limit_usd).toBe('7');
    await invoke('updateBudget', { id, body: { limit_usd: '0' } }, '400 validation_error');
    const others = {
      scope: { kind: 'team', id: 'x' },
      window: 'day',
      provider_id: 'x',
      cycle_anchor_at: '2020-01-01T00:00:00.000Z',
    };
    for (const [field, value] of Object.entries(others)) {
      const problem = await invoke('updateBudget', { id, body: { [field]: value } }, '400 validation_error');
      expect(JSON.stringify(problem.meta)).toContain(`${field} cannot be changed`);
    }
    expect((await invoke('updateBudget', { id, body: await read(id) })).budget).toEqual(await read(id));
    if (surface === 'gRPC') return;
    for (const [field, value] of Object.entries({ nothing: 1, name: null })) {
      const problem = await invoke('updateBudget', { id, body: { [field]: value } }, '400 validation_error');
      expect(problem.meta.fields).toEqual([field]);
    }
  });

  it('are archived for good: they count and change no more, and stay readable', async () => {
    const budget = await make({ scope: { kind: 'virtual_key', id: `gone-${surface}` } });
    const { id } = budget;
    await report([{ gateway_request_id: `g-${surface}`, virtual_key_id: `gone-${surface}`, cost_usd: '1' }]);
    const archived = (await invoke('archiveBudget', { id })).budget;
    expect(archived).toMatchObject({ id, spent_usd: '1', archived_at: INSTANT });
    await report([{ gateway_request_id: `h-${surface}`, virtual_key_id: `gone-${surface}`, cost_usd: '1' }]);
    expect((await invoke('archiveBudget', { id })).budget).toEqual(archived);
    expect((await invoke('getBudget', { id })).budget).toEqual(archived);
    await invoke('updateBudget', { id, body: { name: 'x' } }, '409 budget_archived');
    await invoke('resetBudget', { id, body: {} }, '409 budget_archived');
  });

  it('are listed newest first, page by page, by scope, and archived ones only when asked for', async () => {
    const scope = { kind: 'virtual_key', id: `list-${surface}` };
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      nowMs += 1;
      ids.unshift((await make({ scope })).id);
    }
    await invoke('archiveBudget', { id: ids[1] ?? '' });
    const query = { scope_kind: 'virtual_key', scope_id: scope.id };
    const walk = async (more: object) => {
      const found: string[] = [];
      for (let cursor = ''; ; ) {
        const page = await invoke('listBudgets', { query: { ...query, ...more, limit: '2', cursor } });
        found.push(...page.data.map(({ id }: Body) => id));
        if (page.next_cursor === null) return found;
        cursor = page.next_cursor;
      }
    };
    expect(await walk({})).toEqual(ids.filter((id) => id !== ids[1]));
    expect(await walk({ include_archived: 'true' })).toEqual(ids);
    expect((await invoke('listBudgets', { query: { scope_kind: 'team' } })).data).toEqual([]);
    await invoke('listBudgets', { query: { cursor: 'x' } }, '400 invalid_cursor');
    await invoke('listBudgets', { query: { limit: '201' } }, '400 validation_error');
  });

  it('are unknown to other organizations', async () => {
    const { id } = await make();
    const foreign = await addForeign(app);
    const sent = { id, token: foreign.token };
    for (const operation of ['getBudget', 'archiveBudget'] as const) {
      await invoke(operation, sent, '404 budget_not_found');
    }
    await invoke('updateBudget', { ...sent, body: { name: 'x' } }, '404 budget_not_found');
    await invoke('resetBudget', { ...sent, body: {} }, '404 budget_not_found');
    expect((await invoke('listBudgets', { token: foreign.token })).data).toEqual([]);
    await invoke('getBudget', { id: 'x'.repeat(300) }, '404 budget_not_found');
  });

  it('are made once under an idempotency key', async () => {
    const headers = { 'idempotency-key': `budget-${surface}-0001` };
    const first = await invoke('createBudget', { body: BUDGET, headers });
    expect(await invoke('createBudget', { body: BUDGET, headers })).toEqual(first);
    await invoke('createBudget', { body: { ...BUDGET, limit_usd: '1' }, headers }, '409 idempotency_error');
  });
});
