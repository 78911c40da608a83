import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { GatewayService, ReportedRequestStatus } from '../../../gen/spandrel/v1/gateway_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { expectEverywhere, type SurfaceCase } from '../../support/surfaces.ts';

const AT = Date.now();
const { reportRequests, reportGovernanceEvents } = GatewayService.method;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.close();
});

type Fields = { readonly [name: string]: unknown };

/** The changes to a valid item over REST and over gRPC, and its refusal. */
type Row = readonly [rest: Fields, rpc: Fields, message: string];

const long = (length: number) => 'x'.repeat(length);
const atMs = (ms: number, nanos = 0) => {
  const { seconds, nanos: whole } = timestampFromMs(ms);
  return { seconds, nanos: whole + nanos };
};
const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });
const textOf = (value: unknown) => JSON.stringify(value);

const STATUS = 'status: must be one of: admitted, success, error';
const ID_LENGTH = 'must be a string of 1 to 256 characters';
const INSTANT = 'must be a whole number from 1577836800000 to 4102444799999';
const TOKENS = 'must be a whole number from 0 to 9007199254740991';
const COST = 'cost_usd: must be a decimal number from 0 to 9007199.254740991';
const NUL = 'must not hold U+0000';

const RECORDS: readonly Row[] = [
  [{ gateway_request_id: undefined }, { gatewayRequestId: '' }, 'gateway_request_id: is required'],
  [{ gateway_request_id: long(257) }, { gatewayRequestId: long(257) }, `gateway_request_id: ${ID_LENGTH}`],
  [
    { gateway_request_id: 'é' },
    { gatewayRequestId: 'é' },
    'gateway_request_id: must be printable ASCII characters without space and comma',
  ],
  [
    { gateway_request_id: 'gwreq_1' },
    { gatewayRequestId: 'gwreq_1' },
    'gateway_request_id: must not begin with gwreq_, as the ids of requests through this gateway do',
  ],
  [{ status: undefined }, { status: 0 }, 'status: is required'],
  [{ status: 'done' }, { status: 77 }, STATUS],
  [{ occurred_at: undefined }, { occurredAt: undefined }, 'occurred_at: is required'],
  [{ occurred_at: AT + 0.5 }, { occurredAt: atMs(AT, 500_000) }, `occurred_at: ${INSTANT}`],
  [{ occurred_at: 4_102_444_800_000 }, { occurredAt: atMs(4_102_444_800_000) }, `occurred_at: ${INSTANT}`],
  [
    { occurred_at: 1_790_000_000 },
    { occurredAt: atMs(1_790_000_000) },
    'occurred_at: must be milliseconds since the epoch; 1790000000 looks like seconds, multiply by 1000',
  ],
  [{ occurred_at: 1_790_000_000.5 }, { occurredAt: atMs(1_790_000_000, 500_000) }, `occurred_at: ${INSTANT}`],
  [
    { virtual_key_id: long(257) },
    { virtualKeyId: long(257) },
    'virtual_key_id: must be a string of 0 to 256 characters',
  ],
  [{ trace_id: 'a\0' }, { traceId: 'a\0' }, `trace_id: ${NUL}`],
  [{ principal_user_id: '' }, { principalUserId: '' }, `principal_user_id: ${ID_LENGTH}`],
  [{ end_user_id: 'a\0' }, { endUserId: 'a\0' }, `end_user_id: ${NUL}`],
  [{ model: long(257) }, { model: long(257) }, `model: ${ID_LENGTH}`],
  [{ model_provider_id: '' }, { modelProviderId: '' }, `model_provider_id: ${ID_LENGTH}`],
  [{ request_type: long(65) }, { requestType: long(65) }, 'request_type: must be a string of 1 to 64 characters'],
  [{ usage: { input_tokens: -1 } }, { usage: { inputTokens: -1n } }, `usage.input_tokens: ${TOKENS}`],
  [{ usage: { output_tokens: 2 ** 53 } }, { usage: { outputTokens: 2n ** 53n } }, `usage.output_tokens: ${TOKENS}`],
  [
    { usage: { reasoning_tokens: -1, cache_creation_input_tokens: -1 } },
    { usage: { reasoningTokens: -1n, cacheCreationInputTokens: -1n } },
    `usage.cache_creation_input_tokens: ${TOKENS}`,
  ],
  [{ cost_usd: '' }, { costUsd: '' }, COST],
  [{ cost_usd: '9007199.254740992' }, { costUsd: '9007199.254740992' }, COST],
  [{ status: 'error', error: {} }, { status: ReportedRequestStatus.ERROR, error: {} }, 'error.class: is required'],
  [
    { status: 'error', error: { class: long(201), http_status: 7 } },
    { status: ReportedRequestStatus.ERROR, error: { kind: long(201), httpStatus: 7 } },
    'error.class: must be a string of 1 to 200 characters',
  ],
  [
    { status: 'error', error: { class: 'Timeout', http_status: 600 } },
    { status: ReportedRequestStatus.ERROR, error: { kind: 'Timeout', httpStatus: 600 } },
    'error.http_status: must be a whole number from 100 to 599',
  ],
  [{ duration_ms: -1 }, { durationMs: -1n }, 'duration_ms: must be a whole number from 0 to 604800000'],
  [{ labels: Array(65).fill('') }, { labels: Array(65).fill('') }, 'labels: must be an array of at most 64 strings'],
  [{ labels: ['', long(257)] }, { labels: ['', long(257)] }, 'labels.1: must be a string of 0 to 256 characters'],
  [{ labels: ['a\0'] }, { labels: ['a\0'] }, `labels.0: ${NUL}`],
  [{ metadata: null }, { metadataJson: 'null' }, 'metadata: must be an object'],
  [{ metadata: [] }, { metadataJson: '[]' }, 'metadata: must be an object'],
  [
    { metadata: nested(33) },
    { metadataJson: textOf(nested(33)) },
    'metadata: must not be nested deeper than 32 levels',
  ],
  [
    { metadata: { a: long(4089) } },
    { metadataJson: textOf({ a: long(4089) }) },
    'metadata: must be at most 4096 bytes of compact JSON',
  ],
  [{ model: '', cost_usd: '-1', metadata: 7 }, { model: '', costUsd: '-1', metadataJson: '7' }, `model: ${ID_LENGTH}`],
];

