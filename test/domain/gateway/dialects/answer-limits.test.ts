import { describe, expect, it } from 'vitest';
import { createAnswerReader } from '../../../../src/domain/gateway/dialects/answer-reader.ts';
import type { RouteKind } from '../../../../src/domain/gateway/dialects/dialect.ts';

const MEBIBYTE = 1024 * 1024;

function createStream(route: RouteKind, { hidesUsage = false, captures = true } = {}) {
  return createAnswerReader({ route, isStreamed: true, hidesUsage, captures, holdMemory: () => true });
}

function createWhole(route: RouteKind) {
  return createAnswerReader({ route, isStreamed: false, hidesUsage: false, captures: true, holdMemory: () => true });
}

const event = (data: unknown) => Buffer.from(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
const chunk = (delta: object, index = 0) => event({ choices: [{ index, delta }] });

type Kept = { readonly content: string; readonly tool_calls?: { function: { name: string } }[] };

function messagesOf(reader: ReturnType<typeof createStream>): readonly Kept[] {
  return (reader.facts().output?.value ?? []) as unknown as readonly Kept[];
}

/** The texts of the messages that were kept. */
function textsOf(reader: ReturnType<typeof createStream>): readonly string[] {
  return messagesOf(reader).map(({ content }) => content);
}

describe('without memory to hold it', () => {
  it.each([true, false])(
    'what is large passes unread (a stream: %s), and all that was taken is given back',
    (isStreamed) => {
      let taken = 0;
      const holdMemory = (bytes: number) => {
        if (taken + bytes > MEBIBYTE / 4) return false;
        taken += bytes;
        return true;
      };
      const options = { route: 'chat', hidesUsage: true, captures: true, holdMemory } as const;
      const read = (characters: number) => {
        const reader = createAnswerReader({ ...options, isStreamed });
        const [kind, answer] = [isStreamed ? 'delta' : 'message', { content: 'x'.repeat(characters) }];
        const json = JSON.stringify({ choices: [{ index: 0, [kind]: answer }] });
        const bytes = Buffer.from(isStreamed ? `data: ${json}\n\n` : json);
        const parts = [];
        for (let at = 0; at < bytes.length; at += 10_000) parts.push(reader.read(bytes.subarray(at, at + 10_000)));
        parts.push(reader.end());
        expect(Buffer.concat(parts).equals(bytes)).toBe(true);
        expect(taken).toBe(0);
        return reader.facts();
      };
      expect(read(100_000)).toMatchObject({ isWhole: true, hasOutput: true });
      expect(read(MEBIBYTE)).toMatchObject({ isWhole: false, output: null });
    },
  );
});

describe('of a long answer', () => {
  it('1 MiB of text is kept, cut between characters, with a mark; all of it is counted', () => {
    const reader = createStream('chat');
    const piece = 'é🍵'.repeat(100);
    const count = Math.ceil((3 * MEBIBYTE) / Buffer.byteLength(piece));
    for (let turn = 0; turn < count; turn += 1) reader.read(chunk({ content: piece }));
    const bytes = count * Buffer.byteLength(piece);
    expect(reader.facts().outputBytes).toBe(bytes);
    const [text = ''] = textsOf(reader);
    const [kept = '', mark] = text.split('…');
    expect(mark).toBe(`[truncated: ${bytes} bytes]`);
    expect(Buffer.byteLength(kept)).toBeGreaterThan(MEBIBYTE - 8);
    expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(MEBIBYTE);
    expect(piece.repeat(count).startsWith(kept)).toBe(true);
  });

  it('the texts of all choices, thoughts and calls share what is kept', () => {
    const reader = createStream('chat');
    const text = 'x'.repeat(MEBIBYTE / 2);
    reader.read(chunk({ content: text }, 1));
    reader.read(chunk({ reasoning_content: text }, 0));
    reader.read(chunk({ tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: text } }] }, 0));
    expect(JSON.stringify(reader.facts().output).length).toBeLessThan(MEBIBYTE + 1_024);
    expect(JSON.stringify(reader.facts().output)).toContain(`…[truncated: ${text.length} bytes]`);
    expect(reader.facts().outputBytes).toBe(3 * text.length);
  });

  it('a thousand messages and calls are kept', () => {
    const reader = createStream('chat');
    for (let index = 0; index < 5_000; index += 1) {
      reader.read(chunk({ content: 'x' }, index));
      reader.read(chunk({ tool_calls: [{ index, function: { name: 'n'.repeat(5_000), arguments: '' } }] }, 0));
    }
    const messages = messagesOf(reader);
    const calls = messages.flatMap((message) => message.tool_calls ?? []);
    expect(messages.length + calls.length).toBe(1_024);
    expect(calls[0]?.function.name).toHaveLength(512);
    expect(reader.facts().outputBytes).toBe(5_000);
  });

  it('an endless stream takes bounded memory', () => {
    const reader = createStream('chat', { hidesUsage: true });
    const part = chunk({ content: 'x'.repeat(4_000) });
    for (let turn = 0; turn < 1_000; turn += 1) reader.read(part);
    global.gc?.();
    const before = process.memoryUsage();
    for (let turn = 0; turn < 50_000; turn += 1) reader.read(part);
    global.gc?.();
    const after = process.memoryUsage();
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(64 * MEBIBYTE);
    expect(textsOf(reader)[0]?.length).toBeLessThan(MEBIBYTE + 100);
    expect(reader.facts().outputBytes).toBe(51_000 * 4_000);
  });
});

