import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runWithoutPauses } from '../../../src/domain/steps.ts';
import { createReading } from '../../../src/domain/traces/collector/collector-reading.ts';
import { mergeMetadata, readMetadata } from '../../../src/domain/traces/trace-metadata.ts';
import { runsOf } from '../../support/scenario.ts';
import { LIMITS, NOW_MS, nest, send } from './collector/collecting.ts';

function read(metadata: unknown): { json: string | null; reasons: readonly string[] } {
  const { append, reasons } = send({ trace_id: 't', expected_output: 'x', metadata });
  return { json: append.metadataJson, reasons };
}

function stored(metadata: unknown): string {
  const { json, reasons } = read(metadata);
  expect(reasons).toEqual([]);
  return json ?? '';
}

describe('metadata that comes in many drafts', () => {
  function readDrafts(labels: readonly string[]) {
    const facts = { depth: 128, hasEscapes: true, bytes: 10_485_760, hasWide: false };
    const reading = createReading({ limits: LIMITS, facts, receivedAtMs: NOW_MS, traceId: 't' });
    const drafts = labels.map((label) => ({ members: { labels: [label] }, pathPrefix: 'metadata.' }));
    return runWithoutPauses(readMetadata(drafts, reading));
  }

  it('has the labels of all of them', () => {
    expect(readDrafts(['a', 'b', 'a', 'c']).json).toBe('{"labels":["a","b","c"]}');
  });

  it('keeps labels to the byte that fits, and the others cost no time', () => {
    // A control character takes six bytes as JSON.
    const labels = Array.from({ length: 1000 }, (_, index) => `${'\u0001'.repeat(250)}${index}`);
    const startedAt = process.cpuUsage();
    const { json, reasons } = readDrafts(labels);
    const { user, system } = process.cpuUsage(startedAt);
    const kept = JSON.parse(json ?? '').labels;
    expect(kept).toEqual(labels.slice(0, kept.length));
    expect(Buffer.byteLength(json ?? '')).toBeLessThanOrEqual(262_144);
    expect(Buffer.byteLength(json ?? '')).toBeGreaterThan(262_144 - 1_600);
    expect(reasons[0]).toBe('metadata.labels: would exceed 262144 bytes of metadata');
    expect((user + system) / 1000).toBeLessThan(300);
  });
});

describe('metadata of millions of parts', () => {
  const facts = { depth: 128, hasEscapes: true, bytes: 10_485_760, hasWide: false };
  const reading = () => createReading({ limits: LIMITS, facts, receivedAtMs: NOW_MS, traceId: 't' });

  it('is read in steps where it is labels', () => {
    const labels = new Array<number>(1_000_000).fill(1);
    const steps = [...readMetadata([{ members: { labels }, pathPrefix: 'metadata.' }], reading())];
    expect(steps.length).toBeGreaterThan(100);
    const { json } = runWithoutPauses(readMetadata([{ members: { labels }, pathPrefix: 'metadata.' }], reading()));
    expect(json).toBe('{"labels":["1"]}');
  });

  it('is refused without being written where it is a value', () => {
    const value = Object.assign(new Array<number>(1_000_000).fill(1), {
      toJSON: () => expect.unreachable('the value was written'),
    });
    const drafts = [{ members: { value: { a: [value] } }, pathPrefix: 'metadata.' }];
    const { json, reasons } = runWithoutPauses(readMetadata(drafts, reading()));
    expect(json).toBeNull();
    expect(reasons).toEqual(['metadata.value: would exceed 262144 bytes of metadata']);
  });
});

