import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutToCharacters, hasMoreCharactersThan, truncateToBytes } from '../../src/domain/text-limits.ts';

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
