/** Entries of a dataset that are made of a span say what the span has, to the last digit. */

import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { TraceSchema, TraceSpanSchema } from '../../gen/spandrel/v1/traces_pb.js';
import { type Column, columnProblem, columnsOf, entryOf, SOURCES } from '../../src/console/datasets/span-entries.ts';

const said = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: [{ type: 'text', text: 'Where is it?' }] },
  { role: 'assistant', content: null, tool_calls: [] },
];
const span = create(TraceSpanSchema, {
  spanId: 's',
  name: 'ask "it"',
  model: 'gpt-5',
  input: { type: 'chat_messages', valueJson: JSON.stringify(said) },
  output: { type: 'json', valueJson: '{"order":12345678901234567890,"late":true}' },
  paramsJson: '{"temperature":1.0}',
  contexts: [{ content: 'terms' }, { content: 'prices' }],
});
const trace = create(TraceSchema, {
  traceId: 't',
  metadataJson: '{"user_id":"ada"}',
  input: { value: 'hello' },
  expectedOutput: 'today',
});
const all: readonly Column[] = SOURCES.map(([source]) => ({ name: source, source }));

describe('an entry of a span', () => {
  it('has a member for each column that has a source', () => {
    expect(entryOf([...all, { name: 'notes', source: null }], span, trace)).toBe(
      '{"input-text":"Where is it?",' +
        `"input":${JSON.stringify(said)},` +
        '"output-text":"{\\"order\\":12345678901234567890,\\"late\\":true}",' +
        '"output":{"order":12345678901234567890,"late":true},' +
        '"params":{"temperature":1.0},"contexts":["terms","prices"],"name":"ask \\"it\\"","model":"gpt-5",' +
        '"trace-input":"hello","trace-output":null,"expected-output":"today","metadata":{"user_id":"ada"},' +
        '"trace-id":"t","span-id":"s"}',
    );
  });

  it('has null for what a span lacks, and text as it is', () => {
    const bare = create(TraceSpanSchema, { spanId: 'b', input: { type: 'text', valueJson: '"a\\nb"' } });
    expect(JSON.parse(entryOf(all, bare, create(TraceSchema, { traceId: 't' })))).toEqual({
      ...Object.fromEntries(SOURCES.map(([source]) => [source, null])),
      ...{ 'input-text': 'a\nb', input: 'a\nb', 'span-id': 'b', 'trace-id': 't', name: '' },
    });
  });

  it('has the columns of its dataset, mapped by what they are called', () => {
    expect(columnsOf('{"input":1,"expected_output":2,"notes":3,"constructor":4}', span)).toEqual([
      { name: 'input', source: 'input-text' },
      { name: 'expected_output', source: 'output-text' },
      { name: 'notes', source: null },
      { name: 'constructor', source: null },
    ]);
    expect(columnsOf(null, span).map(({ name }) => name)).toEqual(['input', 'expected_output', 'contexts']);
  });

  it('needs columns with names of their own, and a source', () => {
    const column = (name: string, source: Column['source'] = 'input') => ({ name, source });
    expect(columnProblem([column('a'), column('b', null)])).toBeNull();
    expect(columnProblem([column('a'), column(' ')])).toContain('name');
    expect(columnProblem([column('a'), column('a ')])).toContain('same name');
    expect(columnProblem([column('a', null)])).toContain('source');
    expect(columnProblem([])).toContain('source');
  });
});