const SCOPES = 'organization, team, project, virtual_key, principal, group, attributed_user';
const TYPES =
  'gateway.budget.threshold_crossed, gateway.budget.breached, gateway.virtual_key.created, ' +
  'gateway.virtual_key.rotated, gateway.virtual_key.disabled, gateway.virtual_key.enabled, gateway.virtual_key.revoked';
const AMOUNT = 'must be a decimal number with at most 6 decimals';

const KEY_EVENTS: readonly Row[] = [
  [{ virtual_key_id: '' }, { virtualKeyId: '' }, `virtual_key_id: ${ID_LENGTH}`],
  [{ name: undefined }, { name: undefined }, 'name: is required'],
  [{ name: 'a\0' }, { name: 'a\0' }, `name: ${NUL}`],
  [{ display_prefix: long(65) }, { displayPrefix: long(65) }, 'display_prefix: must be a string of 0 to 64 characters'],
  [{ reason: long(501) }, { reason: long(501) }, 'reason: must be a string of 0 to 500 characters'],
];

const BUDGET_EVENTS: readonly Row[] = [
  [{ budget_id: '' }, { budgetId: '' }, `budget_id: ${ID_LENGTH}`],
  [{ scope_type: undefined }, { scopeType: 0 }, 'scope_type: is required'],
  [{ scope_type: 'user' }, { scopeType: 99 }, `scope_type: must be one of: ${SCOPES}`],
  [{ bucket_scope_id: '' }, { bucketScopeId: '' }, `bucket_scope_id: ${ID_LENGTH}`],
  [{ virtual_key_id: '' }, { virtualKeyId: '' }, `virtual_key_id: ${ID_LENGTH}`],
  [{ anchor_project_id: '' }, { anchorProjectId: '' }, `anchor_project_id: ${ID_LENGTH}`],
  [{ end_user_id: long(257) }, { endUserId: long(257) }, `end_user_id: ${ID_LENGTH}`],
  [{ window: 'year' }, { window: 99 }, 'window: must be one of: minute, hour, day, week, month, total, manual'],
  [{ period_started_at: undefined }, { periodStartedAt: undefined }, 'period_started_at: is required'],
  [
    { period_started_at: -1 },
    { periodStartedAt: atMs(-1) },
    'period_started_at: must be a whole number from 0 to 4102444799999',
  ],
  [{ limit_usd: '100.' }, { limitUsd: '100.' }, `limit_usd: ${AMOUNT}`],
  [{ spent_usd: '' }, { spentUsd: '' }, 'spent_usd: must be a string of 1 to 23 characters'],
  [{ on_breach: 'stop' }, { onBreach: 99 }, 'on_breach: must be one of: block, warn'],
];

