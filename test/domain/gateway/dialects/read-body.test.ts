import { describe, expect, it } from 'vitest';
import type { BodyProblem, ReadBody, RouteKind } from '../../../../src/domain/gateway/dialects/dialect.ts';
import { readBody, readLargeBody } from '../../../../src/domain/gateway/dialects/read-body.ts';
import { runWithoutPauses } from '../../../../src/domain/steps.ts';

const ROUTES: readonly RouteKind[] = ['chat', 'responses', 'embeddings', 'messages', 'count_tokens'];
const HELLO = [{ role: 'user', content: 'hello' }];
/** What every route takes. */
const BASE = { model: 'm', messages: HELLO, input: 'hello', max_tokens: 5, max_output_tokens: 5 };

function read(route: RouteKind, body: object | string): ReadBody | BodyProblem {
  return readBody(route, Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));
}

function readWell(route: RouteKind, body: object | string): ReadBody {
  const result = read(route, body);
  if ('code' in result) throw new Error(result.message);
  return result;
}

const sizeOf = (route: RouteKind, body: object) => readWell(route, { model: 'm', ...body }).size;

describe.each(ROUTES)('a body of %s', (route) => {
  it.each<readonly [unknown, string, string | null]>([
    [{ ...BASE, model: undefined }, 'missing_model', 'model'],
    [{ ...BASE, model: null }, 'missing_model', 'model'],
    [{ ...BASE, model: '' }, 'missing_model', 'model'],
    [{ ...BASE, model: 1 }, 'invalid_request', 'model'],
    [{ ...BASE, model: 'x'.repeat(513) }, 'invalid_request', 'model'],
    [{ ...BASE, stream: 'true' }, 'invalid_request', 'stream'],
    [{ ...BASE, background: 1 }, 'invalid_request', 'background'],
    ['[]', 'invalid_request', null],
    ['null', 'invalid_request', null],
    ['"text"', 'invalid_request', null],
    ['', 'invalid_request', null],
    ['{"model":"m"', 'invalid_request', null],
    ['{"model":"m",}', 'invalid_request', null],
    [`{"model":"m","messages":${'['.repeat(200)}${']'.repeat(200)}}`, 'invalid_request', null],
    [`{"model":"m","a":${'['.repeat(5_000_000)}`, 'invalid_request', null],
    [`{"model":"m",${Array.from({ length: 10_001 }, (_, at) => `"a${at}":1`).join()}}`, 'invalid_request', null],
    [
      `{"model":"m","tools":[{${Array.from({ length: 10_001 }, (_, at) => `"a${at}":1`).join()}}]}`,
      'invalid_request',
      null,
    ],
  ])('%.60j is refused', (body, code, param) => {
    const problem = read(route, body as object | string);
    expect(problem).toMatchObject({ code, param });
    expect((problem as BodyProblem).message).toMatch(/^[\w(].{5,120}\.$/s);
  });

  it('that is not UTF-8 is refused', () => {
    const bytes = Buffer.concat([Buffer.from('{"model":"'), Buffer.of(0xc3, 0x28), Buffer.from('"}')]);
    expect(readBody(route, bytes)).toMatchObject({ code: 'invalid_request', param: null });
  });

  it('may have names of the prototype', () => {
    const text = `{"__proto__":{"model":"other","n":9},"constructor":1,"toString":"x",${JSON.stringify(BASE).slice(1)}`;
    const { model, params, size } = readWell(route, text);
    expect(model).toBe('m');
    expect(size.choices).toBe(1);
    expect(Object.keys(params)).toEqual(expect.arrayContaining(['__proto__', 'constructor', 'toString']));
    expect(JSON.stringify(params)).toContain('"__proto__":{"model":"other","n":9}');
    expect(read(route, '{"__proto__":{"model":"m"},"messages":[],"input":""}')).toMatchObject({
      code: 'missing_model',
    });
  });

  it.each([
    '"model":"first"',
    '"mod\\u0065l":"first"',
    '"x":1,"x":2',
    '"Model":"first"',
    '"MAX_TOKENS":1',
    '"Metadata":{}',
  ])('with a further %s could be another body for a provider, and is refused', (member) => {
    const text = `{${member},${JSON.stringify(BASE).slice(1)}`;
    expect(read(route, text)).toMatchObject({ code: 'invalid_request' });
  });

  it('that is large is read in steps, as in one', () => {
    const many = Array.from({ length: 9_000 }, (_, index) => ({ role: 'user', content: `${index} ${'x'.repeat(40)}` }));
    const bytes = Buffer.from(JSON.stringify({ ...BASE, messages: many, input: 'x'.repeat(300_000), tools: null }));
    const steps = readLargeBody(route, bytes);
    let pauses = 0;
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) pauses += 1;
    expect(pauses).toBeGreaterThan(10);
    expect(step.value).toEqual(readBody(route, bytes));
    expect(step.value).toHaveProperty('size');
    const twice = runWithoutPauses(readLargeBody(route, Buffer.from(`{"model":"m","model":"m"}`)));
    expect(twice).toMatchObject({ code: 'invalid_request' });
  });
});

