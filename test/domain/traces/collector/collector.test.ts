import { describe, expect, it } from 'vitest';
import { reportCollected } from '../../../../src/domain/traces/collector/collector-report.ts';
import { nest, PROJECT, refusalOf, send, spanOf } from './collecting.ts';

const bad = { span_id: 'bad' };

describe('a body that is not a collector request', () => {
  it.each([null, 5, 'text', true, [], [{}]])('is refused when it is not an object: %j', (body) => {
    expect(refusalOf(JSON.stringify(body))).toMatchObject({
      code: 'malformed_request',
      kind: 'bad_request',
      message: 'Invalid body, expecting json',
      flatError: 'Invalid body, expecting json',
      meta: {},
    });
  });

  it.each([
    [{ spans: {} }, "Invalid 'spans' field, expecting array"],
    [{ evaluations: 'x' }, "Invalid 'evaluations' field, expecting array"],
    [{ spans: 1, evaluations: 1 }, "Invalid 'spans' field, expecting array"],
    [{}, 'Trace ID not defined'],
    [{ spans: [5, { span_id: 'a' }, { trace_id: 'later' }] }, 'Trace ID not defined'],
    [{ trace_id: '' }, 'Validation error: trace_id: must be a string of 1 to 200 characters'],
    [{ trace_id: 5 }, 'Validation error: trace_id: must be a string of 1 to 200 characters'],
    [{ trace_id: 'a\nb' }, 'Validation error: trace_id: must be a string of 1 to 200 characters'],
    [{ spans: [{ trace_id: {} }] }, 'Validation error: trace_id: must be a string of 1 to 200 characters'],
    [{ trace_id: 't' }, 'Validation error: nothing to store'],
    [{ trace_id: 't', spans: [], metadata: {}, expected_output: null }, 'Validation error: nothing to store'],
    [
      { trace_id: 't', metadata: { labels: 5 } },
      'Validation error: metadata.labels: must be a string, array or object; nothing to store',
    ],
  ])('is refused with the same text in both members: %j', (body, message) => {
    expect(refusalOf(body)).toMatchObject({
      code: 'validation_error',
      kind: 'bad_request',
      message,
      flatError: message,
      meta: {},
    });
  });

  it.each([
    ['spans', 10_001, 'Too many spans, maximum of 10000 per request'],
    ['evaluations', 2_001, 'Too many evaluations, maximum of 2000 per request'],
  ])('may carry too many %s', (field, count, message) => {
    expect(refusalOf({ [field]: new Array(count).fill(0) })).toMatchObject({
      code: 'payload_too_large',
      kind: 'payload_too_large',
      message,
      flatError: 'Payload Too Large',
    });
  });
});

describe('the trace id', () => {
  it('comes from the first span that is an object when the body has none', () => {
    const body = { trace_id: null, spans: ['x', { ...spanOf({}), trace_id: '0AF7651916CD43DD8448EB211C80319C' }] };
    const { append, reasons } = send(body);
    expect(append.traceId).toBe('0af7651916cd43dd8448eb211c80319c');
    expect(reasons).toEqual(['spans[0]: must be an object']);
  });

  it('is compared after normalisation', () => {
    const trace_id = '0af7651916cd43dd8448eb211c80319c';
    expect(send({ trace_id, spans: [spanOf({ trace_id: trace_id.toUpperCase() })] }).rejectedSpans).toBe(0);
  });
});

describe('items are validated separately', () => {
  it('one bad span of 500 costs none of the others', () => {
    const spans = Array.from({ length: 500 }, (_, index) => spanOf({ span_id: `span-${index}` }));
    spans[2] = { ...spanOf({ span_id: 'span-2' }), type: null };
    const { append, rejectedSpans, rejectedEvaluations, reasons } = send({ trace_id: 't', spans });
    expect(append.spans).toHaveLength(499);
    expect([rejectedSpans, rejectedEvaluations]).toEqual([1, 0]);
    expect(reasons).toEqual(['spans[2].type: is required']);
  });

  it('nothing is stored when all are bad, metadata included', () => {
    const body = { trace_id: 't', metadata: { user_id: 'u', labels: 5 }, spans: [bad, 5], evaluations: [{}] };
    expect(refusalOf(body).message).toBe(
      'Validation error: spans[0].type: is required; spans[1]: must be an object; evaluations[0].name: is required',
    );
  });

  it('a valid evaluation saves a request whose spans are all invalid', () => {
    const body = { trace_id: 't', spans: [bad], evaluations: [{ name: 'n', passed: true }] };
    expect(send(body)).toMatchObject({ rejectedSpans: 1, append: { spans: [], evaluations: [{ name: 'n' }] } });
  });

  it('metadata, evaluations or an expected output alone are enough', () => {
    expect(send({ trace_id: 't', metadata: { a: null } }).append.metadataJson).toBe('{"a":null}');
    expect(send({ trace_id: 't', evaluations: [{ name: 'n', score: 0 }] }).append.evaluations).toHaveLength(1);
    expect(send({ trace_id: 't', expected_output: '' }).append.expectedOutput).toBe('');
  });

  it('the reasons come in the order spans, evaluations, metadata, cuts', () => {
    const long = 'x'.repeat(1_048_577);
    const body = {
      trace_id: 't',
      metadata: { user_id: {}, note: long },
      expected_output: long,
      spans: [bad, spanOf({ name: long, input: { type: 'json', value: [long, long] } })],
      evaluations: [{}, { name: 'n', label: long }],
    };
    expect(send(body).reasons).toEqual([
      'spans[0].type: is required',
      'evaluations[0].name: is required',
      'metadata.user_id: must be a string, number or boolean',
      'metadata.note: would exceed 262144 bytes of metadata',
      '5 string(s) truncated to 1048576 bytes',
    ]);
  });
});

