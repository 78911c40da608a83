import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { SpanSummary } from '../../src/domain/traces/trace.ts';
import { addTotals, summaryOf, totalsOf } from '../../src/domain/traces/trace-totals.ts';
import { packId, packRequestKey } from '../../src/storage/engine/sqlite/compact-ids.ts';
import { packCostSource, packTyped, unpackCostSource, unpackTyped } from '../../src/storage/rows/codes.ts';
import { bareSpan } from './conformance/samples.ts';

const hexLike = fc.stringMatching(/^(req_)?[0-9a-fA-F]{0,34}$/);
const anyId = fc.oneof(hexLike, fc.string({ unit: 'binary', minLength: 1 }));

it('no two ids share a stored form', () => {
  fc.assert(
    fc.property(anyId, anyId, (a, b) => {
      for (const pack of [packId, packRequestKey]) {
        expect(formOf(pack(a)) === formOf(pack(b))).toBe(a === b);
      }
    }),
  );
});

function formOf(stored: string | Buffer): string {
  return typeof stored === 'string' ? `text ${stored}` : `bytes ${stored.toString('hex')}`;
}

it('typed texts come back as they were', () => {
  const types = fc.oneof(fc.constantFrom('chat_messages', 'text', 'json', 'list', 'raw'), fc.string());
  fc.assert(
    fc.property(types, fc.jsonValue(), fc.jsonValue(), (type, value, more) => {
      for (const text of [{ type, value }, { value, type }, { type, value, more }, { type, more }, { type }].map(
        (each) => JSON.stringify(each),
      )) {
        expect(unpackTyped(packTyped(text))).toBe(text);
      }
    }),
  );
  expect(unpackTyped(packTyped(null))).toBeNull();
  expect(packTyped('{"type":"text","value":"hi"}')).toHaveLength(5);
});

it('sources of a cost come back as they were', () => {
  for (const source of ['registry', 'explicit', 'span_rates', 'override', 'result', 'unpriced', 'tomorrow', null]) {
    expect(unpackCostSource(packCostSource(source))).toBe(source);
  }
});

const count = fc.option(fc.integer({ min: 0, max: 10 ** 6 }));
const span = fc
  .record({
    startedAtMs: fc.integer({ min: 0, max: 1000 }),
    finishedAtMs: fc.integer({ min: 0, max: 1000 }),
    firstTokenAtMs: fc.option(fc.integer({ min: 0, max: 1000 })),
    promptTokens: count,
    completionTokens: count,
    reasoningTokens: count,
    cacheReadInputTokens: count,
    cacheCreationInputTokens: count,
    costNanoUsd: count,
    tokensEstimated: fc.boolean(),
    errorJson: fc.option(fc.constant('{}')),
  })
  .map((changes) => summaryOf(bareSpan(changes)));

/** Totals do not tell a first token before the start of its span: growth computes those anew. */
const beginsBeforeItsToken = ({ startedAtMs, firstTokenAtMs }: SpanSummary) =>
  firstTokenAtMs === null || firstTokenAtMs > startedAtMs;

it('totals of two sets of spans add up to the totals of both', () => {
  const spans = fc.array(span.filter(beginsBeforeItsToken));
  fc.assert(
    fc.property(spans, spans, (a, b) => {
      expect(addTotals(totalsOf(a), totalsOf(b))).toEqual(totalsOf([...a, ...b]));
    }),
  );
});