it.each<readonly [RouteKind, object, string]>([
  ['chat', { messages: 'hello' }, 'messages must be an array, not a string.'],
  ['chat', { messages: { role: 'user' } }, 'messages must be an array, not an object.'],
  ['chat', { messages: undefined }, 'messages must be an array.'],
  ['messages', { messages: null }, 'messages must be an array.'],
  ['count_tokens', { messages: 7 }, 'messages must be an array.'],
  ['embeddings', { input: {} }, 'input must be a string or an array, not an object.'],
  ['responses', { input: 7 }, 'input must be a string or an array.'],
  ['chat', { n: 0 }, 'n must be a whole number from 1.'],
  ['chat', { n: '2' }, 'n must be a whole number from 1, not a string.'],
  ['chat', { n: 1.5 }, 'n must be a whole number from 1.'],
  ['chat', { max_tokens: -1 }, 'max_tokens must be a whole number.'],
  ['chat', { max_completion_tokens: '9' }, 'max_completion_tokens must be a whole number, not a string.'],
  ['responses', { max_output_tokens: true }, 'max_output_tokens must be a whole number, not a boolean.'],
  ['messages', { max_tokens: [] }, 'max_tokens must be a whole number, not an array.'],
  ['chat', { stream_options: 'x' }, 'stream_options must be an object, not a string.'],
])('%s refuses %j', (route, change, message) => {
  expect(read(route, { ...BASE, ...change })).toMatchObject({ code: 'invalid_request', message });
});

it.each<readonly [RouteKind, object, Partial<ReadBody>]>([
  ['chat', {}, { isStreamed: false, isBackground: false, asksForUsage: false, endUserId: null }],
  ['chat', { stream: true }, { isStreamed: true, asksForUsage: false }],
  ['chat', { stream: true, stream_options: null }, { isStreamed: true, asksForUsage: false }],
  ['chat', { stream: true, stream_options: { include_usage: true } }, { isStreamed: true, asksForUsage: true }],
  ['chat', { stream_options: { include_usage: 'true' } }, { asksForUsage: false }],
  ['responses', { stream: true, stream_options: { include_usage: true } }, { isStreamed: true, asksForUsage: false }],
  ['responses', { background: true }, { isBackground: true }],
  ['chat', { background: true }, { isBackground: false }],
  ['messages', { stream: true }, { isStreamed: true }],
  ['embeddings', { stream: true }, { isStreamed: false }],
  ['count_tokens', { stream: true }, { isStreamed: false }],
  ['chat', { user: 'u1' }, { endUserId: 'u1' }],
  ['embeddings', { user: 'u1' }, { endUserId: 'u1' }],
  ['responses', { user: 'ü'.repeat(256) }, { endUserId: 'ü'.repeat(256) }],
  ['responses', { user: '🎉'.repeat(257) }, { endUserId: '🎉'.repeat(256) }],
  ['messages', { metadata: { user_id: 'u'.repeat(300) } }, { endUserId: 'u'.repeat(256) }],
  ['chat', { user: '' }, { endUserId: null }],
  ['chat', { user: 7, metadata: { user_id: 'u2' } }, { endUserId: null }],
  ['messages', { user: 'u1', metadata: { user_id: 'u2' } }, { endUserId: 'u2' }],
  ['messages', { metadata: null }, { endUserId: null }],
])('%s with %j is read', (route, change, expected) => {
  expect(readWell(route, { ...BASE, ...change })).toMatchObject(expected);
});

