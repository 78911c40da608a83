import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fault, type JsonValue } from '../../../../src/domain/fault.ts';
import { runsOf } from '../../../support/scenario.ts';
import { collectValue, NOW_MS, refusalOf, send } from './collecting.ts';

describe('hostile bodies', () => {
  const text = `{"trace_id":"t","__proto__":{"trace_id":"x"},"constructor":1,"metadata":{"__proto__":{"a":1},"toString":2},
    "spans":[{"__proto__":{"type":"llm"},"span_id":"toString","type":"tool","params":{"__proto__":1,"constructor":{}},
    "metrics":{"__proto__":2},"timestamps":{"started_at":1699900000000,"finished_at":1699900000000}}]}`;

  it('keep __proto__, constructor and toString as plain data', () => {
    const { append, reasons } = send(text);
    expect(reasons).toEqual([]);
    expect(append.metadataJson).toBe('{"__proto__":{"a":1},"toString":2}');
    expect(append.spans[0]).toMatchObject({ type: 'tool', paramsJson: '{"__proto__":1,"constructor":{}}' });
    expect(append.spans[0]?.otherMetricsJson).toBe('{"__proto__":2}');
  });

  it('have no field by inheritance', () => {
    expect(refusalOf('{"__proto__":{"trace_id":"x","spans":[]}}').message).toBe('Trace ID not defined');
    expect(refusalOf('{"trace_id":"t","spans":[{"__proto__":{"span_id":"a"}}]}').message).toContain(
      'spans[0].span_id: is required',
    );
  });

  it('lose unpaired surrogates everywhere, names included', () => {
    const { append } = send(String.raw`{"trace_id":"t\ud800","metadata":{"k\udc00":"v\ud800"}}`);
    expect(append.traceId).toBe('t\ufffd');
    expect(append.metadataJson).toBe('{"k\ufffd":"v\ufffd"}');
  });

  it('never cause anything but a Fault', () => {
    const anyJson = fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' });
    const oneOf = (...values: unknown[]) => usually(fc.constantFrom(...values), anyJson);
    const instant = oneOf(1_699_900_000_000, 1_699_900_000_000.5, NOW_MS);
    const timestamps = oneOrRecord({ started_at: instant, finished_at: instant, first_token_at: instant });
    const metrics = oneOrRecord({ prompt_tokens: oneOf(5, 0.5, -0), cost: oneOf(0.1), tokens_estimated: oneOf(true) });
    const error = oneOrRecord({ message: oneOf('m'), stacktrace: oneOf(['a'], 'a\nb') });
    const typed = oneOrRecord({
      type: oneOf('text', 'chat_messages', 'list', 'guardrail_result'),
      value: oneOf([], 'x', {}),
    });
    const span = oneOrRecord({
      ...{
        span_id: oneOf('a', 'b'),
        type: oneOf('llm', 'tool'),
        timestamps,
        metrics,
        error,
        input: typed,
        output: typed,
      },
      ...{
        parent_id: oneOf('a', null),
        name: oneOf('n'),
        model: oneOf('gpt-5'),
        params: oneOf({ a: 1 }),
        outputs: oneOf([]),
      },
      ...{ contexts: oneOf(['a', { content: 1 }]), trace_id: oneOf('t', null) },
    });
    const evaluation = oneOrRecord({
      ...{ name: oneOf('n'), status: oneOf('processed', 'error', null), passed: oneOf(true), score: oneOf(1), error },
      ...{ cost: oneOf({ currency: 'USD', amount: 1 }), inputs: anyJson, timestamps },
    });
    const metadata = oneOrRecord({
      user_id: oneOf('u'),
      userId: oneOf('v'),
      labels: oneOf(['a', null], { a: 1 }),
      x: anyJson,
    });
    const body = oneOrRecord({
      ...{ trace_id: oneOf('t', null), spans: usually(fc.array(span), anyJson), metadata, expected_output: anyJson },
      ...{ evaluations: usually(fc.array(evaluation), anyJson), user_id: oneOf('u') },
    });
    const facts = fc.record({
      depth: fc.constantFrom(1, 128),
      hasEscapes: fc.boolean(),
      bytes: fc.constantFrom(10, 9e6),
      hasWide: fc.boolean(),
    });
    let stored = 0;
    fc.assert(
      fc.property(body, facts, (value, found) => {
        try {
          const { append } = collectValue(value as JsonValue, found);
          stored += append.spans.length;
          for (const { inputJson, paramsJson, errorJson, contextsJson, otherMetricsJson } of append.spans) {
            for (const json of [inputJson, paramsJson, errorJson, contextsJson, otherMetricsJson]) {
              if (json !== null) JSON.parse(json);
            }
          }
          if (append.metadataJson !== null) JSON.parse(append.metadataJson);
        } catch (failure) {
          expect(failure).toBeInstanceOf(Fault);
        }
      }),
      { numRuns: runsOf(2000) },
    );
    expect(stored).toBeGreaterThan(0);
  });
});

function usually(expected: fc.Arbitrary<unknown>, other: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof({ arbitrary: expected, weight: 29 }, other);
}

function oneOrRecord(fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown> {
  const complete = fc.record(fields);
  return usually(fc.oneof(complete, fc.record(fields, { requiredKeys: [] })), fc.jsonValue({ maxDepth: 3 }));
}
