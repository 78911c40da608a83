import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BudgetOnBreach, BudgetScopeType, BudgetWindow, GatewayService } from '../../../gen/spandrel/v1/gateway_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { type Body, callRest, expectEverywhere, type SurfaceCase } from '../../support/surfaces.ts';

const AT = Date.now();
const PATH = '/api/gateway/v1/governance-events';
const { reportGovernanceEvents } = GatewayService.method;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.close();
});

const admin = () => ({ authorization: `Bearer ${app.adminKey}` });

const VIRTUAL_KEY = {
  type: 'gateway.virtual_key.created',
  occurred_at: AT,
  virtual_key_id: 'vk_1',
  name: 'a key',
  display_prefix: 'sk-',
  reason: null,
};
const BUDGET = {
  type: 'gateway.budget.breached',
  occurred_at: AT,
  budget_id: 'budget_1',
  scope_type: 'virtual_key',
  bucket_scope_id: 'vk_1',
  virtual_key_id: 'vk_1',
  window: 'month',
  period_started_at: AT - 1000,
  limit_usd: '100.000000',
  spent_usd: '100.500000',
  on_breach: 'warn',
};
const VIRTUAL_KEY_MESSAGE = {
  type: 'gateway.virtual_key.created',
  occurredAt: timestampFromMs(AT),
  subject: { case: 'virtualKey', value: { virtualKeyId: 'vk_1', name: 'a key', displayPrefix: 'sk-' } },
} as const;
const BUDGET_MESSAGE = {
  type: 'gateway.budget.breached',
  occurredAt: timestampFromMs(AT),
  subject: {
    case: 'budget',
    value: {
      budgetId: 'budget_1',
      scopeType: BudgetScopeType.VIRTUAL_KEY,
      bucketScopeId: 'vk_1',
      virtualKeyId: 'vk_1',
      window: BudgetWindow.MONTH,
      periodStartedAt: timestampFromMs(AT - 1000),
      limitUsd: '100.000000',
      spentUsd: '100.500000',
      onBreach: BudgetOnBreach.WARN,
    },
  },
} as const;

function eventsCase(
  events: readonly unknown[],
  messages: readonly Record<string, unknown>[],
  each: Partial<SurfaceCase<typeof reportGovernanceEvents>> & { status: number },
): SurfaceCase {
  return {
    name: 'governance events',
    headers: admin(),
    rest: { verb: 'POST', path: PATH, body: { events } },
    rpc: { method: reportGovernanceEvents, request: { events: [...messages] } },
    ...each,
  };
}

describe('reporting governance events, over REST and gRPC', () => {
  it('valid events are emitted, and sent again they are accepted again', async () => {
    const check = (answer: Body) => expect(answer).toEqual({ accepted: 2, rejected: [] });
    for (let round = 0; round < 2; round += 1) {
      await expectEverywhere(
        app.address,
        eventsCase([VIRTUAL_KEY, BUDGET], [VIRTUAL_KEY_MESSAGE, BUDGET_MESSAGE], { status: 200, check }),
      );
    }
  });

  it('one bad event never costs its neighbours', async () => {
    const { name: _, ...nameless } = VIRTUAL_KEY;
    const namelessMessage = {
      ...VIRTUAL_KEY_MESSAGE,
      subject: { case: 'virtualKey', value: { virtualKeyId: 'vk_1', displayPrefix: 'sk-' } },
    };
    const yearlyMessage = {
      ...BUDGET_MESSAGE,
      subject: { case: 'budget', value: { ...BUDGET_MESSAGE.subject.value, window: 99 } },
    };
    await expectEverywhere(
      app.address,
      eventsCase(
        [nameless, VIRTUAL_KEY, { ...BUDGET, window: 'year' }, { ...VIRTUAL_KEY, type: 'gateway.request.completed' }],
        [
          namelessMessage,
          VIRTUAL_KEY_MESSAGE,
          yearlyMessage,
          { ...VIRTUAL_KEY_MESSAGE, type: 'gateway.request.completed' },
        ],
        {
          status: 200,
          check({ accepted, rejected }) {
            expect(accepted).toBe(1);
            const rejections = rejected.map(({ index, code, message }: Body) => [index, code, message.split(':')[0]]);
            expect(rejections).toEqual([
              [0, 'invalid_record', 'name'],
              [2, 'invalid_record', 'window'],
              [3, 'invalid_record', 'type'],
            ]);
          },
        },
      ),
    );
  });

  it('a list of 1 to 500 is needed', async () => {
    const refused = { status: 400, code: 'validation_error' };
    await expectEverywhere(app.address, eventsCase([], [], refused));
    const many = Array.from({ length: 501 });
    await expectEverywhere(
      app.address,
      eventsCase(
        many.map(() => VIRTUAL_KEY),
        many.map(() => VIRTUAL_KEY_MESSAGE),
        refused,
      ),
    );
  });

  it('a project key is of the wrong class', async () => {
    await expectEverywhere(
      app.address,
      eventsCase([VIRTUAL_KEY], [VIRTUAL_KEY_MESSAGE], {
        headers: { 'x-auth-token': app.projectKey },
        status: 401,
        code: 'credential_class_mismatch',
      }),
    );
  });

  it('emitted events are neither listed nor read, with any filter', async () => {
    const ids = [`vk_1:created:${AT}`, `budget_1:vk_1:breached:${AT - 1000}`];
    for (const id of ids) {
      const { status, body } = await callRest(app.address, {
        path: `/api/webhooks/v1/events/${encodeURIComponent(id)}`,
        headers: admin(),
      });
      expect([status, body.error.code]).toEqual([404, 'webhook_event_not_found']);
    }
    const types = ['', 'gateway.request.completed', 'gateway.request.settled', BUDGET.type, VIRTUAL_KEY.type, '*'];
    for (const type of types) {
      const query = `from=0&to=9007199254740991${type === '' ? '' : `&type=${encodeURIComponent(type)}`}`;
      const { status, body } = await callRest(app.address, {
        path: `/api/webhooks/v1/events?${query}`,
        headers: admin(),
      });
      expect([type, status, body]).toEqual([type, 200, { data: [], next_cursor: null }]);
    }
  });
});
