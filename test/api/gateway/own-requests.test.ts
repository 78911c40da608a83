/** Spans of requests of our own gateway: those of the gateway, and those that its callers send of the same calls. */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createGatewayRequestId, gatewayRequestId } from '../../../src/domain/events/request-event.ts';
import { BARE_CONTENT, recordOf } from '../../storage/conformance/reports.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { hex } from '../../support/fixtures.ts';
import { type Body, callRest } from '../../support/surfaces.ts';
import { until } from '../../support/temp.ts';
import { bearer } from '../organization/organization-client.ts';

const NOW = Date.now() - 60_000;
/** What the gateway says, not what a span is priced at. */
const COST_NANO_USD = 123_456;

let app: TestApp;
let organizationNumber: number;
let projectNumber: number;
beforeAll(async () => {
  app = await startApp({
    environment: { SPANDREL_MONITOR_SETTLE_MS: '20', SPANDREL_MONITOR_ROOTLESS_SETTLE_MS: '20' },
  });
  const found = await app.store.keys.findProject(app.projectId);
  if (found === null) throw new Error('there is no project');
  projectNumber = found.number;
  organizationNumber = found.organizationNumber;
});
afterAll(async () => {
  await app.close();
});

let id: string;
let traceId: string;
beforeEach(() => {
  id = createGatewayRequestId(hexBytes);
  traceId = hex(32);
});

const hexBytes = (count: number) => Buffer.from(hex(2 * count), 'hex');

async function admit(): Promise<void> {
  const { organizationId, projectId } = app;
  await app.store.requests.admit({
    ...{ kind: 'admission', organizationId, organizationNumber, projectId, projectNumber, receivedAtMs: Date.now() },
    ...{ gatewayRequestId: id, content: { ...BARE_CONTENT, occurredAtMs: NOW }, processId: 'process', amounts: [] },
  });
}

async function complete(): Promise<void> {
  const { organizationId, projectId } = app;
  const content = { ...BARE_CONTENT, occurredAtMs: NOW, model: 'gpt-4o', traceId };
  const of = { projectId, projectNumber, gatewayRequestId: id, content };
  const record = recordOf('success', { ...of, cost: { nanoUsd: COST_NANO_USD, rateVersion: null } });
  const own = { organizationId, organizationNumber, receivedAtMs: Date.now() };
  await app.store.requests.report({ kind: 'requests', ...own, records: [record] });
}

type Named = { readonly names?: string; readonly tokens?: number };

function call(spanId: string, parentId: string | null, { names, tokens = 100 }: Named = {}): Body {
  return {
    ...{ span_id: spanId, parent_id: parentId, type: 'llm', model: 'gpt-4o' },
    metrics: { prompt_tokens: tokens, completion_tokens: 10 },
    ...(names === undefined ? {} : { params: { gateway_request_id: names } }),
    timestamps: { started_at: NOW, finished_at: NOW + 1 },
  };
}

async function send(...spans: readonly Body[]): Promise<void> {
  const headers = { 'x-auth-token': app.projectKey };
  const body = { trace_id: traceId, spans };
  const { status } = await callRest(app.address, { verb: 'POST', path: '/api/collector', headers, body });
  expect(status).toBe(200);
}

const read = async (path: string): Promise<Body> =>
  (await callRest(app.address, { path, headers: bearer(app.adminKey) })).body;

const settled = () => until(async () => (await app.store.evaluationJobs.counts(10)).depth === 0);

/** Of all events of the trace and of the request, oldest first. */
async function eventIds(): Promise<readonly string[]> {
  const { data } = await read(`/api/webhooks/v1/events?from=0&to=9007199254740991&limit=200`);
  const own = data.filter((event: Body) => event.data.trace_id === traceId || event.data.gateway_request_id === id);
  return own.map((event: Body) => event.id).reverse();
}

/** What the requests of the trace cost together, each by its newest event. */
async function costNanoUsd(): Promise<number> {
  const { data } = await read(`/api/webhooks/v1/events?from=0&to=9007199254740991&limit=200`);
  const newest = new Map<string, Body>();
  for (const event of data.toReversed()) {
    if (event.data.trace_id === traceId) newest.set(event.data.gateway_request_id, event.data);
  }
  return [...newest.values()].reduce((sum, { cost }) => sum + (cost?.nano_usd ?? 0), 0);
}

async function spend(): Promise<number> {
  return (await read(`/api/gateway/v1/spend?from=0&to=9007199254740991`)).total.cost.nano_usd;
}

