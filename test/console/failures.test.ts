/** A failed trace opens where it failed, and the cost of a span is split only as it was computed. */

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, it } from 'vitest';
import { PriceMatchSchema } from '../../gen/spandrel/v1/pricing_pb.js';
import { SpanMetricsSchema, TraceSchema, TraceSpanSchema } from '../../gen/spandrel/v1/traces_pb.js';
import { deepestFailure, similarFailures } from '../../src/console/trace/failures.ts';
import { splitCost } from '../../src/console/trace/token-costs.ts';

type Sent = readonly [spanId: string, parentId: string | null, error: string | null, endMs?: number];

function find(message: string, spans: readonly Sent[]): string | undefined {
  const made = spans.map(([spanId, parentId, error, endMs = 10], index) =>
    create(TraceSpanSchema, {
      spanId,
      ...(parentId !== null && { parentId }),
      ...(error !== null && { error: { message: error, stacktrace: [] } }),
      timestamps: { startedAt: timestampFromMs(index), finishedAt: timestampFromMs(endMs) },
    }),
  );
  return deepestFailure(create(TraceSchema, { error: { message } }), made)?.spanId;
}

describe('the span where a trace failed', () => {
  it('is the deepest one that failed', () => {
    expect(
      find('no', [
        ['root', null, 'no'],
        ['plan', 'root', null],
        ['tool', 'plan', 'no'],
        ['late', 'root', 'no'],
      ]),
    ).toBe('tool');
  });

  it('is below the one that the trace has its error from', () => {
    const spans: readonly Sent[] = [
      ['root', null, null],
      ['handled', 'root', 'tried again'],
      ['deep', 'handled', 'tried again'],
      ['fatal', 'root', 'no'],
    ];
    expect(find('no', spans)).toBe('fatal');
  });

  it('is the last one of several attempts', () => {
    expect(
      find('no', [
        ['root', null, 'no'],
        ['one', 'root', 'no', 3],
        ['two', 'root', 'no', 6],
      ]),
    ).toBe('two');
  });

  it('is unknown as long as no failed span is loaded', () => {
    expect(find('no', [['root', null, null]])).toBeUndefined();
  });
});

describe('similar failures', () => {
  it.each([
    ['Request req_81 to "shop" timed out after 30 s', '"timed out after" error:true'],
    ['Order 17 not found\nat line 3', '"not found" error:true'],
    ['E42', '"E42" error:true'],
    ['TypeError: x is not a function', '"TypeError: x is not a function" error:true'],
    ['', '"" error:true'],
  ])('of %j are found by what numbers, ids and quotes leave', (message, line) => {
    expect(similarFailures({ message })).toBe(line);
  });
});

describe('the parts of a cost', () => {
  const rates = {
    inputCostPerToken: 2e-6,
    outputCostPerToken: 8e-6,
    cacheReadCostPerToken: 5e-7,
    cacheWriteCostPerToken: 2.5e-6,
  };
  const match = create(PriceMatchSchema, {
    rates: { ...rates, tiers: [{ ...rates, aboveTokens: 200_000n, inputCostPerToken: 4e-6 }] },
    batchRates: { ...rates, inputCostPerToken: 1e-6, outputCostPerToken: 4e-6 },
  });
  const split = (metrics: Parameters<typeof create<typeof SpanMetricsSchema>>[1]) =>
    splitCost(create(SpanMetricsSchema, metrics), match)?.map(({ label, tokens }) => `${label} ${tokens}`) ?? null;

  it.each([
    [
      'cached tokens within the prompt',
      { promptTokens: 1_000n, completionTokens: 100n, cacheReadInputTokens: 400n, cost: 0.0022 },
      ['Input 600', 'Read from cache 400', 'Output 100'],
    ],
    [
      'cached tokens beside the prompt',
      { promptTokens: 1_000n, completionTokens: 100n, cacheReadInputTokens: 400n, cost: 0.003 },
      ['Input 1000', 'Read from cache 400', 'Output 100'],
    ],
    [
      'reasoning beside the answer',
      { promptTokens: 0n, completionTokens: 100n, reasoningTokens: 50n, cost: 0.0012 },
      ['Output with reasoning 150'],
    ],
    ['a batch', { promptTokens: 1_000n, completionTokens: 100n, cost: 0.0014 }, ['Input 1000', 'Output 100']],
    ['a large input', { promptTokens: 300_000n, completionTokens: 100n, cost: 1.2008 }, ['Input 300000', 'Output 100']],
  ])('are those of %s', (_, metrics, parts) => {
    expect(split(metrics)).toEqual(parts);
  });

  it('are not told if they do not add up', () => {
    expect(split({ promptTokens: 1_000n, completionTokens: 100n, cost: 0.5 })).toBeNull();
    expect(split({ promptTokens: 1_000n })).toBeNull();
  });
});
