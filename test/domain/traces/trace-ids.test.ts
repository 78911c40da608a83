import { describe, expect, it } from 'vitest';
import { isValidId, lookupForms, normaliseSpanId, normaliseTraceId } from '../../../src/domain/traces/trace-ids.ts';

describe('ids of traces and spans', () => {
  it('stores W3C ids in lower case and every other id as sent', () => {
    expect(normaliseTraceId('0AF7651916CD43DD8448EB211C80319C')).toBe('0af7651916cd43dd8448eb211c80319c');
    expect(normaliseTraceId('Trace-123')).toBe('Trace-123');
    expect(normaliseTraceId('ABCDEF')).toBe('ABCDEF');
    expect(normaliseSpanId('B7AD6B7169203331')).toBe('b7ad6b7169203331');
    expect(normaliseSpanId('B7AD6B716920333X')).toBe('B7AD6B716920333X');
  });

  it('accepts 1 to 200 characters, counted as code points', () => {
    expect(isValidId('x')).toBe(true);
    expect(isValidId('🙂'.repeat(200))).toBe(true);
    expect(isValidId('🙂'.repeat(201))).toBe(false);
    expect(isValidId('x'.repeat(201))).toBe(false);
    expect(isValidId('')).toBe(false);
  });

  it.each(['a\u0000b', 'a\nb', '\u007f', 'x\u0085'])('refuses the control character in %j', (id) => {
    expect(isValidId(id)).toBe(false);
  });
});

describe('a lookup', () => {
  it('finds an id whose leading zeros a client dropped', () => {
    expect(lookupForms('ABC')).toEqual({ exact: 'ABC', padded: `${'0'.repeat(29)}abc`, prefix: null });
  });

  it('takes 8 to 31 hex digits as a prefix too', () => {
    expect(lookupForms('0AF76519').prefix).toBe('0af76519');
    expect(lookupForms('0af7651').prefix).toBeNull();
    expect(lookupForms('a'.repeat(31)).prefix).toBe('a'.repeat(31));
  });

  it.each(['', 'trace-123', '0af7651916cd43dd8448eb211c80319c', 'g'.repeat(8), 'a'.repeat(33)])(
    'takes %j only as it is',
    (id) => {
      expect(lookupForms(id)).toEqual({ exact: id, padded: null, prefix: null });
    },
  );
});