describe('strings over the limit', () => {
  it('count only where they are stored', () => {
    const long = 'x'.repeat(1_048_577);
    const spans = [
      { ...spanOf({ span_id: 'bad', name: long }), type: 'no such type' },
      spanOf({ span_id: 'replaced', params: { a: long } }),
      spanOf({ span_id: 'replaced', whatever: long }),
    ];
    expect(send({ trace_id: 't', spans }).reasons).toEqual([expect.stringMatching(/^spans\[0]\.type/)]);
    expect(send({ trace_id: 't', spans: [spanOf({ params: { a: 'x'.repeat(1_048_576) } })] }).reasons).toEqual([]);
  });
});

describe('the same id twice in one request', () => {
  it('the later span wins and none counts as rejected', () => {
    const spans = [
      spanOf({ span_id: 'a', type: 'llm', model: 'm', metrics: { prompt_tokens: 1 } }),
      spanOf({ span_id: 'b' }),
      spanOf({ span_id: 'a', type: 'llm', model: 'm', metrics: { prompt_tokens: 2 } }),
    ];
    const { append, rejectedSpans, reasons } = send({ trace_id: 't', spans });
    expect(append.spans.map((span) => [span.spanId, span.promptTokens])).toEqual([
      ['a', 2],
      ['b', null],
    ]);
    expect(append.requests.map((request) => request.spanIndex)).toEqual([0]);
    expect([rejectedSpans, reasons]).toEqual([0, []]);
  });

  it('a later span that is refused leaves the earlier one', () => {
    const spans = [spanOf({ span_id: 'a', name: 'kept' }), { span_id: 'a' }];
    expect(send({ trace_id: 't', spans }).append.spans[0]?.name).toBe('kept');
  });

  it('the later evaluation wins', () => {
    const evaluations = [1, 2].map((score) => ({ name: 'n', evaluation_id: 'e', score }));
    expect(send({ trace_id: 't', evaluations }).append.evaluations).toMatchObject([{ score: 2 }]);
  });
});

describe('the expected output', () => {
  it('is text as sent, anything else as compact JSON, and null says nothing', () => {
    const of = (expected_output: unknown) =>
      send({ trace_id: 't', metadata: { a: 1 }, expected_output }).append.expectedOutput;
    expect(of('a\u0000\ud800')).toBe('a\ufffd\ufffd');
    expect(of({ b: [1, null] })).toBe('{"b":[1,null]}');
    expect(of(false)).toBe('false');
    expect(of(null)).toBeUndefined();
  });
});

describe('the report', () => {
  it('lists 100 reasons and counts the rest', () => {
    const metadataNotes = Array.from({ length: 103 }, (_, index) => `r${index}`);
    const collected = send({ trace_id: 't', spans: [spanOf({})] });
    const errorMessageOf = (notes: readonly string[]) =>
      reportCollected(collected, { metadataNotes: notes }).errorMessage;
    expect(errorMessageOf([])).toBe('');
    expect(errorMessageOf(['a', 'b'])).toBe('a; b');
    expect(errorMessageOf(metadataNotes.slice(0, 100))).toMatch(/^r0; r1; .*; r99$/);
    expect(errorMessageOf(metadataNotes)).toMatch(/; r99; and 3 more$/);
  });

  it('names spans beyond the limit of the trace by their indexes in the request', () => {
    const spans = [bad, spanOf({ span_id: 'a' }), bad, spanOf({ span_id: 'b' })];
    const collected = send({ trace_id: 't', spans }, PROJECT, { spansPerTraceMax: 7 });
    expect(reportCollected(collected, { metadataNotes: ['note'], refusedSpans: [1] })).toEqual({
      rejectedSpans: 3,
      rejectedEvaluations: 0,
      errorMessage:
        'spans[0].type: is required; spans[2].type: is required; spans[3]: too many spans, maximum of 7 per trace; note',
    });
    expect(() => reportCollected(collected, { metadataNotes: [], refusedSpans: [0, 1] })).toThrow(
      /^Validation error: spans\[0]\.type: is required; .*spans\[1]: too many spans/,
    );
  });

  it('stays short however much is wrong', () => {
    const { message } = refusalOf({ trace_id: 't', spans: new Array(10_000).fill(nest(3)) });
    expect(message).toMatch(/spans\[99]: must be an object; and 9900 more$/);
  });
});

it.each([{ metadata: { user_id: 'u' } }, { evaluations: [{ name: 'n', passed: true }] }, { user_id: 'u' }])(
  'no spans are not an error beside %j',
  (rest) => {
    expect(send({ trace_id: 't', spans: [], ...rest })).toMatchObject({ reasons: [], append: { spans: [] } });
  },
);

it.each([
  [{ trace_id: 'AbC', spans: [{ span_id: 'x' }] }, 'AbC'],
  [{ spans: [{ trace_id: 'from-a-span', span_id: 'x' }] }, 'from-a-span'],
  [{ trace_id: 't', spans: 7 }, 't'],
  [{ trace_id: 't' }, 't'],
  [{ trace_id: 7, spans: [] }, undefined],
  [{ spans: [] }, undefined],
])('a refusal names the posted trace: %j', (body, postedTraceId) => {
  expect(refusalOf(body).meta.postedTraceId).toBe(postedTraceId);
});
