/** A run reads like one dialogue: what later calls repeat is there once, and a call is one turn with its result. */

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, it } from 'vitest';
import { SpanType, TraceSchema, type TraceSpan, TraceSpanSchema } from '../../gen/spandrel/v1/traces_pb.js';
import { createRunReader, turnsOfSpan } from '../../src/console/trace/conversation-run.ts';
import type { Turn } from '../../src/console/trace/conversation-turns.ts';

type Sent = {
  readonly type?: SpanType;
  readonly parent?: string;
  readonly name?: string;
  readonly at: number;
  readonly until?: number;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly error?: string;
};

function spanOf(spanId: string, { type = SpanType.LLM, parent, name, at, until = at + 1, ...sent }: Sent): TraceSpan {
  const typed = (value: unknown) =>
    value === undefined
      ? {}
      : { type: Array.isArray(value) ? 'chat_messages' : 'json', valueJson: JSON.stringify(value) };
  return create(TraceSpanSchema, {
    spanId,
    type,
    name: name ?? spanId,
    ...(parent !== undefined && { parentId: parent }),
    ...(sent.input !== undefined && { input: typed(sent.input) }),
    ...(sent.output !== undefined && { output: typed(sent.output) }),
    ...(sent.error !== undefined && { error: { message: sent.error, stacktrace: [] } }),
    timestamps: { startedAt: timestampFromMs(at), finishedAt: timestampFromMs(until) },
  });
}

function read(spans: readonly TraceSpan[], whole: { readonly input?: string; readonly output?: string } = {}) {
  const texts = {
    ...(whole.input !== undefined && { input: { value: whole.input } }),
    ...(whole.output !== undefined && { output: { value: whole.output } }),
  };
  const trace = create(TraceSchema, { traceId: 't', spanCount: BigInt(spans.length), ...texts });
  return createRunReader()(trace, spans).map(brief);
}

function brief(turn: Turn): string {
  const texts = (turn.kind === 'message' ? turn.parts : (turn.result ?? [])).map((part) =>
    part.kind === 'text' || part.kind === 'json' ? part.text : part.kind,
  );
  return turn.kind === 'message'
    ? `${turn.role}: ${texts.join(' ')}`
    : `${turn.name}(${turn.argumentsJson}) = ${texts.join(' ')}${turn.failed ? ' failed' : ''}`;
}

const user = (content: string) => ({ role: 'user', content });
const assistant = (content: string | null, ...calls: readonly string[]) => ({
  role: 'assistant',
  content,
  ...(calls.length > 0 && {
    tool_calls: calls.map((id) => ({ id, type: 'function', function: { name: 'find', arguments: `{"id":"${id}"}` } })),
  }),
});
const result = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content });