it('halves of a character in two deltas become one', () => {
  const reader = createStream('chat');
  reader.read(event('{"choices":[{"index":0,"delta":{"content":"\\ud83c"}}]}'));
  reader.read(event('{"choices":[{"index":0,"delta":{"content":"\\udf75\\ud800"}}]}'));
  expect(textsOf(reader)).toEqual(['🍵\ufffd']);
});

it.each<readonly [string, RouteKind, string]>([
  ['an event that is not JSON', 'chat', 'data: {"choices":[{"delta":{"content":"x"}}\n\n'],
  ['an event that is not an object', 'messages', 'data: [1]\n\ndata: null\n\ndata: "x"\n\n'],
  ['choices that are none', 'chat', 'data: {"choices":{"length":9},"usage":[],"model":{},"error":false}\n\n'],
  ['null everywhere', 'responses', 'data: {"type":"response.completed","response":null}\n\n'],
  ['counts that are none', 'chat', 'data: {"usage":{"prompt_tokens":-1,"completion_tokens":1.5}}\n\n'],
  ['counts as text', 'messages', 'data: {"type":"message_delta","usage":{"output_tokens":"7"}}\n\n'],
  [
    'counts beyond 2^53',
    'responses',
    'data: {"type":"response.created","response":{"usage":{"input_tokens":1e300}}}\n\n',
  ],
  ['members of the prototype', 'chat', 'data: {"__proto__":{"usage":{"prompt_tokens":1}}}\n\n'],
  ['bytes that are not UTF-8', 'chat', 'data: \ud800\n\n'],
  ['an unknown event', 'messages', 'event: x\ndata: {"type":"toString","delta":{"text":"x"}}\n\n'],
  ['deep JSON', 'chat', `data: {"choices":${'['.repeat(30_000)}${']'.repeat(30_000)}}\n\n`],
  [
    'deep JSON of a call',
    'messages',
    `data: {"type":"message_start","message":{"content":[{"type":"tool_use","input":${'['.repeat(30_000)}${']'.repeat(30_000)}}]}}\n\n`,
  ],
  ['deeper JSON', 'messages', `data: {"type":"message_start","x":${'['.repeat(4_000_000)}\n\n`],
])('%s tells no usage and passes', (_what, route, stream) => {
  for (const hidesUsage of [false, true]) {
    const reader = createStream(route, { hidesUsage });
    const bytes = Buffer.from(stream);
    expect(Buffer.concat([reader.read(bytes), reader.end()]).equals(bytes)).toBe(true);
    expect(reader.facts()).toMatchObject({ usage: null, outputBytes: 0 });
  }
});

it.each([
  ['deep JSON', `{"usage":{"prompt_tokens":1},"x":${'['.repeat(200)}${']'.repeat(200)}}`],
  ['no JSON', '<html>502</html>'],
  ['no object', '[{"usage":{"prompt_tokens":1}}]'],
  ['half of JSON', '{"usage":{"prompt_tokens":1},'],
])('a whole answer of %s passes unread and counts as output', (_what, text) => {
  const reader = createWhole('chat');
  const bytes = Buffer.from(text);
  expect(reader.read(bytes)).toBe(bytes);
  expect(reader.end()).toHaveLength(0);
  expect(reader.facts()).toMatchObject({ usage: null, isComplete: false, outputBytes: bytes.length, output: null });
});

it('a whole answer of more than 8 MiB passes unread, and is held no longer', () => {
  const reader = createWhole('chat');
  const part = Buffer.alloc(MEBIBYTE, 'x');
  global.gc?.();
  const before = process.memoryUsage().arrayBuffers;
  for (let turn = 0; turn < 100; turn += 1) expect(reader.read(part)).toBe(part);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * MEBIBYTE);
  reader.end();
  expect(reader.facts()).toMatchObject({ usage: null, isComplete: true, outputBytes: 100 * MEBIBYTE, output: null });
});

it('large vectors are counted and not kept', () => {
  const reader = createWhole('embeddings');
  const data = Array.from({ length: 300 }, (_, index) => ({ index, embedding: Array(1_536).fill(-0.0123456789) }));
  const usage = { prompt_tokens: 3_000, total_tokens: 3_000 };
  const bytes = Buffer.from(JSON.stringify({ data, model: 'e', usage }));
  for (let at = 0; at < bytes.length; at += 65_536) reader.read(bytes.subarray(at, at + 65_536));
  reader.end();
  expect(reader.facts()).toMatchObject({
    ...{ usage: { inputTokens: 3_000, outputTokens: 0 }, outputBytes: 0, isComplete: true },
    output: { type: 'json', value: { embeddings: 300, dimensions: 1_536 } },
  });
});

it('texts of an error are cut', () => {
  const reader = createWhole('chat');
  reader.read(Buffer.from(JSON.stringify({ error: { type: 't'.repeat(9_999), message: 'm'.repeat(99_999) } })));
  reader.end();
  expect(reader.facts().error).toEqual({ type: 't'.repeat(512), message: 'm'.repeat(2_000) });
});
