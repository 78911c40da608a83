import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { hex } from '../support/fixtures.ts';
import { fetchChecked } from '../support/openapi/fetch-checked.ts';
import { callRest } from '../support/surfaces.ts';
import { attributes, exportOf, id, readTrace, type SpanInit, SURFACES, send, type Value } from './sending.ts';
import { logsOf, type RecordInit, sendLogs } from './sending-logs.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const NOW = BigInt(Date.now()) * 1_000_000n;
const NO_LOSS = { rejectedLogRecords: 0, errorMessage: '' };

type Ids = { readonly traceId: string; readonly spanId: string };

function newIds(): Ids {
  return { traceId: hex(32), spanId: hex(16) };
}

function spanOf({ traceId, spanId }: Ids, more: { readonly [key: string]: Value } = {}): SpanInit {
  return {
    traceId: id(traceId),
    spanId: id(spanId),
    name: 'chat gpt-5-mini',
    startTimeUnixNano: NOW,
    endTimeUnixNano: NOW + 2_000_000_000n,
    attributes: attributes({
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'gpt-5-mini',
      'gen_ai.usage.input_tokens': 1000,
      'gen_ai.usage.output_tokens': 200,
      'user.id': 'user-42',
      ...more,
    }),
  };
}

function recordOf({ traceId, spanId }: Ids, more: RecordInit): RecordInit {
  return { traceId: id(traceId), spanId: id(spanId), ...more };
}

/** As instrumentations of OpenTelemetry write a conversation by default. */
function conversationOf(ids: Ids): readonly RecordInit[] {
  const kvlist = (of: { readonly [key: string]: Value }): RecordInit['body'] => ({
    value: { case: 'kvlistValue', value: { values: attributes(of) } },
  });
  const call = { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } };
  return [
    recordOf(ids, {
      timeUnixNano: NOW + 1n,
      attributes: attributes({ 'event.name': 'gen_ai.system.message', 'gen_ai.system': 'openai' }),
      body: kvlist({ content: 'Be brief.' }),
    }),
    recordOf(ids, {
      timeUnixNano: NOW + 2n,
      eventName: 'gen_ai.user.message',
      body: kvlist({ content: 'Rain in Oslo?' }),
    }),
    recordOf(ids, {
      timeUnixNano: NOW + 3n,
      eventName: 'gen_ai.choice',
      body: kvlist({ index: 0, finish_reason: 'tool_calls', message: { role: 'assistant', tool_calls: [call] } }),
    }),
    recordOf(ids, {
      timeUnixNano: NOW + 4n,
      eventName: 'gen_ai.evaluation.result',
      attributes: attributes({ 'gen_ai.evaluation.name': 'relevance', 'gen_ai.evaluation.score.value': 0.5 }),
    }),
  ];
}

const INPUT = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Rain in Oslo?' },
];

async function expectConversation({ traceId }: Ids): Promise<void> {
  const { spans, evaluations } = await readTrace(app, traceId);
  expect(spans).toHaveLength(1);
  const [{ input, output, events, metrics }] = spans;
  expect(input).toEqual({ type: 'chat_messages', value: INPUT });
  expect(output.value).toMatchObject([
    { role: 'assistant', tool_calls: [{ id: 'c1', function: { name: 'weather' } }] },
  ]);
  expect(events.map(({ name }: { name: string }) => name)).toEqual([
    'gen_ai.system.message',
    'gen_ai.user.message',
    'gen_ai.choice',
    'gen_ai.evaluation.result',
  ]);
  expect(metrics).toMatchObject({ prompt_tokens: 1000, completion_tokens: 200 });
  expect(evaluations).toMatchObject([{ name: 'relevance', score: 0.5 }]);
}

async function countEvents(userId: string): Promise<number> {
  const path = `/api/webhooks/v1/events?from=0&to=${Date.now() + 60_000}&limit=200`;
  const { body } = await callRest(app.address, { path, headers: { 'x-auth-token': app.adminKey } });
  return body.data.filter((event: object) => JSON.stringify(event).includes(userId)).length;
}

describe.each(SURFACES)('log records of a span, sent over %s', (surface) => {
  it('join a span that is stored, in any order, and again change nothing', async () => {
    const ids = newIds();
    await send(app, surface, exportOf([spanOf(ids)]));
    for (const record of conversationOf(ids).toReversed()) {
      expect(await sendLogs(app, surface, logsOf([record]))).toEqual(NO_LOSS);
    }
    await expectConversation(ids);
    const trace = await readTrace(app, ids.traceId);
    await sendLogs(app, surface, logsOf(conversationOf(ids)));
    expect(await readTrace(app, ids.traceId)).toEqual(trace);
  });

  it('wait for a span that comes later', async () => {
    const ids = newIds();
    expect(await sendLogs(app, surface, logsOf(conversationOf(ids)))).toEqual(NO_LOSS);
    expect((await readTrace(app, ids.traceId)).spans).toBeUndefined();
    await send(app, surface, exportOf([spanOf(ids)]));
    await expectConversation(ids);
  });
});

