/** The texts of a trace come from what people and models said, over every transport. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { hex } from '../support/fixtures.ts';
import { callRest } from '../support/surfaces.ts';
import { attributes, exportOf, id, readTrace, SURFACES, type Surface, send } from './sending.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

type Attributes = Parameters<typeof attributes>[0];

const NANO = 1_000_000n;

/** Sends a span of its own trace. Returns the id of the trace. */
async function sendSpan(surface: Surface, name: string, of: Attributes): Promise<string> {
  const traceId = hex(32);
  const startTimeUnixNano = BigInt(Date.now()) * NANO;
  const span = { traceId: id(traceId), spanId: id(hex(16)), name, startTimeUnixNano, attributes: attributes(of) };
  expect(await send(app, surface, exportOf([span]))).toEqual({ rejectedSpans: 0, errorMessage: '' });
  return traceId;
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads arbitrary JSON.
async function search(body: object): Promise<any> {
  const headers = { 'x-auth-token': app.projectKey };
  const answer = await callRest(app.address, { verb: 'POST', path: '/api/traces/search', headers, body });
  return answer.body;
}

const GULL = Buffer.from('a picture of a gull').toString('base64');

describe.each(SURFACES)('over %s', (surface) => {
  it('reasoning and pictures are kept, and are not the texts of a trace', async () => {
    const traceId = await sendSpan(surface, 'chat', {
      'gen_ai.operation.name': 'chat',
      'gen_ai.system_instructions': JSON.stringify([{ type: 'text', content: 'You know birds.' }]),
      'gen_ai.input.messages': JSON.stringify([
        {
          role: 'user',
          parts: [
            { type: 'blob', modality: 'image', mime_type: 'image/png', content: GULL },
            { type: 'text', content: 'Which bird?' },
          ],
        },
      ]),
      'gen_ai.output.messages': JSON.stringify([
        {
          role: 'assistant',
          parts: [
            { type: 'reasoning', content: 'Webbed feet, hence' },
            { type: 'text', content: 'A gull.' },
          ],
        },
      ]),
    });
    const trace = await readTrace(app, traceId);
    expect(trace).toMatchObject({ input: { value: 'Which bird?' }, output: { value: 'A gull.' } });
    const [span] = trace.spans;
    expect(span.input).toMatchObject({
      type: 'chat_messages',
      value: [
        { role: 'system', content: [{ type: 'text', content: 'You know birds.' }] },
        { role: 'user', content: [{ type: 'blob', content: GULL }, { type: 'text' }] },
      ],
    });
    expect(span.output).toMatchObject({ value: [{ content: [{ type: 'reasoning' }, { type: 'text' }] }] });

    const digest = await readTrace(app, `${traceId}?format=digest`);
    expect(digest.formatted_trace).toBe('.\n└── llm: chat\n        input: Which bird?\n        output: A gull.');
    const rows = await search({ traceIds: [traceId], format: 'digest' });
    expect(rows.traces).toMatchObject([{ formatted_trace: 'Input: Which bird?\nOutput: A gull.' }]);
    for (const query of ['webbed feet', GULL]) {
      expect((await search({ traceIds: [traceId], query })).traces).toEqual([]);
    }
    for (const query of ['which bird', 'know birds', 'a gull']) {
      expect((await search({ traceIds: [traceId], query })).traces).toHaveLength(1);
    }
  });

  it('an answer of nothing but calls of tools is these calls', async () => {
    const part = { type: 'tool_call', id: 'c1', name: 'tide_table', arguments: { port: 'Moss' } };
    const messages = [{ role: 'assistant', parts: [{ type: 'reasoning', content: 'The tide.' }, part] }];
    const traceId = await sendSpan(surface, 'chat', { 'gen_ai.output.messages': JSON.stringify(messages) });
    const call = { id: 'c1', type: 'function', function: { name: 'tide_table', arguments: { port: 'Moss' } } };
    const trace = await readTrace(app, traceId);
    expect(trace.output).toEqual({ value: JSON.stringify([call]) });
    expect(trace.spans[0].output.value).toEqual([
      { role: 'assistant', content: [{ type: 'reasoning', content: 'The tide.' }], tool_calls: [call] },
    ]);
    expect((await search({ traceIds: [traceId], query: 'tide_table' })).traces).toHaveLength(1);
  });

  it('an answer of the AI SDK without a text is its calls of tools', async () => {
    const traceId = await sendSpan(surface, 'ai.streamText.doStream', {
      'ai.operationId': 'ai.streamText.doStream',
      'ai.response.text': '',
      'ai.response.toolCalls': '[{"toolCallId":"c1","toolName":"tide_table","input":"{\\"port\\":\\"Moss\\"}"}]',
    });
    const call = { id: 'c1', type: 'function', function: { name: 'tide_table', arguments: '{"port":"Moss"}' } };
    const trace = await readTrace(app, traceId);
    expect(trace.output).toEqual({ value: JSON.stringify([call]) });
    expect(trace.spans[0].output).toEqual({
      type: 'chat_messages',
      value: [{ role: 'assistant', content: null, tool_calls: [call] }],
    });
  });

  it('a span of the AI SDK that runs a tool is named after the tool', async () => {
    const traceId = await sendSpan(surface, 'ai.toolCall', {
      'ai.operationId': 'ai.toolCall',
      'ai.toolCall.name': 'tide_table',
    });
    expect(await readTrace(app, traceId)).toMatchObject({
      name: 'tide_table',
      spans: [{ type: 'tool', name: 'tide_table' }],
    });
  });
});
