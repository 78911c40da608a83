import { describe, expect, it } from 'vitest';
import type { Project } from '../../../src/domain/caller.ts';
import type { RequestReport, RequestsReported } from '../../../src/domain/events/request-report.ts';
import type { JsonValue } from '../../../src/domain/fault.ts';
import { createGateway, type GatewayCall } from '../../../src/domain/gateway/gateway.ts';
import { toGovernanceDrafts, toRequestDrafts } from '../../../src/domain/gateway/gateway-json.ts';
import { pricesOfNobody } from '../../support/pricing.ts';

const AT = 1_790_000_000_000;
const ORGANIZATION = { id: 'organization_1', number: 1, priceVersion: 0, promptVersion: 0 };
const PROJECT: Project = {
  id: 'project_1',
  number: 7,
  slug: 'p',
  organizationId: 'organization_1',
  organizationNumber: 1,
  priceVersion: 0,
  promptVersion: 0,
  teamId: 'team_1',
  emitRequestEvents: true,
  traceRetentionDays: null,
  archivedAtMs: null,
};
const ADMIN: GatewayCall = { organization: ORGANIZATION, project: null, nowMs: AT };
const PROJECT_KEY: GatewayCall = { ...ADMIN, project: PROJECT };

/** A gateway over a store that gives these answers, and then reports every record as emitted. */
function createFixture(answers: readonly RequestsReported[] = []) {
  const reports: RequestReport[] = [];
  const counted: string[] = [];
  const left = [...answers];
  let steps = 0;
  const gateway = createGateway({
    prices: pricesOfNobody,
    async runCooperatively(reading) {
      for (;;) {
        const step = reading.next();
        if (step.done === true) return step.value;
        steps += 1;
      }
    },
    meter: { reported: ({ source, status, result }) => void counted.push(`${source} ${status} ${result}`) },
    store: {
      numbers: async (_organizationId, ids) =>
        new Map(ids.filter((id) => id.startsWith('project_')).map((id, index) => [id, index + 1])),
      async report(report) {
        reports.push(report);
        return left.shift() ?? { kind: 'reported', results: report.records.map(() => 'emitted' as const) };
      },
      budgetIds: async () => [],
      virtualKeyProjects: async () => [],
      reportGovernance: async ({ events }) => events.map((_, index) => (index === 0 ? 'duplicate' : 'emitted')),
    },
  });
  return { gateway, reports, counted, steps: () => steps };
}

const record = (fields: { [name: string]: JsonValue } = {}): JsonValue => ({
  gateway_request_id: 'gw-1',
  status: 'success',
  occurred_at: AT,
  ...fields,
});