describe('the dialogue of a run', () => {
  it('has what later calls repeat once', () => {
    const spans = [
      spanOf('one', { at: 1, input: [user('Hi')], output: [assistant('Hello')] }),
      spanOf('two', { at: 3, input: [user('Hi'), assistant('Hello'), user('Bye')], output: [assistant('Bye')] }),
    ];
    expect(read(spans)).toEqual(['user: Hi', 'assistant: Hello', 'user: Bye', 'assistant: Bye']);
  });

  it('has what is really said twice twice', () => {
    const spans = [
      spanOf('one', { at: 1, input: [user('yes')], output: [assistant('ok')] }),
      spanOf('two', { at: 3, input: [user('yes'), assistant('ok'), user('yes')], output: [assistant('ok')] }),
      spanOf('three', { at: 5, input: [user('yes'), assistant('ok'), user('yes'), assistant('ok'), user('no')] }),
    ];
    expect(read(spans)).toEqual(['user: yes', 'assistant: ok', 'user: yes', 'assistant: ok', 'user: no']);
  });

  it('has a call with its result as one turn, also for calls of one message', () => {
    const asked = [user('Go'), assistant(null, 'a', 'b')];
    const spans = [
      spanOf('one', { at: 1, input: [user('Go')], output: [assistant(null, 'a', 'b')] }),
      spanOf('two', { at: 5, input: [...asked, result('b', 'B'), result('a', 'A')], output: [assistant('Done')] }),
    ];
    expect(read(spans)).toEqual(['user: Go', 'find({"id":"a"}) = A', 'find({"id":"b"}) = B', 'assistant: Done']);
  });

  it('has the step of a tool in the card of its call, with its failure', () => {
    const spans = [
      spanOf('one', { at: 1, input: [user('Go')], output: [assistant(null, 'a', 'b')] }),
      spanOf('s2', { type: SpanType.TOOL, name: 'find', at: 3, input: { id: 'b' }, error: 'no' }),
      spanOf('s1', { type: SpanType.TOOL, name: 'execute_tool find', at: 3, input: { id: 'a' }, output: { n: 1 } }),
      spanOf('alone', { type: SpanType.TOOL, at: 4, input: { q: 1 }, output: { r: 2 } }),
    ];
    expect(read(spans)).toEqual([
      'user: Go',
      'find({"id":"a"}) = {"n":1}',
      'find({"id":"b"}) = no failed',
      'alone({"q":1}) = {"r":2}',
    ]);
  });

  it('has what a span around a call repeats once, in the order in which it was said', () => {
    const spans = [
      spanOf('agent', {
        type: SpanType.AGENT,
        at: 0,
        until: 9,
        input: [user('Hi')],
        output: [user('Hi'), assistant('Hello')],
      }),
      spanOf('outer', { parent: 'agent', at: 1, until: 4, input: [user('Hi')], output: [assistant('Hello')] }),
      spanOf('inner', { parent: 'outer', at: 2, until: 3, input: [user('Hi')], output: [assistant('Hello')] }),
    ];
    expect(read(spans)).toEqual(['user: Hi', 'assistant: Hello']);
  });

  it('ignores members that come and go, such as marks for a cache', () => {
    const marked = { role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }] };
    const spans = [
      spanOf('one', { at: 1, input: [marked], output: [{ ...assistant('Hello'), refusal: null, annotations: [] }] }),
      spanOf('two', { at: 3, input: [user('Hi'), assistant('Hello'), user('Bye')] }),
    ];
    expect(read(spans).map((turn) => turn.split(' ')[1])).toEqual(['Hi', 'Hello', 'Bye']);
  });

  it('begins and ends with the texts of the trace only if no message has them', () => {
    const spans = [spanOf('one', { at: 1, input: [user('Hi')], output: [assistant('Hello')] })];
    expect(read(spans, { input: 'Hi', output: 'Hello' })).toEqual(['user: Hi', 'assistant: Hello']);
    expect(read(spans, { input: 'H', output: 'Bye' })).toEqual([
      'input: H',
      'user: Hi',
      'assistant: Hello',
      'output: Bye',
    ]);
  });

  it('has the texts and errors of models that send no messages', () => {
    const spans = [
      spanOf('one', { at: 1, input: 'Say something', output: 'Something' }),
      spanOf('two', { at: 3, input: { prompt: 'Again' }, error: 'overloaded' }),
    ];
    expect(read(spans)).toEqual([
      'user: Say something',
      'assistant: Something',
      'user: {"prompt":"Again"}',
      'error: overloaded',
    ]);
  });

  it('of ten thousand calls is read quickly', () => {
    const spans = Array.from({ length: 10_000 }, (_, index) =>
      spanOf(`s${index}`, { at: 1 + index, input: [user(`q${index}`)], output: [assistant(null, `c${index}`)] }),
    );
    const startedAt = performance.now();
    expect(read(spans)).toHaveLength(20_000);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });
});

describe('the turns of a span', () => {
  it('are its input and output, and the documents that it found', () => {
    const span = spanOf('find', { type: SpanType.RAG, at: 1, input: 'terms', output: { n: 1 } });
    span.contexts = [{ content: 'Thirty days.' } as TraceSpan['contexts'][number]];
    expect(turnsOfSpan(span).map(brief)).toEqual(['input: terms', 'output: {"n":1}', 'document 1 of 1: Thirty days.']);
  });
});