describe('a span that names a request of this gateway', () => {
  it('changes nothing of a request that is admitted', async () => {
    await admit();
    await send(call('a', null, { names: id }));
    await send(call('a', null, { names: id, tokens: 7 }));
    expect(await eventIds()).toEqual([]);
    await complete();
    expect(await eventIds()).toEqual([`${id}:completed`]);
    expect(await costNanoUsd()).toBe(COST_NANO_USD);
  });

  it('changes nothing of a request that has its outcome', async () => {
    const before = await spend();
    await admit();
    await complete();
    await send(call('a', null, { names: id }));
    await send(call('a', null, { names: id, tokens: 7 }));
    expect(await eventIds()).toEqual([`${id}:completed`]);
    expect((await spend()) - before).toBe(COST_NANO_USD);
    const { spans } = await readTrace();
    expect(spans[0].metrics.prompt_tokens).toBe(7);
  });

  it('joins it over OTLP, too', async () => {
    await admit();
    await complete();
    const attributes = [
      { key: 'gen_ai.operation.name', value: { stringValue: 'chat' } },
      { key: 'gen_ai.request.model', value: { stringValue: 'gpt-4o' } },
      { key: 'gen_ai.usage.input_tokens', value: { intValue: '100' } },
      { key: 'gateway_request_id', value: { stringValue: id } },
    ];
    const times = { startTimeUnixNano: `${NOW}000000`, endTimeUnixNano: `${NOW + 1}000000` };
    const span = { traceId, spanId: hex(16), name: 'chat', kind: 3, ...times, attributes };
    const headers = { authorization: `Bearer ${app.projectKey}` };
    const body = { resourceSpans: [{ resource: {}, scopeSpans: [{ scope: { name: 'test' }, spans: [span] }] }] };
    const { status } = await callRest(app.address, { verb: 'POST', path: '/v1/traces', headers, body });
    expect(status).toBe(200);
    expect((await readTrace()).spans[0].params.gateway_request_id).toBe(id);
    expect(await eventIds()).toEqual([`${id}:completed`]);
    expect(await costNanoUsd()).toBe(COST_NANO_USD);
  });

  it('counts by itself when the request is not known', async () => {
    await send(call('a', null, { names: id }));
    const derived = gatewayRequestId(traceId, 'a', null);
    expect(await eventIds()).toEqual([`${derived}:completed`]);
    await send(call('a', null, { names: id, tokens: 7 }));
    expect(await eventIds()).toEqual([`${derived}:completed`, `${derived}:completed:2`]);
  });
});

const readTrace = async (): Promise<Body> =>
  (await callRest(app.address, { path: `/api/traces/${traceId}`, headers: { 'x-auth-token': app.projectKey } })).body;

describe('two spans of one call through this gateway are one request', () => {
  // The caller's SDK spans the call from outside, and the gateway from inside.
  const sdk = () => call('sdk', null);
  const own = () => call('own', 'sdk', { names: id });
  // A caller may copy the id into its own span, which has another inside.
  const copied = () => call('sdk', null, { names: id });
  const inner = () => call('inner', 'sdk');

  it.each<readonly [string, () => readonly (readonly Body[])[]]>([
    ['the one of the caller first', () => [[sdk()], [own()]]],
    ['the one of the gateway first', () => [[own()], [sdk()]]],
    ['both at once', () => [[sdk(), own()]]],
    ['both at once, the other way around', () => [[own(), sdk()]]],
    ['the outer one names it too', () => [[own()], [copied()]]],
    ['only the outer one names it, and comes first', () => [[copied()], [inner()]]],
    ['only the outer one names it, and comes last', () => [[inner()], [copied()]]],
    ['only the outer one names it, and both come at once', () => [[inner(), copied()]]],
  ])('%s', async (_, sendings) => {
    const before = await spend();
    await admit();
    await complete();
    const isOwn = (eventId: string) => eventId.startsWith('gwreq_');
    for (const spans of sendings()) await send(...spans);
    await settled();
    expect(await costNanoUsd()).toBe(COST_NANO_USD);
    expect((await eventIds()).filter(isOwn)).toEqual([`${id}:completed`]);
    expect((await spend()) - before).toBe(COST_NANO_USD);
    // Sent again, and in another order.
    for (const spans of sendings().toReversed()) await send(...spans);
    await settled();
    expect(await costNanoUsd()).toBe(COST_NANO_USD);
    expect((await eventIds()).filter(isOwn)).toEqual([`${id}:completed`]);
    expect((await spend()) - before).toBe(COST_NANO_USD);
  });

  it('also while it is admitted, and when they are not a pair any more', async () => {
    const before = await spend();
    await admit();
    await send(sdk());
    await send(own());
    await settled();
    expect((await eventIds()).filter((eventId) => eventId.startsWith('gwreq_'))).toEqual([]);
    expect((await spend()) - before).toBe(0);
    await complete();
    expect((await spend()) - before).toBe(COST_NANO_USD);
    // Another usage makes it another call, which counts for itself.
    await send(call('sdk', null, { tokens: 999 }));
    await settled();
    expect((await spend()) - before).toBeGreaterThan(COST_NANO_USD);
    expect((await eventIds()).filter((eventId) => eventId.startsWith('gwreq_'))).toEqual([`${id}:completed`]);
  });
});