describe('metadata of one request', () => {
  it('comes back with equal values, types and order', () => {
    const text =
      '{"user_id":"u \\"1\\" % \ud83d\ude42","z":null,"labels":["a%","b"],"__proto__":{"x":[]},"constructor":1,' +
      '"toString":true,"n":12345678901234567890,"f":0.1,"nul":"\\u0000"}';
    const { append } = send(`{"trace_id":"t","metadata":${text}}`);
    expect(append.metadataJson).toBe(text);
  });

  it('writes numbers and booleans of the well-known keys as text', () => {
    expect(stored({ user_id: 5, thread_id: true, customer_id: 1.5 })).toBe(
      '{"user_id":"5","thread_id":"true","customer_id":"1.5"}',
    );
  });

  it('reads the camel-case spelling only where the well-known key says nothing', () => {
    expect(stored({ userId: 'u', threadId: 't', customerId: 'c' })).toBe(
      '{"user_id":"u","thread_id":"t","customer_id":"c"}',
    );
    expect(stored({ user_id: null, userId: 'u' })).toBe('{"user_id":"u"}');
    expect(stored({ user_id: 'a', userId: 'u' })).toBe('{"user_id":"a","userId":"u"}');
    expect(read({ userId: null })).toEqual({ json: null, reasons: [] });
  });

  it('takes the keys beside the spans only without metadata', () => {
    const beside = { user_id: 'u', thread_id: 5, customer_id: {}, labels: 'l', other: 1 };
    const { append, reasons } = send({ trace_id: 't', metadata: null, ...beside });
    expect(append.metadataJson).toBe('{"user_id":"u","thread_id":"5","labels":["l"]}');
    expect(reasons).toEqual(['customer_id: must be a string, number or boolean']);
    expect(send({ trace_id: 't', metadata: { a: 1 }, ...beside }).append.metadataJson).toBe('{"a":1}');
  });

  it('turns every form of labels into one list without repeats', () => {
    expect(stored({ labels: 'one' })).toBe('{"labels":["one"]}');
    expect(stored({ labels: ['a', 5, true, null, 'a', ''] })).toBe('{"labels":["a","5","true",""]}');
    expect(stored({ labels: { env: 'prod', n: 5, o: { a: 1 }, x: null } })).toBe(
      '{"labels":["env: prod","n: 5","o: {\\"a\\":1}"]}',
    );
    expect(stored({ labels: [] })).toBe('{"labels":[]}');
  });

  it('drops what is unusable alone, and says so', () => {
    expect(read({ user_id: {}, thread_id: '', customer_id: 'x'.repeat(513), ok: 1 })).toEqual({
      json: '{"ok":1}',
      reasons: [
        'metadata.user_id: must be a string, number or boolean',
        'metadata.thread_id: must be a string of 1 to 512 characters',
        'metadata.customer_id: must be a string of 1 to 512 characters',
      ],
    });
    expect(read({ labels: 5, ok: 1 })).toEqual({
      json: '{"ok":1}',
      reasons: ['metadata.labels: must be a string, array or object'],
    });
    expect(read({ labels: ['a', {}, 'x'.repeat(257), '🙂'.repeat(256)] })).toEqual({
      json: `{"labels":["a","${'🙂'.repeat(256)}"]}`,
      reasons: [
        'metadata.labels[1]: must be a string, number or boolean',
        'metadata.labels[2]: must be a string of at most 256 characters',
      ],
    });
    expect(read('text')).toEqual({ json: null, reasons: ['metadata: must be an object'] });
    expect(read({ deep: nest(65), fine: nest(64) }).reasons).toEqual(['metadata.deep: nested deeper than 64 levels']);
    expect(read({ ['k'.repeat(4097)]: 1, ['k'.repeat(4096)]: 1 }).reasons).toEqual([
      `metadata.${'k'.repeat(100)}: has a member name longer than 4096 bytes`,
    ]);
  });

  it('holds at most 1,000 labels and 262,144 bytes', () => {
    const labels = Array.from({ length: 1001 }, (_, index) => `l${index}`);
    const { json, reasons } = read({ labels });
    expect(JSON.parse(json ?? '').labels).toHaveLength(1000);
    expect(reasons).toEqual(['metadata.labels[1000]: would exceed 1000 labels']);

    const exact = 'x'.repeat(262_144 - '{"a":""}'.length);
    expect(Buffer.byteLength(stored({ a: exact }))).toBe(262_144);
    expect(read({ a: `${exact}x`, b: 1 })).toEqual({
      json: '{"b":1}',
      reasons: ['metadata.a: would exceed 262144 bytes of metadata'],
    });
    expect(read({ a: exact, b: 1 }).reasons).toEqual(['metadata.b: would exceed 262144 bytes of metadata']);
  });

  it('lists a limited number of reasons, for any input', () => {
    const { reasons } = read({ labels: new Array(5000).fill({}) });
    expect(reasons).toHaveLength(101);
    expect(reasons.at(-1)).toBe('metadata: 4900 more values dropped');
  });

  it('replaces U+0000 in what is searched for', () => {
    expect(stored({ user_id: 'a\u0000', labels: ['b\u0000'] })).toBe('{"user_id":"a\ufffd","labels":["b\ufffd"]}');
  });
});

