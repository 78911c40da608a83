import { describe, expect, it } from 'vitest';
import { runWithoutPauses } from '../../../../src/domain/steps.ts';
import { createReading } from '../../../../src/domain/traces/collector/collector-reading.ts';
import { toBatchDraft } from '../../../../src/domain/traces/otlp/batch.ts';
import type { OtlpSpan } from '../../../../src/domain/traces/otlp/span.ts';
import { readMetadata } from '../../../../src/domain/traces/trace-metadata.ts';
import { LIMITS } from '../collector/collecting.ts';
import { attributesOf, START_MS, spanWith, traceOf } from './spans.ts';

/** The metadata of the trace of these spans. */
function metadataOf(...spans: readonly OtlpSpan[]) {
  const { metadata, facts, traceId } = traceOf(...spans);
  const reading = createReading({ limits: LIMITS, facts, receivedAtMs: START_MS, traceId });
  const { json, reasons } = runWithoutPauses(readMetadata(metadata, reading));
  return { read: json === null ? null : JSON.parse(json), reasons };
}

describe('metadata', () => {
  it('takes the first 10,000 labels of an attribute', () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => (index < 10_000 ? 'a' : 'b'));
    for (const labels of [many(10_001), many(10_001).join(','), JSON.stringify(many(10_001))]) {
      expect(metadataOf(spanWith({ 'langwatch.labels': labels })).read).toEqual({ labels: ['a'] });
    }
  });

  it('parses large texts of attributes in steps', () => {
    const text = JSON.stringify({ words: Array.from({ length: 100_000 }, (_, index) => `word ${index}`) });
    const spans = [spanWith({ 'langwatch.input': text })];
    const steps = [...toBatchDraft({ spans, bytes: text.length, depth: 1 })];
    expect(steps.length).toBeGreaterThan(20);
  });

  const IDENTITY: readonly (readonly [member: string, keys: readonly string[]])[] = [
    [
      'user_id',
      [
        'langwatch.user.id',
        'langwatch.user_id',
        'user_id',
        'langfuse.user.id',
        'user.id',
        'enduser.id',
        'llm.user',
        'mlflow.trace.user',
      ],
    ],
    [
      'thread_id',
      [
        'langwatch.thread.id',
        'langwatch.thread_id',
        'thread_id',
        'langfuse.session.id',
        'gen_ai.conversation.id',
        'langwatch.langgraph.thread_id',
        'session.id',
        'gcp.vertex.agent.session_id',
        'mlflow.trace.session',
      ],
    ],
    ['customer_id', ['langwatch.customer.id', 'langwatch.customer_id', 'customer_id']],
  ];
  it.each(IDENTITY)(
    '%s comes from the first attribute that says it, of the span or else of its resource',
    (member, keys) => {
      for (const at of keys.keys()) {
        const said = attributesOf(Object.fromEntries(keys.slice(at).map((key) => [key, `of ${key}`])));
        const expected = { [member]: `of ${keys[at]}` };
        expect(metadataOf(spanWith({}, { attributes: said })).read).toEqual(expected);
        expect(metadataOf(spanWith({}, { resource: said })).read).toEqual(expected);
      }
      const [key = ''] = keys;
      const both = spanWith({ [key]: 'of the span' }, { resource: attributesOf({ [key]: 'of the resource' }) });
      expect(metadataOf(both, spanWith({}, { resource: both.resource })).read).toEqual({ [member]: 'of the span' });
    },
  );

  it('labels of all spans and sources are merged, in any form', () => {
    const one = spanWith({ 'langwatch.labels': '["a","b"]', 'langwatch.tags': 'c, d,,', 'tag.tags': ['e', 5] });
    expect(metadataOf(one, spanWith({ 'tag.tags': ['a', 'f'] })).read).toEqual({
      labels: ['a', 'b', 'c', 'd', 'e', '5', 'f'],
    });
  });

  it('labels behind a prefix are labels, too, beside those of other sources', () => {
    const span = spanWith({
      'ai.telemetry.metadata.labels': ['a'],
      'metadata.labels': '["b"]',
      'langwatch.labels': ['c'],
    });
    expect(metadataOf(span).read?.labels?.toSorted()).toEqual(['a', 'b', 'c']);
  });

  it('objects are read, with identity and labels in them', () => {
    const span = spanWith({
      metadata: '{"userId":"u","plan":"pro"}',
      'langwatch.metadata': { seats: 3, labels: ['a'] },
      'langwatch.trace': '{"deep":{"x":[1]}}',
    });
    expect(metadataOf(span).read).toEqual({ user_id: 'u', plan: 'pro', seats: 3, labels: ['a'], deep: { x: [1] } });
  });

  it('an item that is not an object is reported, and no other item is lost', () => {
    expect(metadataOf(spanWith({ metadata: 'just text', user_id: 'u' }))).toEqual({
      read: { user_id: 'u' },
      reasons: ['metadata: must be an object'],
    });
  });

  it.each([
    ...['metadata.', 'langwatch.metadata.', 'langwatch.trace.', 'ai.telemetry.metadata.', 'ai.settings.context.'],
    ...['traceloop.association.properties.', 'mastra.metadata.', 'langsmith.metadata.'],
    ...['langfuse.observation.metadata.', 'langfuse.trace.metadata.'],
  ])('%s names a member', (prefix) => {
    const said = { [`${prefix}plan`]: 'pro', [`${prefix}threadId`]: 't', [`${prefix}__proto__`]: 1 };
    expect(JSON.stringify(metadataOf(spanWith(said)).read)).toBe('{"plan":"pro","thread_id":"t","__proto__":1}');
  });

  it.each([
    ...['ai.telemetry.metadata.', 'ai.settings.context.', 'traceloop.association.properties.'],
    ...['mastra.metadata.', 'langsmith.metadata.'],
  ])('%s has sessions and tags of the application', (prefix) => {
    for (const name of ['sessionId', 'session_id', 'conversationId', 'conversation_id', 'chat_id']) {
      const said = { [`${prefix}${name}`]: 's', [`${prefix}userId`]: 'u', [`${prefix}tags`]: ['a', 'b'] };
      expect(metadataOf(spanWith(said)).read).toEqual({ thread_id: 's', user_id: 'u', labels: ['a', 'b'] });
    }
    const named = { [`${prefix}sessionId`]: 's', [`${prefix}threadId`]: 't' };
    expect(metadataOf(spanWith(named)).read).toEqual({ thread_id: 't', sessionId: 's' });
    const standard = { [`${prefix}sessionId`]: 's', 'session.id': 't' };
    expect(metadataOf(spanWith(standard)).read).toEqual({ thread_id: 't', sessionId: 's' });
    const blank = { [`${prefix}sessionId`]: '', [`${prefix}chat_id`]: 'c', [`${prefix}userId`]: 'none' };
    expect(metadataOf(spanWith(blank))).toEqual({ read: { thread_id: 'c' }, reasons: [] });
  });

  it('a session under a general prefix stays a member', () => {
    expect(metadataOf(spanWith({ 'metadata.session_id': 's' })).read).toEqual({ session_id: 's' });
  });

  it.each(['langfuse.trace.tags', 'langsmith.span.tags', 'mastra.tags'])('%s are labels', (key) => {
    for (const labels of [['a', 'b'], '["a","b"]', 'a, b']) {
      expect(metadataOf(spanWith({ [key]: labels })).read).toEqual({ labels: ['a', 'b'] });
    }
  });

  it("Langfuse's names of the trace", () => {
    const said = {
      'langfuse.environment': 'staging',
      'langfuse.release': 'v2',
      'langfuse.version': '3',
      'langfuse.trace.name': 'ask',
      'langfuse.trace.public': true,
      'langfuse.trace.metadata.plan': '{"seats":3}',
      'langfuse.observation.metadata': 'any text',
    };
    expect(metadataOf(spanWith(said))).toEqual({
      read: {
        environment: 'staging',
        release: 'v2',
        version: '3',
        trace_name: 'ask',
        public: true,
        plan: { seats: 3 },
        metadata: 'any text',
      },
      reasons: [],
    });
  });

  it('of a resource everything counts that does not describe machines and programs', () => {
    const technical = ['service.name', 'telemetry.sdk.name', 'host.name', 'os.type', 'process.pid', 'container.id'];
    const more = ['k8s.pod.name', 'cloud.region', 'deployment.environment', 'langwatch.sdk.name', 'service'];
    const all = Object.fromEntries([...technical, ...more, 'team', 'shop.floor'].map((key) => [key, 'x']));
    expect(metadataOf(spanWith(all, { resource: attributesOf(all) })).read).toEqual({ team: 'x', 'shop.floor': 'x' });
  });

  it('origin', () => {
    expect(metadataOf(spanWith({ 'langwatch.origin': 'ui' })).read).toEqual({ origin: 'ui' });
  });

  it('the prompts of all spans and of the resource, each once', () => {
    const of = (handle: string) => ({ 'langwatch.prompt.handle': handle });
    const resource = attributesOf(of('r'));
    const { links, metadata } = traceOf(spanWith(of('a')), spanWith(of('b'), { resource }), spanWith(of('a')));
    expect(links?.map(({ handle }) => handle)).toEqual(['a', 'r', 'b']);
    expect(metadata).toEqual([]);
  });

  it('merges in the order of the request: the later value wins', () => {
    expect(metadataOf(spanWith({ 'metadata.a': 1, 'metadata.b': 1 }), spanWith({ 'metadata.a': 2 })).read).toEqual({
      a: 2,
      b: 1,
    });
  });
});

