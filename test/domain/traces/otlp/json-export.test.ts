import { describe, expect, it } from 'vitest';
import { runWithoutPauses } from '../../../../src/domain/steps.ts';
import { collectBatch } from '../../../../src/domain/traces/collector/collector.ts';
import { reasonsOf } from '../../../../src/domain/traces/collector/collector-report.ts';
import { toBatchDraft } from '../../../../src/domain/traces/otlp/batch.ts';
import { readJsonExport } from '../../../../src/domain/traces/otlp/json-export.ts';
import type { OtlpSpan } from '../../../../src/domain/traces/otlp/span.ts';
import type { LosslessJson } from '../../../../src/json/lossless-json.ts';
import { LIMITS, NO_LOSSES, NOW_MS, PROJECT, pricing } from '../collector/collecting.ts';

const SPAN = {
  traceId: '0123456789abcdef0123456789abcdef',
  spanId: '0123456789abcdef',
  startTimeUnixNano: '1790000000000000000',
};
const GOOD = { ...SPAN, spanId: 'fedcba9876543210' };

function read(body: LosslessJson) {
  return runWithoutPauses(readJsonExport(body, { bytes: 1000, depth: 10 }, LIMITS.spansMax));
}

type Around = { readonly [name: string]: LosslessJson };

function requestOf(spans: LosslessJson, around: Around = {}): LosslessJson {
  return { resourceSpans: [{ resource: {}, scopeSpans: [{ spans }], ...around }] };
}

/** The ids of the spans that are stored, and what their sender is told. */
function collectSpans(spans: LosslessJson, around?: Around) {
  const at = { project: PROJECT, nowMs: NOW_MS, expiredBeforeMs: null };
  const batch = runWithoutPauses(toBatchDraft(read(requestOf(spans, around))));
  const deps = { limits: LIMITS, prices: pricing, losses: NO_LOSSES };
  const traces = runWithoutPauses(collectBatch(batch, at, deps)).map(({ collected }) => collected);
  return {
    stored: traces.flatMap(({ append }) => append.spans.map(({ spanId }) => spanId)),
    reasons: traces.flatMap(reasonsOf),
  };
}

describe('a value of a wrong type in a span', () => {
  it.each([
    ['traceId', 5, 'must be a string'],
    ['spanId', {}, 'must be a string'],
    ['parentSpanId', [], 'must be a string'],
    ['startTimeUnixNano', 'soon', 'must be an integer'],
    ['startTimeUnixNano', true, 'must be an integer'],
    ['endTimeUnixNano', -5, 'must be positive'],
    ['endTimeUnixNano', { low: 1 }, 'must be an integer'],
  ])('refuses that span alone where it is its %s: %j', (name, value, reason) => {
    const { refused, traces } = runWithoutPauses(toBatchDraft(read(requestOf([{ ...SPAN, [name]: value }, GOOD]))));
    expect(refused).toEqual([{ index: 0, reason: `.${name}: ${reason}` }]);
    expect(traces).toMatchObject([{ indexes: { spans: [1] } }]);
  });

  const attribute = (value: LosslessJson, key: LosslessJson = 'k') => ({ attributes: [{ key, value }] });
  const notInteger = 'intValue must be an integer';

  it.each([
    [{ name: 5 }, 'name', 'must be a string'],
    [{ kind: [] }, 'kind', 'must be a number or a name'],
    [{ status: 'ok' }, 'status', 'must be an object'],
    [{ status: { code: {} } }, 'status.code', 'must be a number or a name'],
    [{ status: { message: 5 } }, 'status.message', 'must be a string'],
    [{ attributes: {} }, 'attributes', 'must be an array of objects'],
    [{ attributes: [null] }, 'attributes', 'must be an array of objects'],
    [attribute({}, 5), 'attributes', 'key must be a string'],
    [attribute('bare'), 'attributes.k', 'value must be an object'],
    [attribute({ stringValue: 5 }), 'attributes.k', 'stringValue must be a string'],
    [attribute({ intValue: 'five' }), 'attributes.k', notInteger],
    [attribute({ doubleValue: '' }), 'attributes.k', 'doubleValue must be a number'],
    [attribute({ boolValue: 'yes' }), 'attributes.k', 'boolValue must be a boolean'],
    [attribute({ arrayValue: [] }), 'attributes.k', 'arrayValue must be an object'],
    [attribute({ arrayValue: { values: 5 } }), 'attributes.k', 'arrayValue.values must be an array'],
    [attribute({ arrayValue: { values: [{ intValue: 1 }, { intValue: '' }] } }), 'attributes.k', notInteger],
    [attribute({ kvlistValue: { values: [{ key: 'a', value: { intValue: {} } }] } }), 'attributes.k', notInteger],
    [{ events: 5 }, 'events', 'must be an array of objects'],
    [{ events: [{ name: 5 }] }, 'events.name', 'must be a string'],
    [{ events: [{ timeUnixNano: 'soon' }] }, 'events.timeUnixNano', 'must be an integer'],
    [{ events: [attribute({ intValue: '' })] }, 'events.attributes.k', notInteger],
    [{ links: [{ traceId: 5 }] }, 'links.traceId', 'must be a string'],
  ])('costs its field alone, which is named: %j', (fields: object, path, reason) => {
    expect(collectSpans([{ ...SPAN, ...fields }, GOOD])).toEqual({
      stored: [SPAN.spanId, GOOD.spanId],
      reasons: [`spans[0].${path}: ${reason}`],
    });
  });

  it('leaves the other attributes and items of its lists', () => {
    const [span] = read(
      requestOf([
        {
          ...SPAN,
          attributes: [{ key: 'a', value: { intValue: 'x' } }, null, { key: 'b', value: { intValue: 1 } }],
          events: [5, { name: 'e' }],
        },
      ]),
    ).spans;
    expect(span).toMatchObject({ attributes: new Map([['b', 1]]), events: [{ name: 'e' }] });
  });

  it('is named at most twenty times for a span', () => {
    const attributes = Array.from({ length: 5000 }, (_, index) => ({ key: `k${index}`, value: { intValue: 'x' } }));
    const [span] = read(requestOf([{ ...SPAN, attributes }])).spans as OtlpSpan[];
    expect(span?.dropped).toHaveLength(20);
  });

  it.each([
    [{ resource: 5 }, 'resource: must be an object'],
    [{ resource: attribute({ intValue: 'x' }) }, `resource.attributes.k: ${notInteger}`],
    [{ scopeSpans: [{ scope: { name: 5 }, spans: [SPAN, GOOD] }] }, 'scope.name: must be a string'],
  ])('is named once where spans share it: %j', (around: Around, note) => {
    expect(collectSpans([SPAN, GOOD], around).reasons).toEqual([`spans[0].${note}`]);
  });
});

describe('a request that is none', () => {
  it.each([
    [[], 'the request must be an object'],
    [{ resourceSpans: {} }, 'resourceSpans must be an array'],
    [{ resourceSpans: [5] }, 'an item of resourceSpans must be an object'],
    [{ resourceSpans: [{ scopeSpans: 'x' }] }, 'scopeSpans must be an array'],
    [requestOf(5), 'spans must be an array'],
    [requestOf([null]), 'an item of spans must be an object'],
  ] as const)('is refused: %j', (body: LosslessJson, reason) => {
    expect(() => read(body)).toThrow(
      expect.objectContaining({ code: 'malformed_request', message: expect.stringContaining(reason) }),
    );
  });
});
