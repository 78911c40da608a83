import { describe, expect, it } from 'vitest';
import { attributesOf, draftOf, START_MS, START_NANO, spanWith, traceOf } from './spans.ts';

describe('values that say nothing', () => {
  it.each(['', 'none', 'null', 'UNKNOWN', 'Undefined'])('%j never hides the next source', (word) => {
    expect(draftOf({ 'gen_ai.response.model': word, 'gen_ai.request.model': 'gpt-5' }).model).toBe('gpt-5');
    expect(draftOf({ 'gen_ai.provider.name': word, 'gen_ai.system': 'openai' }).vendor).toBe('openai');
    const counts = { 'gen_ai.usage.input_tokens': word, 'gen_ai.usage.prompt_tokens': 5 };
    expect(draftOf(counts).metrics).toMatchObject({ promptTokens: 5 });
    const onlyWord = { 'gen_ai.usage.input_tokens': word, 'llm.token_count.prompt': 7 };
    expect(draftOf(onlyWord).metrics).toMatchObject({ promptTokens: 7 });
    expect(draftOf({ 'gen_ai.usage.cost': word, 'llm.cost.total': 0.5 }).metrics).toMatchObject({ cost: 0.5 });
    expect(draftOf({ 'gen_ai.prompt': word, 'input.value': 'Hi?' }).input).toMatchObject({ value: 'Hi?' });
    expect(draftOf({ 'gen_ai.response.model': word }).model).toBeUndefined();
  });

  it('an answer that is such a word is an answer where nothing says more', () => {
    for (const answer of ['', 'none', 'Unknown']) {
      expect(draftOf({ 'gen_ai.completion': answer }).output).toEqual({ type: 'text', value: answer, path: 'output' });
    }
    expect(draftOf({ 'gen_ai.completion': 'first', output: 'none' }).output).toMatchObject({ value: 'first' });
    expect(draftOf({ 'gen_ai.completion': 'none', output: '' }).output).toMatchObject({ value: 'none' });
  });

  it.each(['NaN', 'Infinity', '-Infinity', 'many', '1,000'])('a count of %s is left out by name', (value) => {
    const { metrics } = draftOf({ 'gen_ai.usage.input_tokens': value, 'gen_ai.usage.output_tokens': '2' });
    expect(metrics).toMatchObject({
      promptTokens: { path: 'metrics.prompt_tokens', reason: 'must be a number' },
      completionTokens: 2,
    });
    expect(draftOf({ 'gen_ai.usage.cost': value }).metrics).toMatchObject({ cost: { path: 'metrics.cost' } });
  });

  it('rates and instants in attributes that cannot be read are left out, and named', () => {
    const stamps = '{"started_at":"soon","finished_at":[1],"first_token_at":{}}';
    const { startedAt, finishedAt, firstTokenAt, rates, dropped } = draftOf({
      'langwatch.timestamps': stamps,
      'langwatch.model.inputCostPerToken': 'free',
      'langwatch.model.outputCostPerToken': 0.001,
    });
    expect([startedAt, finishedAt, firstTokenAt, rates]).toEqual([START_MS, START_MS + 5, undefined, undefined]);
    const times = ['timestamps.started_at', 'timestamps.finished_at', 'timestamps.first_token_at'];
    expect(dropped.map(({ path }) => path)).toEqual([...times, 'rates.input']);
  });

  it.each([
    ['langwatch.metrics', 'metrics'],
    ['langwatch.timestamps', 'timestamps'],
    ['langwatch.params', 'params'],
    ['llm.invocation_parameters', 'params'],
  ])('%s that is no object is left out, and named', (key, path) => {
    for (const value of ['garbage', '[1]', '{broken', 5]) {
      expect(draftOf({ [key]: value })).toMatchObject({
        dropped: [{ path, reason: `${key} must be an object` }],
        metrics: undefined,
        params: undefined,
      });
    }
    for (const value of ['', 'None', '{}']) expect(draftOf({ [key]: value }).dropped).toEqual([]);
  });

  it.each(['', 'none', 'NULL'])('%j is no metadata, and no identity in it', (word) => {
    expect(traceOf(spanWith({ metadata: word, 'langwatch.metadata': word })).metadata).toEqual([]);
    const json = JSON.stringify({ user_id: word, threadId: word, plan: word });
    expect(traceOf(spanWith({ 'langwatch.metadata': json, 'session.id': 's' })).metadata).toMatchObject([
      { members: { plan: word } },
      { members: { thread_id: 's' } },
    ]);
    expect(traceOf(spanWith({ 'langwatch.metadata': json })).metadata).toEqual([
      { members: { plan: word }, pathPrefix: 'metadata.' },
    ]);
  });

  it('a document without content has an empty one', () => {
    const { contexts } = draftOf({
      'retrieval.documents.0.document.id': 'a',
      'retrieval.documents.1.document.id': 'b',
      'retrieval.documents.1.document.content': 'B',
    });
    expect(contexts).toMatchObject([
      { documentId: 'a', content: '' },
      { documentId: 'b', content: 'B' },
    ]);
  });

  it('an expected output of a resource does not replace that of an earlier span', () => {
    const resource = attributesOf({ 'langwatch.expected_output': 'of the resource' });
    const own = spanWith({ 'langwatch.expected_output': 'own' });
    expect(traceOf(own, spanWith({}, { resource })).expectedOutput).toBe('own');
    expect(traceOf(spanWith({}, { resource }), own).expectedOutput).toBe('own');
  });

  it('a first token without an instant is none', () => {
    const event = (timeNano: bigint) => ({ name: 'first_token', timeNano, attributes: new Map() });
    expect(draftOf({}, { events: [event(0n)] }).firstTokenAt).toBeUndefined();
    expect(draftOf({}, { events: [event(0n), event(START_NANO)] }).firstTokenAt).toBe(START_MS);
  });
});

describe('values that expand', () => {
  it('the names of flat arrays have eight levels, and the rest of a key is one name', () => {
    const key = (names: string) => `gen_ai.prompt.0.${names}`;
    expect(draftOf({ [key('a.b.c.d.e.f.g.h.i')]: 1 }).input).toMatchObject({
      value: [{ a: { b: { c: { d: { e: { f: { 'g.h.i': 1 } } } } } } }],
    });
  });

  it('the message of an error is a text or a scalar, and nothing that no cut applies to', () => {
    const failed = { status: { code: 2, message: 'of the status' } };
    const messageOf = (value: string | number | readonly string[] | { readonly a: string }) =>
      draftOf({ 'exception.message': value }, failed).error;
    expect(messageOf('text')).toMatchObject({ message: 'text' });
    expect(messageOf(5)).toMatchObject({ message: '5' });
    expect(messageOf(['x'])).toMatchObject({ message: 'of the status' });
    expect(messageOf({ a: 'x' })).toMatchObject({ message: 'of the status' });
  });
});
