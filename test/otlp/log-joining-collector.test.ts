import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { hex } from '../support/fixtures.ts';
import { callRest } from '../support/surfaces.ts';
import { attributes, id, readTrace, type Value } from './sending.ts';
import { logsOf, type RecordInit, sendLogs } from './sending-logs.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const NOW_MS = Date.now();
const NO_LOSS = { rejectedLogRecords: 0, errorMessage: '' };

type Ids = { readonly traceId: string; readonly spanId: string };

function newIds(): Ids {
  return { traceId: hex(32), spanId: hex(16) };
}

async function collect({ traceId, spanId }: Ids, more: object = {}): Promise<void> {
  const span = {
    span_id: spanId,
    type: 'llm',
    name: 'ask',
    model: 'gpt-5-mini',
    metrics: { prompt_tokens: 1000, completion_tokens: 200 },
    timestamps: { started_at: NOW_MS, finished_at: NOW_MS + 1000 },
    ...more,
  };
  const { status } = await callRest(app.address, {
    verb: 'POST',
    path: '/api/collector',
    headers: { 'x-auth-token': app.projectKey },
    body: { trace_id: traceId, spans: [span] },
  });
  expect(status).toBe(200);
}

/** One event, `place` nanoseconds after the first. */
async function sendEvent(ids: Ids, place: number, [eventName, of]: [string, { readonly [key: string]: Value }]) {
  const record: RecordInit = {
    traceId: id(ids.traceId),
    spanId: id(ids.spanId),
    timeUnixNano: BigInt(NOW_MS) * 1_000_000n + BigInt(place),
    eventName,
    attributes: attributes(of),
  };
  expect(await sendLogs(app, 'protobuf', logsOf([record]))).toEqual(NO_LOSS);
}

const QUESTION: [string, { content: string }] = ['gen_ai.user.message', { content: 'Rain?' }];
const ANSWER: [string, { content: string }] = ['gen_ai.choice', { content: 'Yes.' }];
const GRADE: [string, { [key: string]: Value }] = [
  'gen_ai.evaluation.result',
  { 'gen_ai.evaluation.name': 'relevance', 'gen_ai.evaluation.score.value': 0.5 },
];

// biome-ignore lint/suspicious/noExplicitAny: a test reads arbitrary JSON.
async function readSpan({ traceId }: Ids): Promise<any> {
  const { spans } = await readTrace(app, traceId);
  expect(spans).toHaveLength(1);
  return spans[0];
}

describe('log records of a span that came by the collector', () => {
  it('give its input, output and evaluations, one after the other and in any order', async () => {
    const ids = newIds();
    await collect(ids);
    const before = await readSpan(ids);
    await sendEvent(ids, 2, ANSWER);
    await sendEvent(ids, 1, QUESTION);
    await sendEvent(ids, 0, ['gen_ai.system.message', { content: 'Be brief.' }]);
    await sendEvent(ids, 3, GRADE);
    const { input, output, events, attributes: _, ...rest } = await readSpan(ids);
    expect(input).toEqual({
      type: 'chat_messages',
      value: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Rain?' },
      ],
    });
    expect(output.value).toEqual([{ role: 'assistant', content: 'Yes.' }]);
    expect(events).toHaveLength(4);
    const { input: _input, output: _output, ...sent } = before;
    expect(rest).toEqual(sent);
    const trace = await readTrace(app, ids.traceId);
    expect(trace.evaluations).toMatchObject([{ name: 'relevance', score: 0.5, span_id: ids.spanId }]);
    await sendEvent(ids, 1, QUESTION);
    expect(await readTrace(app, ids.traceId)).toEqual(trace);
  });

  it('wait for a span that comes later, and join one that is sent again', async () => {
    const ids = newIds();
    await sendEvent(ids, 1, QUESTION);
    await sendEvent(ids, 2, ANSWER);
    for (const spanId of [ids.spanId.toUpperCase(), ids.spanId]) {
      await collect({ traceId: ids.traceId.toUpperCase(), spanId });
      const { input, output } = await readSpan(ids);
      expect([input.value, output.value]).toEqual([
        [{ role: 'user', content: 'Rain?' }],
        [{ role: 'assistant', content: 'Yes.' }],
      ]);
    }
  });

  it('never replace what its sender gave, even where they say the same', async () => {
    const ids = newIds();
    const input = { type: 'chat_messages', value: [{ role: 'user', content: 'Rain?' }] };
    await collect(ids, { input });
    await sendEvent(ids, 1, QUESTION);
    await sendEvent(ids, 0, ['gen_ai.system.message', { content: 'Be brief.' }]);
    await sendEvent(ids, 2, ANSWER);
    const span = await readSpan(ids);
    expect(span.input).toEqual(input);
    expect(span.output.value).toEqual([{ role: 'assistant', content: 'Yes.' }]);
    const output = { type: 'text', value: 'No.' };
    await collect(ids, { output });
    await sendEvent(ids, 3, GRADE);
    expect(await readSpan(ids)).toMatchObject({ input: { value: [{ role: 'system' }, { role: 'user' }] }, output });
  });

  it('leave the request of its call as it is', async () => {
    const ids = newIds();
    const countEvents = async () => {
      const path = `/api/webhooks/v1/events?from=0&to=${Date.now() + 60_000}&limit=200`;
      const { body } = await callRest(app.address, { path, headers: { 'x-auth-token': app.adminKey } });
      return body.data.filter((event: object) => JSON.stringify(event).includes(ids.traceId)).length;
    };
    await collect(ids);
    expect(await countEvents()).toBe(1);
    await sendEvent(ids, 1, QUESTION);
    await collect(ids);
    expect(await countEvents()).toBe(1);
  });
});
