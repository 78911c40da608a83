import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId, randomBase62, toBase62 } from '../../src/domain/ids.ts';
import { slugify } from '../../src/domain/slug.ts';

describe('randomBase62', () => {
  it('yields exactly the requested number of base-62 characters', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 300 }), (length) => {
        expect(randomBase62(length, randomBytes)).toMatch(new RegExp(`^[0-9A-Za-z]{${length}}$`));
      }),
    );
  });

  it('gives every character the same share of the usable byte values', () => {
    const shares = new Map<string, number>();
    const rejected: number[] = [];
    for (let byte = 0; byte < 256; byte += 1) {
      try {
        const drawn = randomBase62(1, () => Buffer.from([byte]));
        shares.set(drawn, (shares.get(drawn) ?? 0) + 1);
      } catch {
        rejected.push(byte);
      }
    }
    expect(shares.size).toBe(62);
    expect(new Set(shares.values())).toEqual(new Set([4]));
    expect(rejected).toEqual([248, 249, 250, 251, 252, 253, 254, 255]);
  });

  it('draws more bytes for those it had to drop', () => {
    const batches = [Buffer.from([255, 0, 248]), Buffer.from([247, 61])];
    expect(randomBase62(3, () => batches.shift() ?? Buffer.alloc(0))).toBe('0zz');
  });

  it('fails instead of hanging on a source without usable bytes', () => {
    expect(() => randomBase62(4, (bytes) => Buffer.alloc(bytes, 0xff))).toThrow('random source');
    expect(() => randomBase62(4, () => Buffer.alloc(0))).toThrow('random source');
  });
});

describe('newId', () => {
  it('is the prefix, an underscore and 21 base-62 characters', () => {
    expect(newId('project', randomBytes)).toMatch(/^project_[0-9A-Za-z]{21}$/);
    expect(newId('rolebinding', randomBytes)).toMatch(/^rolebinding_[0-9A-Za-z]{21}$/);
  });

  it('does not repeat itself', () => {
    const ids = new Set(Array.from({ length: 5_000 }, () => newId('user', randomBytes)));
    expect(ids.size).toBe(5_000);
  });
});

describe('slugify', () => {
  const id = 'project_0123456789ABCDEFabcXY';

  it.each([
    ['Default project', 'default-project-FabcXY'],
    ['A/B  test_2', 'a-b-test-2-FabcXY'],
    ['M\u00fcller', 'm-ller-FabcXY'],
    ['50\u212a', '50--FabcXY'],
    ['\u0130stanbul', '-stanbul-FabcXY'],
    ['\u6771\u4eac', '--FabcXY'],
  ])('writes %s as %s', (name, slug) => {
    expect(slugify(name, id)).toBe(slug);
  });

  it('uses the whole of an imposed id shorter than six characters', () => {
    expect(slugify('Acme', 'o-1')).toBe('acme-o-1');
  });

  it('holds only ASCII letters, digits and dashes for any name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        expect(slugify(name, id)).toMatch(/^[a-z0-9-]*-FabcXY$/);
      }),
    );
  });
});

describe('toBase62', () => {
  it('writes the most significant digit first and pads with zeros', () => {
    expect(toBase62(0, 6)).toBe('000000');
    expect(toBase62(61, 6)).toBe('00000z');
    expect(toBase62(62, 6)).toBe('000010');
    expect(toBase62(0xffffffff, 6)).toBe('4gfFC3');
  });
});
