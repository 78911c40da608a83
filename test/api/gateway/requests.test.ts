import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GatewayService, ReportedRequestStatus } from '../../../gen/spandrel/v1/gateway_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { addKey, custom, hex, llmTrace } from '../../support/fixtures.ts';
import {
  type Body,
  callRest,
  callRpc,
  expectEverywhere,
  grpcStatus,
  type SurfaceCase,
} from '../../support/surfaces.ts';

const NOW = Date.now();
const PATH = '/api/gateway/v1/requests';
const { reportRequests } = GatewayService.method;

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ writer: 'in its thread' });
});
afterAll(async () => {
  await app.close();
});

const admin = () => ({ authorization: `Bearer ${app.adminKey}` });
const projectKey = () => ({ 'x-auth-token': app.projectKey });

type Fields = { readonly [name: string]: unknown };

const record = (fields: Fields = {}) => ({
  gateway_request_id: `gw-${hex(16)}`,
  status: 'success',
  occurred_at: NOW,
  ...fields,
});
const message = (fields: Fields = {}) => ({
  gatewayRequestId: `gw-${hex(16)}`,
  status: ReportedRequestStatus.SUCCESS,
  occurredAt: timestampFromMs(NOW),
  ...fields,
});

function reportCase(
  body: unknown,
  request: Record<string, unknown>,
  each: Partial<SurfaceCase<typeof reportRequests>> & { status: number },
): SurfaceCase {
  return {
    name: 'report',
    headers: projectKey(),
    rest: { verb: 'POST', path: PATH, body },
    rpc: { method: reportRequests, request },
    ...each,
  };
}