describe('the expected output', () => {
  it('is that of a span, or of its resource', () => {
    const resource = attributesOf({ 'langwatch.expected_output': 'of the resource' });
    expect(traceOf(spanWith({}, { resource })).expectedOutput).toBe('of the resource');
    expect(traceOf(spanWith({ 'langwatch.expected_output': 'yes' }, { resource })).expectedOutput).toBe('yes');
  });
});

describe('custom evaluations', () => {
  const evaluated = (item: unknown) => ({
    name: 'langwatch.evaluation.custom',
    timeNano: 0n,
    attributes: attributesOf({ json_encoded_event: typeof item === 'string' ? item : JSON.stringify(item) }),
  });

  it('belong to their span unless they say another, and are counted over the whole request', () => {
    const one = spanWith({}, { events: [evaluated({ name: 'a', passed: true }), evaluated('no JSON')] });
    const two = spanWith({}, { traceId: 'f'.repeat(32), events: [evaluated({ name: 'b', span_id: 'other' })] });
    const { traces } = runWithoutPauses(toBatchDraft({ spans: [one, two], bytes: 1000, depth: 0 }));
    const [first, second] = traces.map(({ evaluations, indexes }) => ({
      evaluations,
      indexes: indexes?.evaluations,
    }));
    expect(first).toMatchObject({
      evaluations: [{ name: 'a', spanId: '0123456789abcdef' }, { reason: 'must be an object' }],
      indexes: [0, 1],
    });
    expect(second).toMatchObject({ evaluations: [{ name: 'b', spanId: 'other' }], indexes: [2] });
  });
});