it.each<readonly [RouteKind, object, number, number | null]>([
  ['chat', { messages: [] }, 1, null],
  ['chat', { messages: [], n: 3, max_tokens: 7 }, 3, 7],
  ['chat', { messages: [], n: null, max_tokens: 7, max_completion_tokens: 0 }, 1, 7],
  ['chat', { messages: [], max_tokens: 7, max_completion_tokens: null }, 1, 7],
  ['responses', { n: 3, max_tokens: 7, max_output_tokens: 9 }, 1, 9],
  ['responses', {}, 1, null],
  ['messages', { messages: [], max_tokens: 7, n: 3 }, 1, 7],
  ['embeddings', { input: '', max_tokens: 7 }, 1, 0],
  ['count_tokens', { messages: [], max_tokens: 7 }, 1, 0],
])('%s with %j asks for %i answers of at most %j tokens', (route, body, choices, outputTokensMax) => {
  expect(sizeOf(route, body)).toMatchObject({ choices, outputTokensMax, unboundedParams: [] });
});

const bytesIn = (...texts: readonly string[]) => texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
/** The names and strings of one message. */
const message = (role: string, text: string) => bytesIn('role', role, 'content', text);

it.each<readonly [string, RouteKind, object, number]>([
  ['messages', 'chat', { messages: [{ role: 'user', content: 'Grüße 🍵' }] }, message('user', 'Grüße 🍵')],
  [
    'parts, calls and results of tools',
    'chat',
    {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'tea' }] },
        { role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'f', arguments: '{"a":1}' } }] },
        { role: 'tool', tool_call_id: 'c', content: 'hot' },
      ],
    },
    message('user', `typetexttexttea`) +
      bytesIn('role', 'assistant', 'tool_calls', 'id', 'c', 'function', 'name', 'f', 'arguments', '{"a":1}') +
      message('tool', 'tool_call_idchot'),
  ],
  [
    'tools with their schemas',
    'chat',
    { messages: [], tools: [{ type: 'function', function: { name: 'f', parameters: { minimum: 10, x: true } } }] },
    bytesIn('type', 'function', 'function', 'name', 'f', 'parameters', 'minimum', '10', 'x', 'true'),
  ],
  [
    'a response format',
    'chat',
    { messages: [], response_format: { type: 'json_schema' } },
    bytesIn('type', 'json_schema'),
  ],
  ['instructions and input', 'responses', { instructions: 'Be brief.', input: 'tea' }, 12],
  ['the schema of a text', 'responses', { input: '', text: { format: 'json' } }, bytesIn('format', 'json')],
  ['system and messages', 'messages', { system: 'Be brief.', messages: HELLO }, 9 + message('user', 'hello')],
  ['texts to embed', 'embeddings', { input: ['one', 'two'] }, 6],
  [
    'media inline',
    'chat',
    { messages: [{ image_url: { url: 'data:image/png;base64,AAAA' } }] },
    bytesIn('image_url', 'url', 'data:image/png;base64,AAAA'),
  ],
  [
    'no parameters',
    'chat',
    { messages: [], temperature: 0.5, user: 'somebody', metadata: { a: 'b' }, stop: ['x'], seed: 7 },
    0,
  ],
])('%s are counted', (_what, route, body, textBytes) => {
  expect(sizeOf(route, body)).toMatchObject({ textBytes, arrayTokens: 0, unboundedParams: [] });
});

it('the prompt that Anthropic adds to tools is counted', () => {
  const tool = { name: 'f', input_schema: {} };
  const plain = bytesIn('name', 'f', 'input_schema');
  expect(sizeOf('messages', { messages: [], tools: [tool] }).textBytes).toBe(plain + 1_024);
  expect(sizeOf('messages', { messages: [], tools: [] }).textBytes).toBe(0);
  const bash = { type: 'bash_20250124', name: 'bash' };
  expect(sizeOf('messages', { messages: [], tools: [bash] }).textBytes).toBe(
    bytesIn('type', 'bash_20250124', 'name', 'bash') + 2_048,
  );
});

it('inputs of tokens are counted by their length', () => {
  expect(sizeOf('embeddings', { input: [1, 2, 3] })).toMatchObject({ arrayTokens: 3, textBytes: 0 });
  expect(sizeOf('embeddings', { input: [[1, 2], [3]] })).toMatchObject({ arrayTokens: 3, textBytes: 0 });
  expect(sizeOf('embeddings', { input: ['a', [5]] })).toMatchObject({ arrayTokens: 1, textBytes: 1 });
});