it('a record that breaks a rule is refused in the same words over REST and gRPC', async () => {
  const record = { gateway_request_id: 'gw-1', status: 'success', occurred_at: AT };
  const message = { gatewayRequestId: 'gw-1', status: ReportedRequestStatus.SUCCESS, occurredAt: timestampFromMs(AT) };
  await expectRefusals(RECORDS, {
    name: 'requests',
    headers: { 'x-auth-token': app.projectKey },
    rest: {
      verb: 'POST',
      path: '/api/gateway/v1/requests',
      body: { records: RECORDS.map(([fields]) => ({ ...record, ...fields })) },
    },
    rpc: {
      method: reportRequests,
      request: { records: RECORDS.map(([, fields]) => defined({ ...message, ...fields })) },
    },
  });
});

it('a governance event that breaks a rule is refused in the same words over REST and gRPC', async () => {
  const rest = { occurred_at: AT };
  const rpc = { occurredAt: timestampFromMs(AT) };
  const restKey = {
    ...rest,
    type: 'gateway.virtual_key.created',
    virtual_key_id: 'vk_1',
    name: 'a key',
    display_prefix: 'sk-',
  };
  const rpcKey = { virtualKeyId: 'vk_1', name: 'a key', displayPrefix: 'sk-' };
  const restBudget = {
    ...rest,
    type: 'gateway.budget.breached',
    budget_id: 'budget_1',
    scope_type: 'team',
    bucket_scope_id: 'team_1',
    window: 'month',
    period_started_at: AT,
    limit_usd: '100',
    spent_usd: '100.5',
    on_breach: 'warn',
  };
  const rpcBudget = {
    budgetId: 'budget_1',
    scopeType: 2,
    bucketScopeId: 'team_1',
    window: 5,
    periodStartedAt: timestampFromMs(AT),
    limitUsd: '100',
    spentUsd: '100.5',
    onBreach: 2,
  };
  const keyEvent = (fields: Fields = {}) => ({
    ...rpc,
    type: restKey.type,
    subject: { case: 'virtualKey', value: defined({ ...rpcKey, ...fields }) },
  });
  const budgetEvent = (fields: Fields = {}) => ({
    ...rpc,
    type: restBudget.type,
    subject: { case: 'budget', value: defined({ ...rpcBudget, ...fields }) },
  });
  const rows: readonly Row[] = [
    ...KEY_EVENTS.map(([sent, message, text]): Row => [{ ...restKey, ...sent }, keyEvent(message), text]),
    ...BUDGET_EVENTS.map(([sent, message, text]): Row => [{ ...restBudget, ...sent }, budgetEvent(message), text]),
    [{ ...restKey, type: undefined }, { ...keyEvent(), type: '' }, 'type: is required'],
    [{ ...restKey, type: 'gateway.x' }, { ...keyEvent(), type: 'gateway.x' }, `type: must be one of: ${TYPES}`],
    [{ ...restKey, occurred_at: undefined }, { ...keyEvent(), occurredAt: undefined }, 'occurred_at: is required'],
    [{ ...restKey, type: restBudget.type }, { ...keyEvent(), type: restBudget.type }, 'budget_id: is required'],
    [{ ...rest, type: restKey.type }, { ...rpc, type: restKey.type }, 'virtual_key_id: is required'],
    [
      { ...restBudget, type: restKey.type, virtual_key_id: 'vk_1' },
      { ...budgetEvent({ virtualKeyId: 'vk_1' }), type: restKey.type },
      'name: is required',
    ],
  ];
  await expectRefusals(rows, {
    name: 'governance events',
    headers: { authorization: `Bearer ${app.adminKey}` },
    rest: { verb: 'POST', path: '/api/gateway/v1/governance-events', body: { events: rows.map(([sent]) => sent) } },
    rpc: {
      method: reportGovernanceEvents,
      request: { events: rows.map(([, message]) => defined(message)) },
    },
  });
});

async function expectRefusals(rows: readonly Row[], each: Omit<SurfaceCase, 'status' | 'check'>): Promise<void> {
  const rejected = rows.map(([, , message], index) => ({ index, code: 'invalid_record', message }));
  await expectEverywhere(app.address, {
    ...each,
    status: 200,
    check: (answer) => expect(answer).toEqual({ accepted: 0, rejected }),
  });
}

/** Without fields that are undefined. */
function defined(fields: Fields): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
