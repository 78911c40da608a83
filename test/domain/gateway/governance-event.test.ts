import { describe, expect, it } from 'vitest';
import { GOVERNANCE_EVENT_TYPES, isBudgetEvent } from '../../../src/domain/events/event-type.ts';
import { toGovernanceDrafts } from '../../../src/domain/gateway/gateway-json.ts';
import { createItemReading } from '../../../src/domain/gateway/gateway-reading.ts';
import { readGovernanceEvent } from '../../../src/domain/gateway/governance-event.ts';
import type { LosslessObject } from '../../../src/json/lossless-json.ts';

const AT = Date.UTC(2026, 6, 27, 14, 3, 11, 482);
const VIRTUAL_KEY = {
  type: 'gateway.virtual_key.rotated',
  occurred_at: AT,
  virtual_key_id: 'vk_1',
  name: '',
  display_prefix: 'sk-',
};
const BUDGET = {
  type: 'gateway.budget.breached',
  occurred_at: AT,
  budget_id: 'budget_1',
  scope_type: 'team',
  bucket_scope_id: 'team_1',
  window: 'month',
  period_started_at: AT - 1000,
  limit_usd: '100.000000',
  spent_usd: '100.000001',
  on_breach: 'block',
};

function read(item: LosslessObject) {
  const draft = toGovernanceDrafts({ events: [item] }).at(0);
  if (typeof draft !== 'object' || draft === null) throw new Error('no event');
  const reading = createItemReading();
  return { event: readGovernanceEvent(draft, reading, 'organization_1'), problem: reading.problem() };
}

describe('an event of a virtual key', () => {
  it('has every member in the order of the contract', () => {
    expect(read({ ...VIRTUAL_KEY, ignored: 7 }).event).toEqual({
      id: `vk_1:rotated:${AT}`,
      type: 'gateway.virtual_key.rotated',
      dataJson:
        `{"event_id":"vk_1:rotated:${AT}","event_type":"gateway.virtual_key.rotated",` +
        '"organization_id":"organization_1","virtual_key_id":"vk_1","name":"","display_prefix":"sk-","reason":null,' +
        '"occurred_at":"2026-07-27T14:03:11.482Z"}',
    });
    expect(JSON.parse(read({ ...VIRTUAL_KEY, reason: 'lost' }).event?.dataJson ?? '').reason).toBe('lost');
  });

  it('has an id without the characters that join ids', () => {
    const { event } = read({ ...VIRTUAL_KEY, virtual_key_id: 'a,b%2C:c' });
    expect(event?.id).toBe(`a%2Cb%252C:c:rotated:${AT}`);
    expect(JSON.parse(event?.dataJson ?? '')).toMatchObject({ event_id: event?.id, virtual_key_id: 'a,b%2C:c' });
  });

  it.each([
    ['type', 'gateway.request.completed'],
    ['type', 'gateway.virtual_key.lost'],
    ['type', undefined],
    ['occurred_at', 1.5],
    ['occurred_at', undefined],
    ['virtual_key_id', ''],
    ['virtual_key_id', 'x'.repeat(257)],
    ['virtual_key_id', 'a\0'],
    ['name', 'x'.repeat(257)],
    ['name', undefined],
    ['display_prefix', 'x'.repeat(65)],
    ['reason', 'x'.repeat(501)],
    ['reason', 7],
  ] as const)('must not have %s = %s', (name, value) => {
    const { [name]: _, ...others } = { reason: null, ...VIRTUAL_KEY };
    const { event, problem } = read(value === undefined ? others : { ...others, [name]: value });
    expect(event).toBeNull();
    expect(problem).toMatch(new RegExp(`^${name}: `));
  });
});

describe('an event of a budget', () => {
  it('has every member in the order of the contract', () => {
    expect(read(BUDGET).event).toEqual({
      id: `budget_1:team_1:breached:${AT - 1000}`,
      type: 'gateway.budget.breached',
      dataJson:
        `{"event_id":"budget_1:team_1:breached:${AT - 1000}","event_type":"gateway.budget.breached",` +
        '"organization_id":"organization_1","budget_id":"budget_1","scope_type":"team","bucket_scope_id":"team_1",' +
        '"virtual_key_id":null,"anchor_project_id":null,"end_user_id":null,"window":"month",' +
        '"period_started_at":"2026-07-27T14:03:10.482Z","limit_usd":"100.000000","spent_usd":"100.000001",' +
        '"on_breach":"block","occurred_at":"2026-07-27T14:03:11.482Z"}',
    });
    const named = { virtual_key_id: 'vk', anchor_project_id: 'p', end_user_id: 'u' };
    expect(JSON.parse(read({ ...BUDGET, ...named }).event?.dataJson ?? '')).toMatchObject(named);
  });

  it.each([
    ['budget_id', ''],
    ['scope_type', 'user'],
    ['bucket_scope_id', 'x'.repeat(257)],
    ['virtual_key_id', ''],
    ['window', 'year'],
    ['period_started_at', -1],
    ['limit_usd', '100.'],
    ['limit_usd', '100.0000001'],
    ['limit_usd', '0100.000000'],
    ['limit_usd', 100],
    ['spent_usd', '-1.000000'],
    ['on_breach', null],
  ] as const)('must not have %s = %s', (name, value) => {
    const { event, problem } = read({ ...BUDGET, [name]: value });
    expect(event).toBeNull();
    expect(problem).toMatch(new RegExp(`^${name}: `));
  });
});

it.each([
  ['100', '100.000000'],
  ['0', '0.000000'],
  ['12.5', '12.500000'],
])('reads the amount %s and writes %s', (sent, expected) => {
  const { event } = read({ ...BUDGET, limit_usd: sent, spent_usd: sent });
  expect(JSON.parse(event?.dataJson ?? '{}')).toMatchObject({ limit_usd: expected, spent_usd: expected });
});

it('every type has its own id', () => {
  const items = GOVERNANCE_EVENT_TYPES.map((type) => ({ ...(isBudgetEvent(type) ? BUDGET : VIRTUAL_KEY), type }));
  const ids = items.map((item) => read(item).event?.id);
  expect(new Set(ids).size).toBe(7);
  expect(ids).not.toContain(undefined);
});