describe('reporting requests', () => {
  it('reads records in steps, one at a time', async () => {
    const { gateway, steps } = createFixture();
    await gateway.reportRequests(toRequestDrafts({ records: [record(), record(), record()] }), PROJECT_KEY);
    expect(steps()).toBe(3);
  });

  it('validates records one by one, and answers each at its index', async () => {
    const { gateway, reports, counted } = createFixture([
      { kind: 'reported', results: ['stored', 'duplicate', 'rejected'] },
    ]);
    const records = [
      record({ status: 'admitted', project_id: 'project_1' }),
      record({ project_id: 'project_1', duration_ms: -1 }),
      record({ project_id: 'project_2' }),
      'no record',
      record({ project_id: 'unknown' }),
      record({ status: 'error', project_id: 'project_1' }),
      record(),
      record({ project_id: `project_${'0'.repeat(200)}` }),
    ];
    const outcomes = await gateway.reportRequests(toRequestDrafts({ records }), ADMIN);
    expect(outcomes.map(({ status, result, rejection }) => [status, result, rejection?.code ?? null])).toEqual([
      ['admitted', 'stored', null],
      ['success', 'rejected', 'invalid_record'],
      ['success', 'duplicate', null],
      [null, 'rejected', 'invalid_record'],
      ['success', 'rejected', 'project_not_found'],
      ['error', 'rejected', 'already_completed'],
      ['success', 'rejected', 'invalid_record'],
      ['success', 'rejected', 'project_not_found'],
    ]);
    // The store counts the others.
    const rejected = ['success', 'unknown', 'success', 'success', 'success'];
    expect(counted).toEqual(rejected.map((status) => `report ${status} rejected`));
    expect(outcomes[1]?.rejection?.message).toMatch(/^duration_ms: /);
    expect(outcomes[3]?.rejection?.message).toMatch(/^\(root\): /);
    expect(outcomes[6]?.rejection?.message).toBe('project_id: is required');
    expect(reports).toHaveLength(1);
    expect(reports[0]).toMatchObject({ organizationId: 'organization_1', organizationNumber: 1, receivedAtMs: AT });
    expect(reports[0]?.records.map(({ projectNumber }) => projectNumber)).toEqual([1, 2, 1]);
  });

  it('reports for the project of a project key and for no other', async () => {
    const { gateway, reports } = createFixture();
    const records = [record(), record({ project_id: 'project_1' }), record({ project_id: 'project_2' })];
    const outcomes = await gateway.reportRequests(toRequestDrafts({ records }), PROJECT_KEY);
    expect(outcomes.map(({ rejection }) => rejection?.code ?? null)).toEqual([null, null, 'project_mismatch']);
    expect(reports[0]?.records.map(({ projectId, projectNumber }) => [projectId, projectNumber])).toEqual([
      ['project_1', 7],
      ['project_1', 7],
    ]);
  });

  it('does not call the store when no record is valid', async () => {
    const { gateway, reports } = createFixture();
    expect(await gateway.reportRequests(toRequestDrafts({ records: [7] }), PROJECT_KEY)).toHaveLength(1);
    expect(reports).toEqual([]);
  });

  it('prices an outcome by the price list, as of when it happened, unless the gateway says what it cost', async () => {
    const { gateway, reports } = createFixture();
    const usage = { input_tokens: 100, output_tokens: 150 };
    const records = [
      record({ model: 'gpt-5', usage }),
      record({ model: 'gpt-5', usage, cost_usd: '0.5' }),
      record({ model: 'gpt-5', usage, status: 'admitted' }),
      record({ model: 'nobody knows', usage }),
      record({ model: 'gpt-5' }),
    ];
    await gateway.reportRequests(toRequestDrafts({ records }), PROJECT_KEY);
    const costs = reports[0]?.records.map(({ cost, price }) => [cost, price.cost]) ?? [];
    const listed = { nanoUsd: 1_625_000, rateVersion: expect.stringMatching(/^registry@\d{4}-\d{2}-\d{2}$/) };
    expect(costs).toEqual([
      [null, listed],
      [{ nanoUsd: 500_000_000, rateVersion: null }, listed],
      [null, null],
      [null, null],
      [null, null],
    ]);
  });

  it('prices an outcome again with the content of its admission', async () => {
    const usage = {
      inputTokens: 100,
      outputTokens: 150,
      cacheReadInputTokens: 0,
      cacheCreationInputTokens: 0,
      reasoningTokens: 0,
    };
    const unpriced: RequestsReported = { kind: 'unpriced', records: [{ index: 1, model: 'gpt-5', usage }] };
    const { gateway, reports } = createFixture([unpriced]);
    const records = [record(), record({ usage: { input_tokens: 100, output_tokens: 150 } })];
    const outcomes = await gateway.reportRequests(toRequestDrafts({ records }), PROJECT_KEY);
    expect(outcomes.map(({ result }) => result)).toEqual(['emitted', 'emitted']);
    expect(reports).toHaveLength(2);
    expect(reports[1]?.records.map(({ price }) => price.cost?.nanoUsd ?? null)).toEqual([null, 1_625_000]);
    expect(reports[1]?.records[1]?.price).toMatchObject({ model: 'gpt-5', usage });
  });

  it('gives up when others never stop telling of the same request', async () => {
    const unpriced: RequestsReported = { kind: 'unpriced', records: [{ index: 0, model: null, usage: null }] };
    const { gateway } = createFixture(Array.from({ length: 100 }, () => unpriced));
    await expect(gateway.reportRequests(toRequestDrafts({ records: [record()] }), PROJECT_KEY)).rejects.toMatchObject({
      code: 'unavailable',
    });
  });
});

describe('a report', () => {
  it.each<[string, JsonValue, string]>([
    ['no object', [], 'malformed_request'],
    ['no list', {}, 'validation_error'],
    ['null', { records: null }, 'validation_error'],
    ['an object', { records: {} }, 'validation_error'],
    ['empty', { records: [] }, 'validation_error'],
    ['too long', { records: Array.from({ length: 501 }, () => 7) }, 'validation_error'],
  ])('must hold a list of 1 to 500: %s', async (_name, body, code) => {
    const { gateway } = createFixture();
    await expect((async () => gateway.reportRequests(toRequestDrafts(body), ADMIN))()).rejects.toMatchObject({ code });
  });

  it('of governance events is validated event by event', async () => {
    const { gateway } = createFixture();
    const event = {
      type: 'gateway.virtual_key.created',
      occurred_at: AT,
      virtual_key_id: 'vk',
      name: 'n',
      display_prefix: '',
    };
    const events = [event, { ...event, type: 'gateway.request.completed' }, { ...event, virtual_key_id: 'vk2' }];
    const outcomes = await gateway.reportGovernanceEvents(toGovernanceDrafts({ events }), ADMIN);
    expect(outcomes.map(({ result, rejection }) => [result, rejection?.code ?? null])).toEqual([
      ['duplicate', null],
      ['rejected', 'invalid_record'],
      ['emitted', null],
    ]);
  });
});