describe('log records of a span', () => {
  it('join a span that is sent again, which has one event in the log', async () => {
    const ids = newIds();
    const user = { 'user.id': `user-${hex(8)}` };
    await send(app, 'JSON', exportOf([spanOf(ids, user)]));
    await sendLogs(app, 'JSON', logsOf(conversationOf(ids)));
    await send(app, 'JSON', exportOf([spanOf(ids, { ...user, more: 1 })]));
    await expectConversation(ids);
    expect((await readTrace(app, ids.traceId)).spans[0].attributes.more).toBe(1);
    expect(await countEvents(user['user.id'])).toBe(1);
  });

  it('leave alone what the attributes of the span say, and metadata that was changed since', async () => {
    const ids = newIds();
    const own = '[{"role":"user","parts":[{"type":"text","content":"Own?"}]}]';
    await send(app, 'protobuf', exportOf([spanOf(ids, { 'gen_ai.input.messages': own })]));
    await callRest(app.address, {
      verb: 'PATCH',
      path: `/api/traces/${ids.traceId}/metadata`,
      headers: { 'x-auth-token': app.projectKey },
      body: { metadata: { user_id: 'changed' } },
    });
    const before = await readTrace(app, ids.traceId);
    await sendLogs(app, 'protobuf', logsOf(conversationOf(ids)));
    const { spans, metadata } = await readTrace(app, ids.traceId);
    expect(spans[0].input.value).toMatchObject([{ role: 'user', content: [{ content: 'Own?' }] }]);
    expect(spans[0].output.value).toHaveLength(1);
    expect(metadata).toEqual(before.metadata);
  });

  it('are searched and evaluated with their span', async () => {
    const ids = newIds();
    const word = `word${hex(8)}`;
    await send(app, 'protobuf', exportOf([spanOf(ids)]));
    const question = recordOf(ids, {
      eventName: 'gen_ai.user.message',
      timeUnixNano: NOW,
      body: { value: { case: 'stringValue', value: `Is it ${word}?` } },
    });
    await sendLogs(app, 'protobuf', logsOf([question]));
    const { body } = await callRest(app.address, {
      verb: 'POST',
      path: '/api/traces/search',
      headers: { 'x-auth-token': app.projectKey },
      body: { query: word },
    });
    expect(body.traces.map(({ trace_id }: { trace_id: string }) => trace_id)).toEqual([ids.traceId]);
  });

  it('many at once, each in a request of its own, all join beside the span itself', async () => {
    const ids = newIds();
    const records = Array.from({ length: 12 }, (_, index) =>
      recordOf(ids, {
        eventName: 'gen_ai.user.message',
        timeUnixNano: NOW + BigInt(index),
        attributes: attributes({ content: `part ${index}` }),
      }),
    );
    await Promise.all([
      ...records.slice(0, 6).map((record) => sendLogs(app, 'JSON', logsOf([record]))),
      send(app, 'gRPC', exportOf([spanOf(ids)])),
      ...records.slice(6).map((record) => sendLogs(app, 'protobuf', logsOf([record]))),
      send(app, 'JSON', exportOf([spanOf(ids)])),
    ]);
    const { spans } = await readTrace(app, ids.traceId);
    expect(spans[0].input.value.map(({ content }: { content: string }) => content)).toEqual(
      records.map((_, index) => `part ${index}`),
    );
  });

  it('are forgotten with their trace', async () => {
    const ids = newIds();
    await send(app, 'JSON', exportOf([spanOf(ids)]));
    await sendLogs(app, 'JSON', logsOf(conversationOf(ids)));
    await callRest(app.address, {
      verb: 'DELETE',
      path: `/api/traces/${ids.traceId}`,
      headers: { 'x-auth-token': app.projectKey },
    });
    await send(app, 'JSON', exportOf([spanOf(ids)]));
    const { spans } = await readTrace(app, ids.traceId);
    expect([spans[0].input, spans[0].events]).toEqual([null, []]);
  });

  it('of many spans join them side by side, so that their appends share commits', async () => {
    let [appends, most] = [0, 0];
    const many = await startApp({
      wrapStore: (store) => ({
        ...store,
        traces: {
          ...store.traces,
          async append(append) {
            appends += 1;
            most = Math.max(most, appends);
            try {
              return await store.traces.append(append);
            } finally {
              appends -= 1;
            }
          },
        },
      }),
    });
    try {
      const all = Array.from({ length: 40 }, newIds);
      for (const ids of all) await send(many, 'protobuf', exportOf([spanOf(ids)]));
      expect(most).toBe(1);
      expect(await sendLogs(many, 'protobuf', logsOf(all.flatMap(conversationOf)))).toEqual(NO_LOSS);
      expect(most).toBeGreaterThan(1);
      for (const { traceId } of all) expect((await readTrace(many, traceId)).spans[0].events).toHaveLength(4);
    } finally {
      await many.close();
    }
  });

  it.each(['before', 'after'])('of a failure, or of a call, become its events, sent %s it', async (order) => {
    const ids = newIds();
    const sendSpan = () => send(app, 'protobuf', exportOf([spanOf(ids, { 'error.has_error': true })]));
    if (order === 'after') await sendSpan();
    const usage = { input_token_count: '10', output_token_count: '2', model: 'gpt-5-mini' };
    const records = [
      { eventName: 'exception', attributes: attributes({ 'exception.message': 'No quota' }) },
      { attributes: attributes({ 'event.name': 'codex.sse_event', 'event.kind': 'response.created' }) },
      { attributes: attributes({ 'event.name': 'codex.sse_event', ...usage }) },
      {
        eventName: 'claude_code.api_request',
        attributes: attributes({ model: 'claude-sonnet-4-5', input_tokens: 5, output_tokens: 1 }),
      },
    ].map((record, index) => recordOf(ids, { timeUnixNano: NOW + BigInt(index), ...record }));
    expect(await sendLogs(app, 'JSON', logsOf(records))).toEqual(NO_LOSS);
    if (order === 'before') await sendSpan();
    const { spans } = await readTrace(app, ids.traceId);
    expect(spans).toHaveLength(1);
    expect(spans[0].events.map(({ name }: { name: string }) => name)).toEqual([
      'exception',
      'codex.sse_event',
      'claude_code.api_request',
    ]);
    expect(spans[0].error.message).toBe('No quota');
    // The counts are those of the span.
    expect(spans[0].metrics).toMatchObject({ prompt_tokens: 1000, completion_tokens: 200 });
  });

  it('that say nothing of a span are counted and dropped, and too deep ones refused', async () => {
    const ids = newIds();
    let deep: Value = 'x';
    for (let level = 0; level < 70; level += 1) deep = [deep];
    const named = { eventName: 'gen_ai.user.message' };
    const report = await sendLogs(
      app,
      'protobuf',
      logsOf([
        recordOf(ids, { body: { value: { case: 'stringValue', value: 'GET /' } } }),
        recordOf(ids, { ...named, attributes: attributes({ content: deep }) }),
      ]),
    );
    expect(report).toEqual({ rejectedLogRecords: 1, errorMessage: expect.stringMatching(/^logRecords\[1\]: nested/) });
  });

  it('wait for a day, and not longer', async () => {
    let nowMs = Date.now();
    const later = await startApp({ clock: () => nowMs });
    try {
      const [soon, late] = [newIds(), newIds()];
      await sendLogs(later, 'protobuf', logsOf([...conversationOf(soon), ...conversationOf(late)]));
      nowMs += 86_399_000;
      await send(later, 'protobuf', exportOf([spanOf(soon)]));
      nowMs += 2_000;
      await send(later, 'protobuf', exportOf([spanOf(late)]));
      expect((await readTrace(later, soon.traceId)).spans[0].events).toHaveLength(4);
      expect((await readTrace(later, late.traceId)).spans[0].events).toEqual([]);
    } finally {
      await later.close();
    }
  });

  it('that wait take 64 MiB of a project; the oldest give way, and are counted', async () => {
    const small = await startApp();
    try {
      const contents = Object.fromEntries(
        Array.from({ length: 9 }, (_, part) => [`part${part}`, 'x'.repeat(1_000_000)]),
      );
      const all = Array.from({ length: 8 }, newIds);
      for (const ids of all) {
        const large = { eventName: 'gen_ai.user.message', attributes: attributes({ content: 'Rain?', ...contents }) };
        expect(await sendLogs(small, 'protobuf', logsOf([recordOf(ids, large)]))).toEqual(NO_LOSS);
      }
      const [first, last] = [all.at(0) as Ids, all.at(-1) as Ids];
      await send(small, 'protobuf', exportOf([spanOf(first), spanOf(last)]));
      expect((await readTrace(small, first.traceId)).spans[0].input).toBeNull();
      expect((await readTrace(small, last.traceId)).spans[0].input.value).toEqual([{ role: 'user', content: 'Rain?' }]);
      const metrics = await (await fetchChecked(small.address, '/metrics')).text();
      expect(metrics).toContain('spandrel_log_records_dropped_total{reason="room"} 1\n');
    } finally {
      await small.close();
    }
  });
});
