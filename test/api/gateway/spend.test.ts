import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type QuerySpendRequestSchema,
  SpendGrouping,
  SpendOrder,
  SpendService,
} from '../../../gen/spandrel/v1/spend_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { addKey, custom } from '../../support/fixtures.ts';
import { type Body, callRest, expectEverywhere, type SurfaceCase } from '../../support/surfaces.ts';

const NOW = Date.now() - 60_000;
const PATH = '/api/gateway/v1/spend';
const { querySpend } = SpendService.method;

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ writer: 'in its thread' });
  const record = (id: number, model: string, fields: object = {}) => ({
    gateway_request_id: `gw-${id}`,
    status: 'success',
    occurred_at: NOW + id,
    model,
    usage: { input_tokens: 100, output_tokens: 10 },
    cost_usd: '0.25',
    ...fields,
  });
  const body = {
    records: [
      record(1, 'dear', { cost_usd: '9007199.254740991', labels: ['a', 'b'] }),
      record(2, 'dear', { cost_usd: '9007199.254740991', end_user_id: 'user-1' }),
      record(3, 'cheap', { status: 'error', error: { class: 'overloaded' }, labels: ['a'] }),
      record(3, 'cheap', { cost_usd: '0.75', labels: ['a'] }),
      record(4, 'cheap', { virtual_key_id: 'vk_1' }),
      record(5, 'nobody-prices-this', { cost_usd: null, status: 'error', error: { class: 'gone' } }),
      record(6, 'cheap', { status: 'admitted', cost_usd: null }),
    ],
  };
  const answer = await callRest(app.address, {
    verb: 'POST',
    path: '/api/gateway/v1/requests',
    body,
    headers: { 'x-auth-token': app.projectKey },
  });
  expect(answer.body).toMatchObject({ accepted: 7, rejected: [] });
});
afterAll(() => app.close());

const admin = () => ({ authorization: `Bearer ${app.adminKey}` });

function spendCase(
  query: string,
  request: MessageInitShape<typeof QuerySpendRequestSchema>,
  each: Partial<SurfaceCase<typeof querySpend>> & { status: number },
): SurfaceCase {
  const range = { occurredFrom: timestampFromMs(NOW), occurredTo: timestampFromMs(NOW + 1000) };
  return {
    name: query,
    headers: admin(),
    rest: { path: `${PATH}?from=${NOW}&to=${NOW + 1000}${query}` },
    rpc: { method: querySpend, request: { ...range, ...request } },
    ...each,
  };
}

const groupsOf = ({ data }: Body) => data.map(({ group, requests, cost }: Body) => [group, requests, cost.total_usd]);