async function send(records: readonly Fields[], headers = projectKey()): Promise<Body> {
  const answer = await callRest(app.address, { verb: 'POST', path: PATH, body: { records }, headers });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

async function read(eventId: string): Promise<Body> {
  const path = `/api/webhooks/v1/events/${encodeURIComponent(eventId)}`;
  const answer = await callRest(app.address, { path, headers: admin() });
  return answer.status === 200 ? answer.body.data : null;
}

async function addProject(): Promise<{ readonly id: string; readonly apiKey: string }> {
  const body = { name: `project ${hex(16)}` };
  return (await callRest(app.address, { verb: 'POST', path: '/api/projects', body, headers: admin() })).body;
}

it('members that no record has are listed, and ignored', async () => {
  const records = [record(), record({ cost: 1, usage: { input_tokens: 1, total_tokens: 2 } }), { nonsense: 1 }];
  expect(await send(records)).toMatchObject({
    accepted: 2,
    rejected: [{ index: 2 }],
    ignored: [
      { index: 1, field: 'cost' },
      { index: 1, field: 'usage.total_tokens' },
      { index: 2, field: 'nonsense' },
    ],
  });
  expect(Object.keys(await send([record()]))).toEqual(['accepted', 'rejected']);
});

describe('reporting requests, over REST and gRPC', () => {
  it('a record with every field becomes the same event over both', async () => {
    const fields = {
      virtual_key_id: 'vk_1',
      trace_id: 'trace',
      principal_user_id: 'principal',
      end_user_id: 'end user',
      model: 'gpt-5',
      model_provider_id: 'provider',
      request_type: 'chat',
      usage: { input_tokens: 100, output_tokens: 150, cache_read_input_tokens: 0 },
      error: { class: 'Timeout', http_status: 504 },
      duration_ms: 1234,
      labels: ['a', 'b'],
    };
    const rest = record({ ...fields, status: 'error', metadata: { n: 0 }, project_id: app.projectId });
    const body = JSON.stringify({ records: [rest] }).replace('"n":0', '"n":1.0,"big":12345678901234567890');
    const rpc = message({
      status: ReportedRequestStatus.ERROR,
      projectId: app.projectId,
      virtualKeyId: 'vk_1',
      traceId: 'trace',
      principalUserId: 'principal',
      endUserId: 'end user',
      model: 'gpt-5',
      modelProviderId: 'provider',
      requestType: 'chat',
      usage: { inputTokens: 100n, outputTokens: 150n },
      error: { kind: 'Timeout', httpStatus: 504 },
      durationMs: 1234n,
      labels: ['a', 'b'],
      metadataJson: '{ "n" : 1.0, "big": 12345678901234567890 }',
    });
    const check = (answer: Body) => expect(answer).toEqual({ accepted: 1, rejected: [] });
    await expectEverywhere(app.address, reportCase(body, { records: [rpc] }, { headers: admin(), status: 200, check }));
    for (const id of [rest.gateway_request_id, rpc.gatewayRequestId]) {
      expect((await read(`${id}:completed`)).data).toEqual({
        event_id: `${id}:completed`,
        event_type: 'gateway.request.completed',
        gateway_request_id: id,
        occurred_at: new Date(NOW).toISOString(),
        organization_id: app.organizationId,
        project_id: app.projectId,
        ...fields,
        usage: {
          input_tokens: 100,
          output_tokens: 150,
          cache_read_input_tokens: 0,
          cache_creation_input_tokens: 0,
          reasoning_tokens: 0,
        },
        cost: { total_usd: '0.001625', nano_usd: 1_625_000, rate_version: expect.stringMatching(/^registry@/) },
        status: 'error',
        needs_reconciliation: null,
        settle_reason: null,
        metadata: { n: 1, big: Number('12345678901234567890') },
      });
      const found = await app.store.events.find({ id: app.organizationId, number: 1 }, `${id}:completed`, 0);
      expect(found?.envelope).toContain('"metadata":{"n":1.0,"big":12345678901234567890}}}');
    }
  });

  it('one bad record never costs its neighbours', async () => {
    const bad: readonly [Fields, Fields, string][] = [
      [{ gateway_request_id: 'a,b' }, { gatewayRequestId: 'a,b' }, 'gateway_request_id: '],
      [{ status: 'done' }, { status: 77 }, 'status: '],
      [{ occurred_at: undefined }, { occurredAt: undefined }, 'occurred_at: '],
      [{ duration_ms: 604800001 }, { durationMs: 604800001n }, 'duration_ms: '],
      [{ usage: { input_tokens: -1 } }, { usage: { inputTokens: -1n } }, 'usage.input_tokens: '],
      [{ cost_usd: '1e3' }, { costUsd: '1e3' }, 'cost_usd: '],
      [{ metadata: [] }, { metadataJson: 'no json' }, 'metadata: '],
      [{ labels: ['x'.repeat(257)] }, { labels: ['x'.repeat(257)] }, 'labels.0: '],
      [{ end_user_id: 'a\0' }, { endUserId: 'a\0' }, 'end_user_id: '],
    ];
    const rest = bad.flatMap(([fields]) => [record(), record(fields)]);
    const rpc = bad.flatMap(([, fields]) => [message(), message(fields)]);
    await expectEverywhere(
      app.address,
      reportCase(
        { records: rest },
        { records: rpc },
        {
          status: 200,
          check({ accepted, rejected }) {
            expect(accepted).toBe(bad.length);
            expect(rejected).toEqual(
              bad.map(([, , path], index) => ({
                index: 2 * index + 1,
                code: 'invalid_record',
                message: expect.stringMatching(new RegExp(`^${path}`)),
              })),
            );
          },
        },
      ),
    );
  });

  it('numbers beyond any double cost their own records only', async () => {
    const records = [record(), record({ usage: { input_tokens: 'HUGE' } }), record({ metadata: { a: 'HUGE' } })];
    const body = JSON.stringify({ records }).replaceAll('"HUGE"', '1e999');
    const { status, body: answer } = await callRest(app.address, {
      verb: 'POST',
      path: PATH,
      body,
      headers: projectKey(),
    });
    expect(status).toBe(200);
    expect(answer.accepted).toBe(1);
    expect(answer.rejected.map(({ index }: Body) => index)).toEqual([1, 2]);
  });

  it('of 500 records with one bad one 499 are stored, and one more record is too many', async () => {
    const mark = hex(8);
    const records = Array.from({ length: 500 }, (_, index) =>
      record({ gateway_request_id: `${mark}-${index}`, ...(index === 250 ? { duration_ms: 'x' } : {}) }),
    );
    const answer = await send(records);
    expect(answer).toMatchObject({ accepted: 499, rejected: [{ index: 250, code: 'invalid_record' }] });
    for (const index of [0, 249, 251, 499]) expect(await read(`${mark}-${index}:completed`)).not.toBeNull();
    expect(await read(`${mark}-250:completed`)).toBeNull();
    const codes = { status: 400, code: 'validation_error' };
    const messages = Array.from({ length: 501 }, () => message());
    await expectEverywhere(app.address, reportCase({ records: [...records, record()] }, { records: messages }, codes));
    await expectEverywhere(app.address, reportCase({ records: [] }, { records: [] }, codes));
    for (const body of [{}, { records: null }, { records: {} }, { records: 'x' }]) {
      const refused = await callRest(app.address, { verb: 'POST', path: PATH, body, headers: projectKey() });
      expect(refused.status).toBe(400);
      expect(refused.body.error).toMatchObject({ code: 'validation_error', meta: { fields: ['records'] } });
    }
  });

  it('a request goes from admission to its outcome, priced from both, and to its correction', async () => {
    const id = `gw-${hex(16)}`;
    const usage = { input_tokens: 100, output_tokens: 150 };
    const admitted = record({
      gateway_request_id: id,
      status: 'admitted',
      model: 'gpt-5',
      virtual_key_id: 'vk_1',
      metadata: { a: 1 },
    });
    const failed = record({ gateway_request_id: id, status: 'error', usage });
    expect(await send([admitted, failed, admitted, failed])).toEqual({ accepted: 4, rejected: [] });
    const before = await read(`${id}:completed`);
    expect(before.data).toMatchObject({
      status: 'error',
      error: { class: 'unknown', http_status: null },
      model: 'gpt-5',
      virtual_key_id: 'vk_1',
      metadata: { a: 1 },
      cost: { nano_usd: 1_625_000 },
    });
    await send([record({ gateway_request_id: id, usage: { output_tokens: 100 }, cost_usd: '0.10' })]);
    expect((await read(`${id}:completed:2`)).data).toMatchObject({
      status: 'success',
      error: null,
      virtual_key_id: 'vk_1',
      cost: { total_usd: '0.1', nano_usd: 100_000_000, rate_version: null },
    });
    expect(await read(`${id}:completed`)).toEqual(before);
    expect(await send([failed, record({ gateway_request_id: id })])).toEqual({
      accepted: 1,
      rejected: [{ index: 0, code: 'already_completed', message: expect.any(String) }],
    });
  });

  it('an admission that comes too late gives its outcome nothing, not even a price', async () => {
    const id = `gw-${hex(16)}`;
    const content = { model: 'gpt-5', usage: { input_tokens: 100 } };
    const records = [record({ status: 'error' }), record({ status: 'admitted', ...content }), record()];
    await send(records.map((each) => ({ ...each, gateway_request_id: id })));
    expect((await read(`${id}:completed:2`)).data).toMatchObject({ model: null, usage: null, cost: null });
  });

  it('a collected span completes an admitted request, and takes from it what it does not say', async () => {
    const id = `gw-${hex(16)}`;
    await send([record({ gateway_request_id: id, status: 'admitted', virtual_key_id: 'vk_1', model: 'other' })]);
    const trace = llmTrace(NOW);
    for (const span of trace.spans) Object.assign(span.params, { gateway_request_id: id });
    await callRest(app.address, { verb: 'POST', path: '/api/collector', body: trace, headers: projectKey() });
    expect((await read(`${id}:completed`)).data).toMatchObject({
      virtual_key_id: 'vk_1',
      model: 'gpt-5',
      trace_id: trace.trace_id,
      end_user_id: 'user-1',
    });
    expect(await send([record({ gateway_request_id: id, status: 'error' })])).toEqual({ accepted: 1, rejected: [] });
    expect(await read(`${id}:completed:2`)).toBeNull();
  });

  it('two projects with the same request id have an event each', async () => {
    const id = `gw-${hex(16)}`;
    const other = await addProject();
    await send([record({ gateway_request_id: id })]);
    await send([record({ gateway_request_id: id })], { 'x-auth-token': other.apiKey });
    expect((await read(`${id}:completed`)).data.project_id).toBe(app.projectId);
    const second = await read(`${id}:${other.id}:completed`);
    expect(second.data).toMatchObject({ project_id: other.id, gateway_request_id: id });
  });
});

describe('who may report requests', () => {
  it('an API key for every project of its organization, archived ones included', async () => {
    const archived = await addProject();
    await callRest(app.address, { verb: 'DELETE', path: `/api/projects/${archived.id}`, headers: admin() });
    const ids = [app.projectId, archived.id, 'project_000000000000000000000', 'x\0y', undefined];
    const check = ({ accepted, rejected }: Body) => {
      expect(accepted).toBe(2);
      expect(rejected.map(({ index, code }: Body) => [index, code])).toEqual([
        [2, 'project_not_found'],
        [3, 'project_not_found'],
        [4, 'invalid_record'],
      ]);
    };
    await expectEverywhere(
      app.address,
      reportCase(
        { records: ids.map((id) => record(id === undefined ? {} : { project_id: id })) },
        { records: ids.map((id) => message(id === undefined ? {} : { projectId: id })) },
        { headers: admin(), status: 200, check },
      ),
    );
  });

  it('a project key for its own project only, even when another one is named', async () => {
    const other = await addProject();
    const headers = { ...projectKey(), 'x-project-id': other.id };
    const answer = await send([record(), record({ project_id: other.id })], headers);
    expect(answer).toMatchObject({ accepted: 1, rejected: [{ index: 1, code: 'project_mismatch' }] });
  });

  it('a key with gatewaySpend:manage at the organization and no other', async () => {
    const { organizationId, projectId } = app;
    const keys = {
      allowed: await addKey(app, { bindings: [custom('ORGANIZATION', organizationId, ['gatewaySpend:manage'])] }),
      viewing: await addKey(app, { bindings: [custom('ORGANIZATION', organizationId, ['gatewaySpend:view'])] }),
      project: await addKey(app, { bindings: [custom('PROJECT', projectId, ['gatewaySpend:manage'])] }),
      owner: await addKey(app, { bindings: [{ ...custom('PROJECT', projectId, []), role: 'ADMIN' }] }),
    };
    for (const [name, token] of Object.entries(keys)) {
      const refused = { status: 403, code: 'insufficient_permissions' };
      await expectEverywhere(
        app.address,
        reportCase(
          { records: [record({ project_id: projectId })] },
          { records: [message({ projectId })] },
          { headers: { authorization: `Bearer ${token}` }, ...(name === 'allowed' ? { status: 200 } : refused) },
        ),
      );
    }
  });
});

describe('a report', () => {
  it('may have 8 MiB, and not more', async () => {
    const padding = (bytes: number) => ({ records: [record()], padding: 'x'.repeat(bytes) });
    const limit = 8 * 1024 * 1024;
    const ask = (bytes: number) =>
      callRest(app.address, { verb: 'POST', path: PATH, body: padding(bytes), headers: projectKey() });
    expect((await ask(limit - 200)).status).toBe(200);
    const refused = await ask(limit);
    expect([refused.status, refused.body.error.code, refused.body.error.meta.limit_bytes]).toEqual([
      413,
      'payload_too_large',
      limit,
    ]);
    const rpc = await callRpc(app.address, {
      method: reportRequests,
      request: { records: [message({ metadataJson: 'x'.repeat(limit) })] },
      headers: projectKey(),
    });
    expect(rpc.ok ? null : rpc.error.code).toBe(grpcStatus(413, 'payload_too_large'));
  });

  it('that is not a JSON object is malformed', async () => {
    for (const body of ['[]', '7', '{"records":', '']) {
      const refused = await callRest(app.address, { verb: 'POST', path: PATH, body, headers: projectKey() });
      expect([refused.status, refused.body.error.code]).toEqual([400, 'malformed_request']);
    }
  });
});
