import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { hex } from '../support/fixtures.ts';
import { callRest } from '../support/surfaces.ts';
import { attributes, exportOf, id, readTrace, type SpanInit, SURFACES, type Surface, send } from './sending.ts';

const NOW = Date.now();
const NANO = 1_000_000n;

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ writer: 'in its thread' });
});
afterAll(() => app.close());

type Attributes = Parameters<typeof attributes>[0];
type Ids = { readonly traceId: string; readonly llm: string; readonly tool: string };

function idsOf(): Ids {
  return { traceId: hex(32), llm: hex(16), tool: hex(16) };
}

function otlpSpans({ traceId, llm, tool }: Ids, promptTokens: number, more: Attributes = {}): readonly SpanInit[] {
  const times = { startTimeUnixNano: BigInt(NOW) * NANO, endTimeUnixNano: BigInt(NOW + 900) * NANO };
  return [
    {
      traceId: id(traceId),
      spanId: id(llm),
      name: 'chat',
      ...times,
      attributes: attributes({
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'gpt-5',
        'gen_ai.usage.input_tokens': promptTokens,
        'gen_ai.usage.output_tokens': 150,
        'gen_ai.input.messages': JSON.stringify([{ role: 'user', content: 'Hi?' }]),
        'gen_ai.completion': 'Hello.',
        'user.id': 'user-42',
        ...more,
      }),
      events: [{ name: 'first_token', timeUnixNano: BigInt(NOW + 300) * NANO }],
    },
    {
      traceId: id(traceId),
      spanId: id(tool),
      parentSpanId: id(llm),
      name: 'look up',
      ...times,
      attributes: attributes({ 'langwatch.span.type': 'tool' }),
      status: { code: 2, message: 'not found' },
    },
  ];
}

function collectorBody({ traceId, llm, tool }: Ids, promptTokens: number) {
  const timestamps = { started_at: NOW, finished_at: NOW + 900 };
  const chat = {
    span_id: llm,
    type: 'llm',
    name: 'chat',
    model: 'gpt-5',
    metrics: { prompt_tokens: promptTokens, completion_tokens: 150 },
    input: { type: 'chat_messages', value: [{ role: 'user', content: 'Hi?' }] },
    output: { type: 'text', value: 'Hello.' },
    timestamps: { ...timestamps, first_token_at: NOW + 300 },
  };
  const lookUp = {
    span_id: tool,
    parent_id: llm,
    type: 'tool',
    name: 'look up',
    error: { message: 'not found' },
    timestamps,
  };
  return { trace_id: traceId, metadata: { user_id: 'user-42' }, spans: [chat, lookUp] };
}

async function deliver(way: Surface | 'collector', ids: Ids, promptTokens: number): Promise<void> {
  if (way !== 'collector') {
    expect(await send(app, way, exportOf(otlpSpans(ids, promptTokens)))).toEqual({
      rejectedSpans: 0,
      errorMessage: '',
    });
    return;
  }
  const headers = { 'x-auth-token': app.projectKey };
  const body = collectorBody(ids, promptTokens);
  expect(await callRest(app.address, { verb: 'POST', path: '/api/collector', body, headers })).toMatchObject({
    status: 200,
  });
}

/** Reads the parts of a trace that do not depend on time and transport. */
async function storedOf({ traceId, llm, tool }: Ids) {
  const trace = await readTrace(app, traceId);
  const { input, output, metrics, error, metadata, models, name, span_count } = trace;
  const spans = trace.spans.map((span: Record<string, unknown>) => {
    const { span_id, parent_id, type, name, model, metrics, error, input, output, timestamps } = span;
    const roleOf = (spanId: unknown) => ({ [llm]: 'llm', [tool]: 'tool' })[String(spanId)] ?? spanId;
    return {
      id: roleOf(span_id),
      parent: roleOf(parent_id),
      type,
      name,
      model,
      metrics,
      error,
      input,
      output,
      timestamps,
    };
  });
  return { input, output, metrics, error, metadata, models, name, span_count, spans: spans.toSorted(byId) };
}

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : 1;
}

