/** The spans that callers send of their own calls, beside those of the gateway. */

import { createAnthropic } from '@ai-sdk/anthropic';
import { OpenAIInstrumentation } from '@arizeai/openinference-instrumentation-openai';
import { context, propagation, SpanKind, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { node } from '@opentelemetry/sdk-node';
import { generateText, streamText } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLAUDE, type GatewayFixture, MODEL, startGateway } from './gateway-fixture.ts';

let gateway: GatewayFixture;
let provider: node.NodeTracerProvider;
let instrumentation: OpenAIInstrumentation;
/** As it is without instrumentation, whose end forgets it: the next file of this worker would read its streams twice. */
const createResponse = OpenAI.Responses.prototype.create;
let ended = 0;
/** Spans of streams end after their streams. */
const counting: node.SpanProcessor = {
  onStart: () => undefined,
  onEnd() {
    ended += 1;
  },
  forceFlush: async () => undefined,
  shutdown: async () => undefined,
};
beforeAll(async () => {
  globalThis.AI_SDK_LOG_WARNINGS = false;
  const environment = { SPANDREL_MONITOR_SETTLE_MS: '20', SPANDREL_MONITOR_ROOTLESS_SETTLE_MS: '20' };
  gateway = await startGateway({ environment });
  const { address, projectKey } = gateway.app;
  const headers = { authorization: `Bearer ${projectKey}` };
  const exporter = new OTLPTraceExporter({ url: `${address}/api/otel/v1/traces`, headers });
  provider = new node.NodeTracerProvider({ spanProcessors: [counting, new node.BatchSpanProcessor(exporter)] });
  provider.register();
  instrumentation = new OpenAIInstrumentation({ tracerProvider: provider });
  instrumentation.manuallyInstrument(OpenAI);
});
afterAll(async () => {
  instrumentation.disable();
  OpenAI.Responses.prototype.create = createResponse;
  await provider.shutdown();
  trace.disable();
  context.disable();
  propagation.disable();
  await gateway.close();
});

/** As docs/gateway.md shows it. */
const propagatingFetch: typeof fetch = (url, init) => {
  const headers = new Headers(init?.headers);
  propagation.inject(context.active(), headers, { set: (carrier, name, value) => carrier.set(name, value) });
  return fetch(url, { ...init, headers });
};

/** As an instrumentation of HTTP does: with a span of its own. */
const instrumentedFetch: typeof fetch = (url, init) =>
  trace.getTracer('http').startActiveSpan('POST', { kind: SpanKind.CLIENT }, async (span) => {
    try {
      return await propagatingFetch(url, init);
    } finally {
      span.end();
    }
  });

const HELLO = [{ role: 'user' as const, content: 'Say hello.' }];
type Call = (fetching: typeof fetch) => Promise<unknown>;

const CALLS: readonly (readonly [string, Call])[] = [
  [
    'openai with OpenInference',
    (fetching) => openAi(fetching).chat.completions.create({ model: MODEL, messages: HELLO }),
  ],
  ['ai with its telemetry', (fetching) => generateText({ ...asking(fetching), prompt: 'Say hello.' })],
  [
    'a stream of ai with its telemetry',
    async (fetching) => await streamText({ ...asking(fetching), prompt: 'Say hello.' }).consumeStream(),
  ],
];

function openAi(fetching: typeof fetch): OpenAI {
  const { app, secret } = gateway;
  return new OpenAI({ baseURL: `${app.address}/v1`, apiKey: secret, maxRetries: 0, fetch: fetching });
}

function asking(fetching: typeof fetch) {
  const { app, secret } = gateway;
  const anthropic = createAnthropic({ baseURL: `${app.address}/v1`, apiKey: secret, fetch: fetching });
  return { model: anthropic(CLAUDE), maxRetries: 0, experimental_telemetry: { isEnabled: true } };
}

type Event = { readonly gateway_request_id: string; readonly cost: { readonly nano_usd: number } | null };

/** The newest event of each request since then, once the traces have settled. */
async function newestEvents(beforeMs: number): Promise<readonly Event[]> {
  const path = `/api/webhooks/v1/events?from=${beforeMs}&to=9007199254740991&limit=200`;
  const { data } = await gateway.manage('GET', path);
  const newest = new Map<string, Event>();
  for (const { type, data: event } of data.toReversed()) {
    if (type === 'gateway.request.completed') newest.set(event.gateway_request_id, event);
  }
  return [...newest.values()];
}

/** Makes the call, and sends its span at the same time as the gateway stores its own. */
async function run(call: Call, fetching: typeof fetch) {
  const startedAtMs = Date.now();
  const before = ended;
  await call(fetching);
  await expect.poll(() => ended).toBeGreaterThan(before);
  await provider.forceFlush();
  await expect.poll(async () => (await newestEvents(startedAtMs)).some(isOwn), { timeout: 5_000 }).toBe(true);
  await expect.poll(async () => (await gateway.app.store.evaluationJobs.counts(10)).depth).toBe(0);
  return await newestEvents(startedAtMs);
}

const isOwn = ({ gateway_request_id: id }: Event) => id.startsWith('gwreq_');
const costOf = ({ cost }: Event) => cost?.nano_usd ?? 0;

describe.each(CALLS)('a call of %s', (_, call) => {
  it.each([
    ['goes along', propagatingFetch],
    ['goes along with a span of HTTP between', instrumentedFetch],
  ])('is charged once, as the request of the gateway, when the trace context %s', async (__, fetching) => {
    const events = await run(call, fetching);
    expect(events.filter(isOwn)).toHaveLength(1);
    const charged = events.filter((event) => costOf(event) > 0);
    expect(charged.map(isOwn)).toEqual([true]);
  });

  it('is another request, charged too, when it does not', async () => {
    const events = await run(call, fetch);
    const charged = events.filter((event) => costOf(event) > 0);
    expect(charged.map(isOwn).sort()).toEqual([false, true]);
  });
});

it('a span without usage, as OpenInference sends of streams, costs nothing', async () => {
  const stream = { model: MODEL, messages: HELLO, stream: true, stream_options: { include_usage: true } } as const;
  const call: Call = async (fetching) => {
    for await (const _ of await openAi(fetching).chat.completions.create(stream));
  };
  for (const fetching of [propagatingFetch, fetch]) {
    const charged = (await run(call, fetching)).filter((event) => costOf(event) > 0);
    expect(charged.map(isOwn)).toEqual([true]);
  }
});
