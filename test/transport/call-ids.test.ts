import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createIdSource, traceparentOf } from '../../src/transport/call-ids.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

function idsFor(headers: { readonly [name: string]: string } = {}, tracing = true) {
  return createIdSource(randomBytes, tracing).next((name) => headers[name]);
}

describe('the ids of a call', () => {
  it('are fresh and never repeat when the caller sends none', () => {
    const source = createIdSource(randomBytes, true);
    const drawn = Array.from({ length: 5_000 }, () => source.next(() => undefined));
    for (const { requestId, traceId, spanId } of drawn) {
      expect(requestId).toMatch(/^req_[0-9A-Za-z]{24}$/);
      expect(traceId).toMatch(/^[0-9a-f]{32}$/);
      expect(spanId).toMatch(/^[0-9a-f]{16}$/);
    }
    for (const name of ['requestId', 'traceId', 'spanId'] as const) {
      expect(new Set(drawn.map((ids) => ids[name])).size).toBe(drawn.length);
    }
  });

  it('use every digit about equally often', () => {
    const source = createIdSource(randomBytes, false);
    const counts = new Map<string, number>();
    for (let call = 0; call < 10_000; call += 1) {
      for (const digit of source.next(() => undefined).requestId.slice(4))
        counts.set(digit, (counts.get(digit) ?? 0) + 1);
    }
    expect(counts.size).toBe(62);
    const expected = (10_000 * 24) / 62;
    for (const count of counts.values()) expect(Math.abs(count - expected)).toBeLessThan(expected * 0.15);
  });

  it.each(['a', 'A-1.b:c_d', 'x'.repeat(128)])('keep the request id %s', (requestId) => {
    expect(idsFor({ 'x-request-id': requestId }).requestId).toBe(requestId);
  });

  it.each(['', 'x'.repeat(129), 'a b', 'a\nb', 'é', 'a,b'])('replace the request id %j', (requestId) => {
    expect(idsFor({ 'x-request-id': requestId }).requestId).toMatch(/^req_/);
  });

  it.each([`00-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-00`, `cc-${TRACE}-${SPAN}-01-later`])(
    'continue %s with a span of their own',
    (traceparent) => {
      const ids = idsFor({ traceparent });
      expect(ids.traceId).toBe(TRACE);
      expect(ids.spanId).not.toBe(SPAN);
      expect(traceparentOf(ids)).toBe(`00-${TRACE}-${ids.spanId}-01`);
    },
  );

  it.each([
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE}-${SPAN}`,
    'nonsense',
  ])('start a trace of their own instead of %s', (traceparent) => {
    expect(idsFor({ traceparent }).traceId).not.toBe(TRACE);
    expect(idsFor({ traceparent }).traceId).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
  });

  it('name no trace at all when tracing is off', () => {
    const ids = idsFor({ traceparent: `00-${TRACE}-${SPAN}-01` }, false);
    expect(ids).toMatchObject({ traceId: '', spanId: '' });
    expect(traceparentOf(ids)).toBeNull();
  });

  it('are never all zero, for any random bytes', () => {
    let round = 0;
    const source = createIdSource((count) => Buffer.alloc(count, round++ < 2 ? 0 : 7), true);
    expect(source.next(() => undefined)).toMatchObject({ traceId: '07'.repeat(16), spanId: '07'.repeat(8) });
  });

  it('cost one read of the random source for hundreds of calls', () => {
    let reads = 0;
    const source = createIdSource((count) => {
      reads += 1;
      return randomBytes(count);
    }, true);
    for (let call = 0; call < 500; call += 1) source.next(() => undefined);
    expect(reads).toBeLessThanOrEqual(2);
  });
});