const part = (content: object) => ({ messages: [{ role: 'user', content: [content] }] });
const item = (sent: object) => ({ input: [sent] });

it.each<readonly [RouteKind, object, readonly string[]]>([
  ['chat', part({ type: 'image_url', image_url: { url: 'https://a.example/b.png' } }), ['image_url']],
  ['chat', part({ type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } }), []],
  ['chat', part({ type: 'video_url', video_url: { url: 'https://a.example/b' } }), ['video_url']],
  ['chat', part({ type: 'file', file: { file_id: 'f' } }), ['file_id']],
  ['chat', part({ type: 'file', file: { file_data: 'data:application/pdf;base64,AA' } }), []],
  ['chat', part({ type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } }), []],
  ['chat', { messages: [{ role: 'assistant', audio: { id: 'audio_1' } }] }, ['audio']],
  ['chat', { messages: [], web_search_options: {} }, ['web_search_options']],
  ['chat', { messages: [], web_search_options: null }, []],
  ['chat', { messages: [], tools: [{ type: 'function' }, { type: 'custom' }] }, []],
  ['chat', { messages: [], tools: [{ type: 'function' }, { type: 'web_search' }, { type: 'x' }] }, ['tools[1]']],
  ['chat', { messages: [], tools: { type: 'function' } }, ['tools']],
  [
    'responses',
    item({ role: 'user', content: [{ type: 'input_image', image_url: 'https://a.example' }] }),
    ['image_url'],
  ],
  ['responses', item({ role: 'user', content: [{ type: 'input_image', image_url: 'DATA:,x' }] }), []],
  ['responses', item({ role: 'user', content: [{ type: 'input_file', file_url: 'https://a.example' }] }), ['file_url']],
  ['responses', item({ role: 'user', content: [{ type: 'input_image', file_id: 'f', image_url: null }] }), ['file_id']],
  ['responses', item({ type: 'item_reference', id: 'msg_1' }), ['item_reference']],
  ['responses', item({ id: 'msg_1' }), ['item_reference']],
  ['responses', item({ id: 'msg_1', type: null, role: null }), ['item_reference']],
  ['responses', item({ id: 'msg_1', role: 'assistant', content: 'x' }), []],
  ['responses', item({ id: 'rs_1', type: 'reasoning', summary: [] }), []],
  ['chat', { messages: [{ role: 'assistant', tool_calls: [{ id: 'call_1', function: { name: 'f' } }] }] }, []],
  ['responses', item({ type: 'computer_call_output', output: { image_url: 'https://a.example' } }), ['image_url']],
  ['responses', { input: 'x', previous_response_id: 'resp_1' }, ['previous_response_id']],
  ['responses', { input: 'x', previous_response_id: null, conversation: null, prompt: null }, []],
  ['responses', { input: 'x', conversation: 'conv_1', prompt: { id: 'p' } }, ['conversation', 'prompt']],
  ...[
    'web_search',
    'web_search_preview',
    'file_search',
    'code_interpreter',
    'computer_use_preview',
    'mcp',
    'shell',
  ].map((type) => ['responses', { input: 'x', tools: [{ type }] }, ['tools[0]']] as const),
  ['responses', { input: 'x', tools: [{ type: 'local_shell' }, { type: 'apply_patch' }] }, []],
  ['messages', part({ type: 'image', source: { type: 'url', url: 'https://a.example' } }), ['source.url']],
  ['messages', part({ type: 'document', source: { type: 'file', file_id: 'f' } }), ['file_id']],
  ['messages', part({ type: 'image', source: { type: 'base64', data: 'AA' } }), []],
  ['messages', part({ type: 'container_upload', file_id: 'f' }), ['file_id']],
  ['messages', part({ type: 'tool_result', content: [{ type: 'image', source: { type: 'url' } }] }), ['source.url']],
  ['messages', part({ type: 'tool_use', input: { file_id: 'text', source: { type: 'url' } } }), []],
  ['messages', { messages: [], tools: [{ name: 'f' }, { type: 'custom', name: 'g' }] }, []],
  ['messages', { messages: [], tools: [{ type: 'text_editor_20250728' }, { type: 'memory_20250818' }] }, []],
  ...['web_search_20250305', 'code_execution_20250825', 'web_fetch_20250910', 'tool_search_tool_regex_20251119'].map(
    (type) => ['messages', { messages: [], tools: [{ type }] }, ['tools[0]']] as const,
  ),
  ['messages', { messages: [], container: 'c', mcp_servers: [{ url: 'x' }] }, ['container', 'mcp_servers']],
  ['messages', { messages: [], mcp_servers: [] }, []],
])('of %s, %j leaves %j unbounded', (route, body, unboundedParams) => {
  expect(sizeOf(route, body).unboundedParams).toEqual(unboundedParams);
});

