import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { create, type Receiver, startReceiver } from '../api/endpoints/endpoints-client.ts';
import { getEvaluator } from '../api/evaluators/evaluators-client.ts';
import { CHAT, type GatewayFixture, startGateway } from '../gateway/gateway-fixture.ts';
import { llmTrace } from '../support/fixtures.ts';
import { callRest, callRpc } from '../support/surfaces.ts';
import { until } from '../support/temp.ts';
import { type CollectedSpan, type Collector, setVariables, startCollector } from './collector.ts';

const ON = { SPANDREL_OTEL: 'on', SPANDREL_WEBHOOK_ALLOW: '127.0.0.1' };
const SERVER = 2;
const CLIENT = 3;
const ERROR = 2;

let collector: Collector;
let receiver: Receiver;
let gateway: GatewayFixture;
let restore: () => void;
beforeAll(async () => {
  collector = await startCollector();
  receiver = await startReceiver();
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' };
  const environment = { ...endpoint, OTEL_BSP_SCHEDULE_DELAY: '20', OTEL_RESOURCE_ATTRIBUTES: 'deployment=test' };
  restore = setVariables(environment);
  gateway = await startGateway({ environment: { ...environment, ...ON } });
});
afterAll(async () => {
  await gateway.close();
  restore();
  await receiver.close();
  await collector.close();
});

async function collected(isIt: (span: CollectedSpan) => boolean): Promise<CollectedSpan> {
  await until(() => collector.spans.some(isIt));
  const found = collector.spans.filter(isIt);
  expect(found).toHaveLength(1);
  return found[0] as CollectedSpan;
}

const trace = (digit: string) => digit.repeat(32);
const CALLER = 'ca11e4ca11e4ca11';
const from = (traceId: string, flags = '01') => ({ traceparent: `00-${traceId}-${CALLER}-${flags}` });

describe('the span of a request', () => {
  it('has the ids that the answer names, in the trace of the caller, and says what the route and the outcome are', async () => {
    const { app } = gateway;
    const headers = { 'x-auth-token': app.projectKey, ...from(trace('a')) };
    const sent = await callRest(app.address, { path: '/api/traces/absent?format=digest', headers });
    expect(sent.status).toBe(404);
    const span = await collected(({ traceId }) => traceId === trace('a'));
    expect(span).toMatchObject({ parentSpanId: CALLER, name: 'GET /api/traces/{trace_id}', kind: SERVER });
    expect(sent.headers.get('traceparent')).toBe(`00-${trace('a')}-${span.spanId}-01`);
    expect(span.attributes).toEqual({
      'http.request.method': 'GET',
      'http.route': '/api/traces/{trace_id}',
      'http.response.status_code': 404,
      'spandrel.caller': 'project_key',
      'error.type': 'trace_not_found',
    });
    expect(span.status.code).not.toBe(ERROR);
    expect(BigInt(span.endTimeUnixNano)).toBeGreaterThan(BigInt(span.startTimeUnixNano));
    expect(span.resource).toMatchObject({ 'service.name': 'spandrel', deployment: 'test' });
  });

  it('begins a trace where the caller has none', async () => {
    const sent = await fetch(`${gateway.app.address}/api/no/such/route?with=a-query`);
    const [, traceId = '', spanId = ''] = sent.headers.get('traceparent')?.split('-') ?? [];
    const span = await collected((each) => each.traceId === traceId);
    expect(span).toMatchObject({ spanId, name: 'GET' });
    expect(span.parentSpanId).toBeFalsy();
    expect(span.attributes).not.toHaveProperty('http.route');
  });

  it('is there over gRPC, too', async () => {
    const { app } = gateway;
    const headers = { 'x-auth-token': app.projectKey, ...from(trace('b')) };
    await callRpc(app.address, { method: getEvaluator, headers, request: { idOrSlug: 'absent' } });
    const span = await collected(({ traceId }) => traceId === trace('b'));
    expect(span).toMatchObject({ parentSpanId: CALLER, name: 'spandrel.v1.EvaluatorService/GetEvaluator' });
    expect(span.attributes).toMatchObject({ 'rpc.system': 'grpc', 'error.type': 'evaluator_not_found' });
  });

  it('is left out where the caller does not sample its trace, and for pages that machines ask all the time', async () => {
    const { app } = gateway;
    for (const path of ['/healthz', '/readyz', '/metrics'])
      await fetch(app.address + path, { headers: from(trace('c')) });
    await fetch(`${app.address}/api/traces/absent`, { headers: from(trace('d'), '00') });
    await fetch(`${app.address}/api/traces/absent`, { headers: from(trace('e')) });
    await collected(({ traceId }) => traceId === trace('e'));
    expect(collector.spans.filter(({ traceId }) => [trace('c'), trace('d')].includes(traceId))).toEqual([]);
  });
});

describe('what the server asks of others', () => {
  it('a request with a virtual key has the attempts at its providers as parts', async () => {
    const { secret, send } = gateway;
    const sent = await send('/v1/chat/completions', { secret, body: CHAT, headers: from(trace('f')) });
    expect(sent.status).toBe(200);
    const own = await collected(({ traceId, kind }) => traceId === trace('f') && kind === SERVER);
    const attempt = await collected(({ traceId, kind }) => traceId === trace('f') && kind === CLIENT);
    expect(own).toMatchObject({ name: 'POST /v1/chat/completions', parentSpanId: CALLER });
    expect(own.attributes).toMatchObject({ 'spandrel.caller': 'virtual_key', 'http.response.status_code': 200 });
    expect(attempt).toMatchObject({ name: 'POST model provider', parentSpanId: own.spanId });
    expect(attempt.attributes).toEqual({ 'http.request.method': 'POST', 'http.response.status_code': 200 });
    expect(gateway.mock.requests.at(-1)?.headers).not.toHaveProperty('traceparent');
  });

  it('a delivery has a trace of its own, and tells its receiver nothing of the request', async () => {
    const { app } = gateway;
    await create(app, { url: receiver.url, enabled_events: ['gateway.request.*'], max_batch_delay_ms: 0 });
    const headers = { 'x-auth-token': app.projectKey, ...from(trace('9')), tracestate: 'a=b', baggage: 'user=alice' };
    await callRest(app.address, { verb: 'POST', path: '/api/collector', headers, body: llmTrace(Date.now()) });
    const span = await collected(({ name }) => name === 'webhook http');
    expect(span.traceId).not.toBe(trace('9'));
    expect(span.parentSpanId).toBeFalsy();
    expect(span.attributes).toEqual({ 'spandrel.webhook.kind': 'http', 'spandrel.webhook.outcome': 'success' });
    const [receipt] = receiver.received;
    for (const name of ['traceparent', 'tracestate', 'baggage']) expect(receipt?.headers).not.toHaveProperty(name);
    expect(JSON.stringify(receipt)).not.toContain(trace('9'));
  });
});

it('no span has a key, an id, a query, a path or a word of the data', async () => {
  const { app, secret, keyId } = gateway;
  expect(collector.spans.length).toBeGreaterThan(5);
  const all = collector.texts.join('\n');
  const secrets = [app.projectKey, app.adminKey, secret, app.projectId, app.organizationId, app.userId, keyId];
  for (const text of [...secrets, 'digest', 'a-query', '/no/such', 'Say h', 'alice', receiver.url, gateway.mock.url]) {
    expect(all).not.toContain(text);
  }
});