describe('T10: the same spans', () => {
  it('by collector, OTLP JSON, protobuf and gRPC have equal totals, types and cost', async () => {
    const byCollector = idsOf();
    await deliver('collector', byCollector, 100);
    const expected = await storedOf(byCollector);
    expect(expected).toMatchObject({
      metrics: {
        prompt_tokens: 100,
        completion_tokens: 150,
        total_cost: 0.001625,
        first_token_ms: 300,
        total_time_ms: 900,
      },
      spans: [{ type: 'llm' }, { type: 'tool' }],
      error: { message: 'not found' },
    });
    for (const surface of SURFACES) {
      const ids = idsOf();
      await deliver(surface, ids, 100);
      expect(await storedOf(ids), surface).toEqual(expected);
    }
  });

  it('sent by one way after the other replace what is stored', async () => {
    const ids = idsOf();
    const ways = ['protobuf', 'collector', 'gRPC', 'JSON', 'collector', 'gRPC with gzip'] as const;
    for (const [index, way] of ways.entries()) {
      await deliver(way, ids, 100 + index);
      const { metrics, span_count: spanCount } = await storedOf(ids);
      expect([way, spanCount, metrics.prompt_tokens]).toEqual([way, 2, 100 + index]);
    }
  });

  it.each(SURFACES)('of many traces by %s are stored in one request, each trace with its own', async (surface) => {
    const all = Array.from({ length: 50 }, idsOf);
    const spans = all.flatMap((ids, index) => otlpSpans(ids, index));
    // Interleaved, like batches of a busy process.
    const mixed = spans.toSorted((a, b) => String(a.spanId).localeCompare(String(b.spanId)));
    expect(await send(app, surface, exportOf(mixed))).toEqual({ rejectedSpans: 0, errorMessage: '' });
    const read = await Promise.all(all.map(storedOf));
    expect(read.map(({ metrics, span_count }) => [metrics.prompt_tokens, span_count])).toEqual(
      all.map((_, index) => [index, 2]),
    );
  });

  it('name the request that a gateway reports', async () => {
    for (const surface of SURFACES) {
      const [ids, requestId] = [idsOf(), `gw-${hex(16)}`];
      await send(app, surface, exportOf(otlpSpans(ids, 7, { gateway_request_id: requestId })));
      const path = `/api/webhooks/v1/events/${requestId}:completed`;
      const { body } = await callRest(app.address, { path, headers: { authorization: `Bearer ${app.adminKey}` } });
      expect(body.data?.data, surface).toMatchObject({ gateway_request_id: requestId, trace_id: ids.traceId });
    }
  });

  it('an invalid span is reported with its index, and its trace and request are stored', async () => {
    for (const surface of SURFACES) {
      const [good, bad] = [idsOf(), idsOf()];
      const [first, second] = otlpSpans(good, 7);
      const [coarse] = otlpSpans(bad, 7);
      const noTrace = { ...first, traceId: id('00'.repeat(16)) };
      const inSeconds = { ...coarse, startTimeUnixNano: 1_796_000_000n };
      const spans = [noTrace, first, { ...second, spanId: id('abcd') }, inSeconds].map((span) => span ?? {});
      const guess = '1796000000 looks like seconds, multiply by 1000000000';
      expect(await send(app, surface, exportOf(spans)), surface).toEqual({
        rejectedSpans: 3,
        errorMessage: [
          'spans[0].traceId: must be 16 bytes (in JSON 32 hexadecimal digits) that are not all zero',
          'spans[2].spanId: must be 8 bytes (in JSON 16 hexadecimal digits) that are not all zero',
          `spans[3].startTimeUnixNano: must be nanoseconds since the epoch; ${guess}`,
        ].join('; '),
      });
      expect(await readTrace(app, good.traceId)).toMatchObject({ span_count: 1 });
      expect(await readTrace(app, bad.traceId)).toMatchObject({ code: 'trace_not_found' });
    }
  });

  it('a figure as text is the figure, by every way', async () => {
    for (const surface of SURFACES) {
      const ids = idsOf();
      const texts = { 'gen_ai.usage.input_tokens': '100', 'gen_ai.usage.output_tokens': ' 150 ' };
      const sent = await send(app, surface, exportOf(otlpSpans(ids, 0, { ...texts, 'gen_ai.usage.cost': '0.5' })));
      expect(sent, surface).toEqual({ rejectedSpans: 0, errorMessage: '' });
      expect((await readTrace(app, ids.traceId)).metrics).toMatchObject({
        prompt_tokens: 100,
        completion_tokens: 150,
        total_cost: 0.5,
      });
    }
  });

  it('a wrong field is left out and named, and its span stays, by every way', async () => {
    for (const surface of SURFACES) {
      const ids = idsOf();
      const wrong = {
        'gen_ai.response.model': ['a', 'b'],
        'gen_ai.usage.output_tokens': 'many',
        'gen_ai.usage.cache_read.input_tokens': '',
        'gen_ai.usage.cost': -1,
        'gen_ai.server.time_to_first_token': 'soon',
      };
      const [chat, tool] = otlpSpans(ids, -1, wrong);
      const { rejectedSpans, errorMessage } = await send(app, surface, exportOf([{ ...chat, events: [] }, tool ?? {}]));
      expect([surface, rejectedSpans, errorMessage.split('; ')]).toEqual([
        surface,
        0,
        [
          'spans[0].timestamps.first_token_at: must be a number',
          'spans[0].model: must be a string',
          'spans[0].metrics.prompt_tokens: must be a number from 0 to 1000000000000',
          'spans[0].metrics.completion_tokens: must be a number',
          'spans[0].metrics.cost: must be a number from 0 to 9007199',
        ],
      ]);
      expect(await readTrace(app, ids.traceId)).toMatchObject({
        span_count: 2,
        metrics: { prompt_tokens: null, completion_tokens: null, total_cost: null },
        output: { value: 'Hello.' },
        metadata: { user_id: 'user-42' },
      });
    }
  });

  it('spans of one millisecond are read in the order in which they began', async () => {
    for (const surface of SURFACES) {
      const traceId = hex(32);
      const start = BigInt(NOW) * NANO;
      const spanIds = ['ff', 'cc', 'bb', 'aa'].map((byte) => byte.repeat(8));
      const spans = spanIds.map((spanId, index) => ({
        ...{ traceId: id(traceId), spanId: id(spanId), startTimeUnixNano: start + BigInt(index) },
        endTimeUnixNano: start + BigInt(index) + 5n,
      }));
      await send(app, surface, exportOf(spans.toReversed()));
      const read: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const headers = { 'x-auth-token': app.projectKey };
        const path = `/api/traces/${traceId}?spansLimit=3&spansCursor=${encodeURIComponent(cursor)}`;
        const { body } = await callRest(app.address, { path, headers });
        read.push(...body.spans.map((span: { readonly span_id: string }) => span.span_id));
        cursor = body.spans_next_cursor;
      }
      expect([surface, read]).toEqual([surface, spanIds]);
    }
  });
});