it.each<readonly [RouteKind, object, ReadBody['input']]>([
  ['chat', { messages: HELLO }, { type: 'chat_messages', value: HELLO }],
  ['chat', { messages: [{ no: 'role' }] }, { type: 'json', value: [{ no: 'role' }] }],
  ['embeddings', { input: 'tea' }, { type: 'text', value: 'tea' }],
  ['embeddings', { input: ['tea'] }, { type: 'json', value: ['tea'] }],
  ['responses', { input: 'tea' }, { type: 'text', value: 'tea' }],
  [
    'responses',
    { instructions: 'Be brief.', input: 'tea' },
    {
      type: 'chat_messages',
      value: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'tea' },
      ],
    },
  ],
  ['responses', { prompt: { id: 'p' } }, { type: 'json', value: null }],
  [
    'responses',
    {
      input: [
        ...HELLO,
        { type: 'reasoning', summary: [] },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: 'hot' },
      ],
    },
    {
      type: 'chat_messages',
      value: [
        ...HELLO,
        { role: 'assistant', content: [{ type: 'reasoning', summary: [] }] },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: 'hot' },
      ],
    },
  ],
  [
    'messages',
    {
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [...HELLO, { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: { a: 1 } }] }],
    },
    {
      type: 'chat_messages',
      value: [
        { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
        ...HELLO,
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 't', type: 'function', function: { name: 'f', arguments: { a: 1 } } }],
        },
      ],
    },
  ],
])('of %s, %j is shown', (route, body, input) => {
  const read = readWell(route, { model: 'm', temperature: 1, ...body });
  expect(read.input).toEqual(input);
  expect(read.params).toEqual({ model: 'm', temperature: 1, ...('prompt' in body && body) });
});

it('long integers keep their digits', () => {
  const text = '{"model":"m","messages":[],"seed":12345678901234567890,"metadata":{"a":9007199254740993}}';
  expect(JSON.stringify(readWell('chat', text).params)).toBe(
    '{"model":"m","seed":12345678901234567890,"metadata":{"a":9007199254740993}}',
  );
});

const MEBIBYTES_32 = 32 * 1024 * 1024;

it.each<readonly [string, RouteKind, (bytes: number) => string]>([
  ['one text', 'chat', (bytes) => `{"model":"m","messages":[{"role":"user","content":"${'x'.repeat(bytes)}"}]}`],
  [
    'escapes',
    'chat',
    (bytes) => `{"model":"m","messages":[{"role":"user","content":"${'\\u00e9'.repeat(bytes / 6)}"}]}`,
  ],
  ['tokens', 'embeddings', (bytes) => `{"model":"m","input":[${'1,'.repeat(bytes / 2)}1]}`],
  ['many texts', 'embeddings', (bytes) => `{"model":"m","input":[${'"a",'.repeat(bytes / 4)}"a"]}`],
  [
    'members of one name',
    'chat',
    (bytes) => `{"model":"m","messages":[{${'"a":1,'.repeat(9_000)}"a":1}],"b":"${'x'.repeat(bytes - 70_000)}"}`,
  ],
])('32 MiB of %s are read in linear time', (_what, route, write) => {
  const millisecondsOf = (bytes: number) => {
    const body = Buffer.from(write(bytes));
    const startedAt = process.cpuUsage();
    readWell(route, body.toString());
    return process.cpuUsage(startedAt).user / 1_000;
  };
  expect(millisecondsOf(MEBIBYTES_32 - 1_024)).toBeLessThan(20_000);
});

it('a body of too many parts is refused', () => {
  expect(read('chat', `{"model":"m","messages":[${'{},'.repeat(400_001)}{}]}`)).toMatchObject({
    code: 'invalid_request',
  });
});