describe('what spans share', () => {
  const MIB = 1024 * 1024;
  const spansWith = (count: number, changes: Partial<OtlpSpan>) =>
    Array.from({ length: count }, () => spanWith({}, changes));
  const draft = (spans: readonly OtlpSpan[]) => () =>
    runWithoutPauses(toBatchDraft({ spans, bytes: 9 * MIB, depth: 0 }));
  const refused = expect.objectContaining({
    code: 'payload_too_large',
    message: 'Resource attributes repeated for every span exceed 67108864 bytes; send fewer spans per request',
  });

  it('may not grow beyond 64 MiB by being repeated for every span and trace', () => {
    const resource = attributesOf({ note: 'x'.repeat(9 * MIB) });
    expect(draft(spansWith(6, { resource }))).not.toThrow();
    expect(draft(spansWith(7, { resource }))).toThrow(refused);
    const others = ['a', 'b', 'c', 'd'].map((digit) => spanWith({}, { resource, traceId: digit.repeat(32) }));
    expect(draft(others)).toThrow(refused);
  });

  it('counts scopes like resources', () => {
    const scope = { name: 'x'.repeat(9 * MIB), version: '' };
    expect(draft(spansWith(7, { scope }))).not.toThrow();
    expect(draft(spansWith(8, { scope }))).toThrow(refused);
  });
});