describe('metadata of several requests', () => {
  it('is the first one when there was none, and stays when nothing comes', () => {
    expect(mergeMetadata(null, '{"a":1}')).toEqual({ json: '{"a":1}', notes: [] });
    expect(mergeMetadata('{}', '{"a":1}')).toEqual({ json: '{"a":1}', notes: [] });
    expect(mergeMetadata('{"a":1}', null)).toEqual({ json: '{"a":1}', notes: [] });
    expect(mergeMetadata(null, null)).toEqual({ json: '{}', notes: [] });
  });

  it('adds up key by key: the later value wins, null leaves, labels unite', () => {
    const { json } = mergeMetadata(
      '{"a":{"x":1},"b":2,"labels":["p","q"],"n":12345678901234567890}',
      '{"a":{"y":1},"b":null,"c":null,"labels":["q","r"],"__proto__":1}',
    );
    expect(json).toBe('{"a":{"y":1},"b":2,"labels":["p","q","r"],"n":12345678901234567890,"c":null,"__proto__":1}');
  });

  it('unites prompt_ids by their values, so that a request sent again adds none', () => {
    const sent = '{"prompt_ids":[{"id":1},12345678901234567890,"p",[1]]}';
    const { json } = mergeMetadata('{"user_id":"u","prompt_ids":[{"id":1},"q"]}', sent);
    expect(json).toBe('{"user_id":"u","prompt_ids":[{"id":1},"q",12345678901234567890,"p",[1]]}');
    expect(mergeMetadata(json, sent).json).toBe(json);
    expect(read({ prompt_ids: [false, 'p', false, 'p', { id: 1 }, { id: 1 }] }).json).toBe(
      '{"prompt_ids":[false,"p",{"id":1}]}',
    );
  });

  it('leaves out what would exceed a limit, and says so', () => {
    const big = JSON.stringify('x'.repeat(200_000));
    expect(mergeMetadata(`{"a":${big}}`, `{"b":${big},"c":1}`)).toEqual({
      json: `{"a":${big},"c":1}`,
      notes: ['metadata.b: would exceed 262144 bytes of metadata'],
    });
    const labels = Array.from({ length: 999 }, (_, index) => `l${index}`);
    const merged = mergeMetadata(JSON.stringify({ labels }), '{"labels":["m","n"]}');
    expect(JSON.parse(merged.json).labels).toEqual([...labels, 'm']);
    expect(merged.notes).toEqual(['metadata.labels: would exceed 1000 labels']);
  });

  it('makes room before it leaves anything out', () => {
    const big = JSON.stringify('x'.repeat(200_000));
    expect(mergeMetadata(`{"a":${big}}`, `{"b":${big},"a":1}`)).toEqual({ json: `{"a":1,"b":${big}}`, notes: [] });
  });

  it('is the same after a repeat, and never over the limits', () => {
    const size = fc.constantFrom(0, 60_000, 100_000, 150_000, 250_000).map((length) => 'é'.repeat(length / 2));
    const labels = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 });
    const prompt_ids = fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 3 });
    const metadata = fc.record(
      { a: size, b: size, c: size, d: fc.jsonValue(), user_id: fc.constantFrom('u', 'v'), labels, prompt_ids },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(metadata, { minLength: 1, maxLength: 4 }), (requests) => {
        let json: string | null = null;
        for (const request of requests) {
          const incoming = read(request).json;
          const once: string = mergeMetadata(json, incoming).json;
          expect(mergeMetadata(once, incoming).json).toBe(once);
          expect(Buffer.byteLength(once)).toBeLessThanOrEqual(262_144);
          expect(JSON.stringify(JSON.parse(once))).toBe(once);
          json = once;
        }
      }),
      { numRuns: runsOf(50) },
    );
  });
});