describe('what an organization spent, over REST and gRPC', () => {
  it('is summed up exactly, each request once and as it ended', async () => {
    await expectEverywhere(
      app.address,
      spendCase(
        '',
        {},
        {
          status: 200,
          check: ({ data, total, next_cursor }) => {
            const usage = { input_tokens: 500, output_tokens: 50, cache_read_input_tokens: 0 };
            expect(total).toMatchObject({ requests: 5, errors: 1, unpriced_requests: 1, usage });
            expect(total.cost).toEqual({ total_usd: '18014399.509481982', nano_usd: null });
            expect(data).toEqual([{ group: null, ...total }]);
            expect(Object.keys(data[0])).toEqual(['group', 'requests', 'errors', 'unpriced_requests', 'usage', 'cost']);
            expect(next_cursor).toBeNull();
          },
        },
      ),
    );
  });

  it.each<[query: string, request: MessageInitShape<typeof QuerySpendRequestSchema>, expected: unknown]>([
    [
      '&group_by=model',
      { groupBy: SpendGrouping.MODEL },
      [
        ['dear', 2, '18014398.509481982'],
        ['cheap', 2, '1'],
        ['nobody-prices-this', 1, '0'],
      ],
    ],
    [
      '&group_by=label&order_by=requests',
      { groupBy: SpendGrouping.LABEL, orderBy: SpendOrder.REQUESTS },
      [
        [null, 3, '9007199.504740991'],
        ['a', 2, '9007200.004740991'],
        ['b', 1, '9007199.254740991'],
      ].sort(([, one], [, other]) => Number(other) - Number(one)),
    ],
    ['&end_user_id=user-1', { endUserId: 'user-1' }, [[null, 1, '9007199.254740991']]],
    ['&virtual_key_id=&model=cheap', { virtualKeyId: '', model: 'cheap' }, [[null, 1, '0.75']]],
    ['&group_by=virtual_key&label=nobody', { groupBy: SpendGrouping.VIRTUAL_KEY, label: 'nobody' }, []],
    ['&project_id=project_of_others', { projectId: 'project_of_others' }, []],
  ])('%s', async (query, request, expected) => {
    await expectEverywhere(
      app.address,
      spendCase(query, request, { status: 200, check: (body) => expect(groupsOf(body)).toEqual(expected) }),
    );
  });

  it('comes in pages, whose cursors fit no other query', async () => {
    const first = await callRest(app.address, {
      path: `${PATH}?from=${NOW}&to=${NOW + 1000}&group_by=model&limit=2`,
      headers: admin(),
    });
    expect(groupsOf(first.body)).toHaveLength(2);
    const cursor: string = first.body.next_cursor;
    await expectEverywhere(
      app.address,
      spendCase(
        `&group_by=model&limit=2&cursor=${cursor}`,
        { groupBy: SpendGrouping.MODEL, pageSize: 2, pageToken: cursor },
        {
          status: 200,
          check: (body) => {
            expect(groupsOf(body)).toEqual([['nobody-prices-this', 1, '0']]);
            expect(body.total).toEqual(first.body.total);
            expect(body.next_cursor).toBeNull();
          },
        },
      ),
    );
    await expectEverywhere(
      app.address,
      spendCase(
        `&group_by=model&label=a&cursor=${cursor}`,
        { groupBy: SpendGrouping.MODEL, label: 'a', pageToken: cursor },
        { status: 400, code: 'invalid_cursor' },
      ),
    );
  });

  it.each<[query: string, request: MessageInitShape<typeof QuerySpendRequestSchema>]>([
    ['&limit=0', { pageSize: 0 }],
    ['&limit=1001', { pageSize: 1001 }],
    ['&group_by=colour', { groupBy: 99 as SpendGrouping }],
    ['&order_by=tokens', { orderBy: 99 as SpendOrder }],
  ])('refuses %s', async (query, request) => {
    await expectEverywhere(app.address, spendCase(query, request, { status: 400, code: 'validation_error' }));
  });

  it('requires a range that begins before it ends', async () => {
    for (const [query, range] of [
      ['', {}],
      [`?from=${NOW}`, { occurredFrom: timestampFromMs(NOW) }],
      [`?from=${NOW}&to=${NOW - 1}`, { occurredFrom: timestampFromMs(NOW), occurredTo: timestampFromMs(NOW - 1) }],
    ] as const) {
      await expectEverywhere(app.address, {
        name: `the range ${query}`,
        headers: admin(),
        rest: { path: `${PATH}${query}` },
        rpc: { method: querySpend, request: range },
        status: 400,
        code: 'validation_error',
      });
    }
  });

  it('is returned to keys with gatewaySpend:view at the organization, and to no others', async () => {
    const { organizationId, projectId } = app;
    const keyWith = async (binding: ReturnType<typeof custom>) => ({
      authorization: `Bearer ${await addKey(app, { bindings: [binding] })}`,
    });
    const viewing = await keyWith(custom('ORGANIZATION', organizationId, ['gatewaySpend:view']));
    const other = await keyWith(custom('ORGANIZATION', organizationId, ['gatewayUsage:view']));
    const ofProject = await keyWith(custom('PROJECT', projectId, ['gatewaySpend:view']));
    for (const [headers, status, code] of [
      [viewing, 200, undefined],
      [other, 403, 'insufficient_permissions'],
      [ofProject, 403, 'insufficient_permissions'],
      [{}, 401, 'missing_credentials'],
      [{ 'x-auth-token': app.projectKey }, 401, 'credential_class_mismatch'],
    ] as const) {
      await expectEverywhere(
        app.address,
        spendCase('', {}, { headers, status, ...(code === undefined ? {} : { code }) } as never),
      );
    }
  });
});
