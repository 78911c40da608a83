import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cutToCharacters,
  hasMoreCharactersThan,
  surelyFitsEachString,
  truncateToBytes,
} from '../../src/domain/text-limits.ts';

const anyText = fc.string({ unit: 'binary' });

describe('limits in characters', () => {
  it('count code points, never half of one', () => {
    fc.assert(
      fc.property(anyText, fc.nat(20), (text, max) => {
        const characters = [...text];
        expect(hasMoreCharactersThan(text, max)).toBe(characters.length > max);
        expect(cutToCharacters(text, max)).toBe(characters.slice(0, max).join(''));
      }),
    );
  });
});

describe('a string beyond its bytes', () => {
  it('keeps its beginning up to a character boundary and names its length', () => {
    expect(truncateToBytes('abcdef', 3)).toBe('abc…[truncated: 6 bytes]');
    expect(truncateToBytes('aé🙂', 3)).toBe('aé…[truncated: 7 bytes]');
    expect(truncateToBytes('aé🙂', 6)).toBe('aé…[truncated: 7 bytes]');
    expect(truncateToBytes('aé🙂', 7)).toBe('aé🙂');
    expect(truncateToBytes('🙂', 3)).toBe('…[truncated: 4 bytes]');
  });

  it('never keeps more than the limit, nor drops a character that fits', () => {
    fc.assert(
      fc.property(anyText, fc.nat(30), (text, bytesMax) => {
        const wellFormed = text.toWellFormed();
        const kept = truncateToBytes(wellFormed, bytesMax);
        if (Buffer.byteLength(wellFormed) <= bytesMax) expect(kept).toBe(wellFormed);
        else {
          const start = kept.slice(0, kept.lastIndexOf('…[truncated: '));
          expect(wellFormed.startsWith(start)).toBe(true);
          expect(Buffer.byteLength(start)).toBeLessThanOrEqual(bytesMax);
          expect(Buffer.byteLength(start)).toBeGreaterThan(bytesMax - 4);
        }
      }),
    );
  });
});

describe('a JSON text whose strings surely fit', () => {
  const longest = (value: unknown): number => {
    if (typeof value === 'string') return Buffer.byteLength(value);
    if (typeof value !== 'object' || value === null) return 0;
    const names = Array.isArray(value) ? [] : Object.keys(value);
    return Math.max(0, ...names.map(longest), ...Object.values(value).map(longest));
  };

  it('has no string and no name beyond the bytes', () => {
    const anyJson = fc.json({ stringUnit: 'grapheme' });
    fc.assert(
      fc.property(fc.array(anyJson), fc.nat(60), (texts, bytesMax) => {
        const json = `[${texts.join(',')}]`;
        if (surelyFitsEachString(json, bytesMax)) expect(longest(JSON.parse(json))).toBeLessThanOrEqual(bytesMax);
      }),
      { numRuns: 2_000 },
    );
    for (let units = 1; units <= 200; units += 1) {
      for (const before of [0, 1, 7, 19, 20, 21, 40]) {
        const json = JSON.stringify(['a'.repeat(before), 'x'.repeat(units), 'b']);
        if (surelyFitsEachString(json, 60)) expect(units).toBeLessThanOrEqual(60);
      }
    }
  });

  it('is found among many short strings and names', () => {
    const words = JSON.stringify(Array.from({ length: 200_000 }, (_, index) => ({ n: `w${index}` })));
    expect(surelyFitsEachString(words, 4_096)).toBe(true);
    expect(surelyFitsEachString(`[${'1,'.repeat(2_000_000)}1]`, 4_096)).toBe(true);
    expect(surelyFitsEachString(`["a",${'1,'.repeat(2_000_000)}1]`, 4_096)).toBe(false);
  });
});
