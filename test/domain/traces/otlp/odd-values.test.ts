import { describe, expect, it } from 'vitest';
import { attributesOf, draftOf, START_MS, START_NANO, spanWith, traceOf } from './spans.ts';

describe('values that say nothing', () => {
  it.each(['NaN', 'Infinity', '-Infinity'])('a count of %s is absent and costs nothing else', (value) => {
    expect(draftOf({ 'gen_ai.usage.input_tokens': value, 'gen_ai.usage.output_tokens': 2 }).metrics).toEqual({
      ...draftOf({ 'gen_ai.usage.output_tokens': 2 }).metrics,
    });
    expect(draftOf({ 'gen_ai.usage.cost': value }).metrics).toBeUndefined();
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
