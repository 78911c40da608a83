import { describe, expect, it } from 'vitest';
import { ANSWER_MAX_BYTES, cacheKeyOf, isCacheable, mayUseCache } from '../../../src/domain/gateway/answer-cache.ts';
import { CHAT_ANSWERS, MESSAGES, RESPONSE } from './cached-answers.ts';

type Request = Parameters<typeof cacheKeyOf>[0];

const REQUEST = { projectNumber: 1, route: 'chat', kind: 'openai' } as const;

function hashOf(json: string, changes: Partial<Request> = {}): string | null {
  return cacheKeyOf({ ...REQUEST, body: Buffer.from(json), ...changes })?.hash.toString('hex') ?? null;
}

describe('the key of a cached answer', () => {
  it('is the same for any order of members at any depth, with and without a stream', () => {
    const hash = hashOf('{"model":"m","messages":[{"role":"user","content":"a b"}],"metadata":{"a":1,"b":2}}');
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    for (const same of [
      '{"metadata":{"b":2,"a":1}, "messages":[ {"content":"a b","role":"user"} ], "model":"m"}',
      '{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"a\\u0020b"}],"metadata":{"a":1,"b":2}}',
    ]) {
      expect(hashOf(same)).toBe(hash);
    }
  });

  it('differs between projects, routes, kinds of providers, and whatever a body asks', () => {
    const bodies = [
      '{"model":"m","input":[1,2]}',
      '{"model":"m","input":[2,1]}',
      '{"model":"m","input":["1","2"]}',
      '{"model":"m","input":[1,2],"user":null}',
      '{"model":"m","input":[1,2],"tools":[{"type":"function","stream":true}]}',
      '{"model":"m","input":[1,2],"tools":[{"type":"function","stream":false}]}',
      '{"model":"m","seed":9007199254740992}',
      '{"model":"m","seed":9007199254740993}',
      '{"model":"m","temperature":1}',
      '{"model":"m","temperature":1.0}',
      '{"model":"m","__proto__":{"a":1}}',
      '{"model":"m"}',
    ];
    const hashes = [
      ...bodies.map((body) => hashOf(body)),
      hashOf('{"model":"m"}', { projectNumber: 2 }),
      hashOf('{"model":"m"}', { route: 'responses' }),
      hashOf('{"model":"m"}', { kind: 'azure_openai' }),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(hashes).not.toContain(null);
  });

  it('is none for what cannot be read at ordinary cost', () => {
    const deep = `${'['.repeat(200)}${']'.repeat(200)}`;
    for (const body of ['', '[]', '"text"', '{"a":', `{"a":${deep}}`, `{"a":"${'x'.repeat(1024 * 1024)}"}`]) {
      expect(hashOf(body)).toBeNull();
    }
  });
});

describe('a request that has effects', () => {
  it.each([
    ['responses', { conversation: 'conv_1' }],
    ['responses', { previous_response_id: 'resp_1' }],
    ['responses', { prompt: { id: 'pmpt_1' } }],
    ['responses', { tools: [{ type: 'function', name: 'f' }, { type: 'web_search' }] }],
    ['responses', { tools: [{ type: 'mcp', server_label: 's' }] }],
    ['responses', { tools: { type: 'function' } }],
    ['chat', { web_search_options: {} }],
    ['messages', { container: 'c' }],
    ['messages', { mcp_servers: [{ url: 'x' }] }],
    ['messages', { tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] }],
  ] as const)('has no key: of %s, %j', (route, asked) => {
    expect(hashOf(JSON.stringify({ model: 'm', ...asked }), { route })).toBeNull();
  });

  it.each([
    ['responses', { conversation: null, previous_response_id: null, tools: [{ type: 'function', name: 'f' }] }],
    ['chat', { tools: [{ type: 'function', function: { name: 'f' } }] }],
    ['messages', { mcp_servers: [], tools: [{ name: 'f' }, { type: 'bash_20250124', name: 'bash' }] }],
  ] as const)('is none that offers tools of the caller: of %s, %j', (route, asked) => {
    expect(hashOf(JSON.stringify({ model: 'm', ...asked }), { route })).not.toBeNull();
  });
});

describe('the use of the cache', () => {
  it.each([
    [undefined, true, true],
    ['', true, true],
    ['max-age=60', true, true],
    ['no-cache', false, true],
    ['No-Store', true, false],
    ['max-age=0, NO-CACHE ,no-store', false, false],
    ['not-no-cache', true, true],
  ])('follows cache-control: %s', (header, mayRead, mayStore) => {
    expect(mayUseCache(header)).toEqual({ mayRead, mayStore });
  });

  it('is for complete answers of status 200 and ordinary size, of keys that cache and store texts', () => {
    const config = { cache: { mode: 'exact', ttlSeconds: 60 }, capture: 'full' } as const;
    const answer = {
      route: 'embeddings',
      status: 200,
      bytes: Buffer.alloc(ANSWER_MAX_BYTES),
      isComplete: true,
      config,
    } as const;
    expect(isCacheable(answer)).toBe(true);
    for (const change of [
      { status: 201 },
      { status: 429 },
      { bytes: Buffer.alloc(ANSWER_MAX_BYTES + 1) },
      { bytes: null },
      { isComplete: false },
      { config: { ...config, capture: 'metadata' } as const },
      { config: { ...config, cache: { mode: 'off', ttlSeconds: 60 } } as const },
      { config: { ...config, cache: { mode: 'exact', ttlSeconds: 0 } } as const },
    ]) {
      expect(isCacheable({ ...answer, ...change })).toBe(false);
    }
  });

  it.each([
    ['chat', CHAT_ANSWERS.text, true],
    ['chat', CHAT_ANSWERS['several choices with logprobs'], true],
    ['chat', CHAT_ANSWERS.refusal, true],
    ['chat', CHAT_ANSWERS['tool calls'], false],
    ['chat', { choices: [{ message: { content: null, tool_calls: [], function_call: null } }] }, true],
    ['chat', { choices: [{ message: { content: null, function_call: { name: 'pay' } } }] }, false],
    ['chat', { choices: [{}] }, false],
    ['messages', MESSAGES.text, true],
    ['messages', MESSAGES['thinking and tools'], false],
    ['messages', MESSAGES['citations and results of tools'], false],
    ['responses', RESPONSE, false],
    ['responses', { ...RESPONSE, output: RESPONSE.output.slice(0, 2) }, true],
    ['responses', 'no object', false],
  ] as const)('keeps no answer that calls a tool: of %s, %.60j', (route, json, isKept) => {
    const config = { cache: { mode: 'exact', ttlSeconds: 60 }, capture: 'full' } as const;
    const bytes = Buffer.from(JSON.stringify(json));
    expect(isCacheable({ route, status: 200, bytes, isComplete: true, config })).toBe(isKept);
  });
});
