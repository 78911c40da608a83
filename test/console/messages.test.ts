/** Messages of the common providers are read completely, and pictures only where their bytes are of an allowed type. */

import { describe, expect, it } from 'vitest';
import { type Part, readMessages } from '../../src/console/trace/messages.ts';
import { shownTypeOf } from '../../src/console/trace/messages-media.ts';

const partsOf = (message: unknown): readonly Part[] | undefined => readMessages(JSON.stringify([message]))?.[0]?.parts;
const rest = (members: unknown, title = 'Other members') => ({
  kind: 'json',
  rest: true,
  title,
  text: JSON.stringify(members),
});

describe('messages', () => {
  it('show every member they have', () => {
    const message = {
      role: 'tool',
      name: 'clock',
      tool_call_id: 'call_1',
      content: 'noon',
      refusal: null,
      seen: [],
      at: 1,
    };
    expect(partsOf(message)).toEqual([
      {
        kind: 'result',
        id: 'call_1',
        name: 'clock',
        failed: false,
        parts: [{ kind: 'text', text: 'noon' }, rest({ at: 1 })],
      },
    ]);
  });

  it('show every member of their parts and calls', () => {
    const call = {
      id: 'call_1',
      type: 'function',
      index: 3,
      function: { name: 'look_up', arguments: '{"id":9007199254740993}' },
    };
    const part = { type: 'text', text: 'Hello', cache_control: { type: 'ephemeral' } };
    expect(partsOf({ role: 'assistant', content: [part], tool_calls: [call], function_call: null })).toEqual([
      { kind: 'text', text: 'Hello' },
      rest({ cache_control: { type: 'ephemeral' } }),
      { kind: 'call', id: 'call_1', name: 'look_up', text: '{"id":9007199254740993}' },
      rest({ index: 3 }, 'Other members of the call'),
    ]);
  });

  it('show the words of parts as text, and name those that are not text', () => {
    const odd = { type: 'odd', content: { n: 1 } };
    const parts = [
      { type: 'text', content: 'Hello' },
      { type: 'output_text', text: 'you' },
      { content: 'there' },
      { type: 'refusal', text: 'no' },
      odd,
    ];
    expect(partsOf({ role: 'assistant', content: parts })).toEqual([
      { kind: 'text', text: 'Hello' },
      { kind: 'text', text: 'you' },
      { kind: 'text', text: 'there' },
      { kind: 'text', title: 'refusal', text: 'no' },
      { kind: 'json', title: 'odd', text: JSON.stringify(odd) },
    ]);
  });

  it.each([
    ['OpenTelemetry', { type: 'reasoning', content: 'So be it.' }],
    ['Anthropic', { type: 'thinking', thinking: 'So be it.' }],
    ['the responses of OpenAI', { type: 'reasoning', summary: [{ type: 'summary_text', text: 'So be it.' }] }],
  ])('tell the reasoning of %s from what was said', (_, part) => {
    expect(partsOf({ role: 'assistant', content: [part, 'Yes.'] })).toEqual([
      { kind: 'reasoning', text: 'So be it.' },
      { kind: 'text', text: 'Yes.' },
    ]);
  });

  it('keep what reasoning has beside its words', () => {
    expect(partsOf({ role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm.', signature: 's' }] })).toEqual([
      { kind: 'reasoning', text: 'Hm.' },
      rest({ signature: 's' }),
    ]);
  });

  it.each([
    ['Anthropic', { type: 'tool_use', id: 'c', name: 'f', input: { n: 1 } }],
    ['OpenTelemetry', { type: 'tool_call', id: 'c', name: 'f', arguments: { n: 1 } }],
    ['the AI SDK', { type: 'tool-call', toolCallId: 'c', toolName: 'f', input: { n: 1 } }],
    ['the responses of OpenAI', { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"n":1}' }],
  ])('have the calls of %s', (_, part) => {
    expect(partsOf({ role: 'assistant', content: [part] })).toEqual([
      { kind: 'call', id: 'c', name: 'f', text: '{"n":1}' },
    ]);
  });

  it.each([
    ['Anthropic', { type: 'tool_result', tool_use_id: 'c', content: [{ type: 'text', text: 'one' }] }],
    ['OpenTelemetry', { type: 'tool_call_response', id: 'c', response: 'one' }],
    ['the AI SDK', { type: 'tool-result', toolCallId: 'c', output: { type: 'text', value: 'one' } }],
    ['the responses of OpenAI', { type: 'function_call_output', call_id: 'c', output: 'one' }],
  ])('have the results of %s', (_, part) => {
    expect(partsOf({ role: 'user', content: [part] })).toEqual([
      { kind: 'result', id: 'c', name: null, failed: false, parts: [{ kind: 'text', text: 'one' }] },
    ]);
  });

  it('of Google have parts', () => {
    const parts = [{ text: 'Hi' }, { functionCall: { name: 'f', args: { n: 1 } } }];
    expect(partsOf({ role: 'model', parts })).toEqual([
      { kind: 'text', text: 'Hi' },
      { kind: 'call', id: null, name: 'f', text: '{"n":1}' },
    ]);
  });

  it('keep the digits of numbers', () => {
    expect(partsOf({ role: 'user', content: { n: '@' } })).toEqual([{ kind: 'json', text: '{"n":"@"}' }]);
    expect(readMessages('[{"role":"user","content":{"n":9007199254740993}}]')?.[0]?.parts).toEqual([
      { kind: 'json', text: '{"n":9007199254740993}' },
    ]);
  });

  it('may be in a request', () => {
    expect(readMessages('{"model":"m","messages":[{"role":"user","content":"Hi"}]}')).toHaveLength(1);
  });

  it.each(['{}', '"text"', '[1]', 'null', '{"messages":[{"text":"no role"}]}'])('are not what %s is', (json) => {
    expect(readMessages(json)).toBeNull();
  });

  it('that nest results without end are data from some depth on', () => {
    let part: unknown = 'deep';
    for (let depth = 0; depth < 50; depth += 1) part = { type: 'tool_result', tool_use_id: 'c', content: [part] };
    expect(JSON.stringify(partsOf({ role: 'user', content: [part] }))).toContain('deep');
  });
});

describe('pictures and sound', () => {
  const bytes = { kind: 'data', mediaType: 'image/png', base64: 'aGk=' };
  const remote = { kind: 'remote', url: 'https://elsewhere.test/x.png' };

  it.each([
    [{ type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } }, 'image', bytes],
    [{ type: 'image_url', image_url: { url: remote.url } }, 'image', remote],
    [{ type: 'input_image', image_url: remote.url }, 'image', remote],
    [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } }, 'image', bytes],
    [{ type: 'image', source: { type: 'url', url: remote.url } }, 'image', remote],
    [{ type: 'image', image: 'aGk=' }, 'image', bytes],
    [{ type: 'file', data: 'aGk=', mediaType: 'image/png' }, 'image', bytes],
    [{ type: 'blob', mime_type: 'image/png', content: 'aGk=' }, 'image', bytes],
    [{ type: 'uri', mime_type: 'image/png', uri: remote.url }, 'image', remote],
    [{ inlineData: { mimeType: 'image/png', data: 'aGk=' } }, 'image', bytes],
    [
      { type: 'input_audio', input_audio: { data: 'aGk=', format: 'wav' } },
      'audio',
      { ...bytes, mediaType: 'audio/wav' },
    ],
    [
      { type: 'file', file: { file_data: 'data:application/pdf;base64,aGk=' } },
      'file',
      { ...bytes, mediaType: 'application/pdf' },
    ],
  ])('are found in %j', (part, what, source) => {
    expect(partsOf({ role: 'user', content: [part] })).toEqual([{ kind: 'media', media: { what, source } }]);
  });

  it('are found where a text is nothing but a data URL', () => {
    const url = 'data:image/png;base64,aGk=';
    expect(partsOf({ role: 'user', content: url })).toEqual([
      { kind: 'media', media: { what: 'image', source: bytes } },
    ]);
    expect(partsOf({ role: 'user', content: `See ${url}` })?.[0]?.kind).toBe('text');
  });

  it('keep what is sent beside them', () => {
    const part = { type: 'image_url', image_url: { url: remote.url, detail: 'high' } };
    expect(partsOf({ role: 'user', content: [part] })?.[1]).toEqual(rest({ detail: 'high' }));
  });

  it.each([
    'javascript:alert(1)',
    'file:///etc/passwd',
    '/api/auth/logout',
    'data:text/html,<b>',
    'blob:https://a.test/1',
  ])('are not at %s', (url) => {
    expect(partsOf({ role: 'user', content: [{ type: 'image_url', image_url: { url } }] })?.[0]?.kind).toBe('json');
  });

  it.each(['image/png', 'image/jpg', 'image/webp', 'audio/mp3', 'audio/wav'])(
    'of the type %s are shown',
    (mediaType) => {
      expect(shownTypeOf({ mediaType, base64: 'aGk=' })).not.toBeNull();
    },
  );

  it.each(['image/svg+xml', 'text/html', 'application/xhtml+xml', 'application/pdf', 'text/xml', 'constructor', ''])(
    'of the type %s are not shown',
    (mediaType) => {
      expect(shownTypeOf({ mediaType, base64: 'aGk=' })).toBeNull();
    },
  );

  it('that are too large are not shown', () => {
    expect(shownTypeOf({ mediaType: 'image/png', base64: 'a'.repeat(30_000_000) })).toBeNull();
  });
});
