import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drawSlug } from '../../src/domain/slug.ts';

describe('drawSlug', () => {
  it.each([
    ['My Évaluator #1!', /^my-evaluator-1-[0-9a-z]{5}$/],
    ['日本語', /^evaluator-[0-9a-z]{5}$/],
    ['a'.repeat(60), /^a{50}-[0-9a-z]{5}$/],
    ['', /^evaluator-[0-9a-z]{5}$/],
    ['--- ---', /^evaluator-[0-9a-z]{5}$/],
    ['ﬁne Ⅷ ℌ', /^fine-viii-h-[0-9a-z]{5}$/],
    ['İstanbul', /^istanbul-[0-9a-z]{5}$/],
    ['cafe\u0301', /^cafe-[0-9a-z]{5}$/],
    ['snake_case.name', /^snake-case-name-[0-9a-z]{5}$/],
  ])('names %j readably', (name, slug) => {
    expect(drawSlug(name, 'evaluator', randomBytes)).toMatch(slug);
  });

  it('leaves no dash behind where the cut falls on one', () => {
    expect(drawSlug(`${'a'.repeat(49)} bc`, 'evaluator', randomBytes)).toMatch(/^a{49}-[0-9a-z]{5}$/);
    expect(drawSlug(`!${'a'.repeat(50)}b`, 'evaluator', randomBytes)).toMatch(/^a{50}-[0-9a-z]{5}$/);
  });

  it('gives every name a slug that is safe in an address', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (name) => {
        expect(drawSlug(name, 'monitor', randomBytes)).toMatch(/^[0-9a-z]+(-[0-9a-z]+)*-[0-9a-z]{5}$/);
      }),
    );
  });

  it('gives every suffix character the same share of the usable byte values', () => {
    const shares = new Map<string, number>();
    let rejected = 0;
    for (let byte = 0; byte < 256; byte += 1) {
      try {
        const drawn = drawSlug('x', 'evaluator', (count) => Buffer.alloc(count, byte)).slice(-1);
        shares.set(drawn, (shares.get(drawn) ?? 0) + 1);
      } catch {
        rejected += 1;
      }
    }
    expect(shares.size).toBe(36);
    expect(new Set(shares.values())).toEqual(new Set([7]));
    expect(rejected).toBe(4);
  });

  it('draws more bytes for those it had to drop', () => {
    const batches = [Buffer.from([252, 0, 255, 35, 1]), Buffer.from([36, 251])];
    expect(drawSlug('x', 'evaluator', () => batches.shift() ?? Buffer.alloc(0))).toBe('x-0z10z');
  });

  it('fails instead of hanging on a source without usable bytes', () => {
    expect(() => drawSlug('x', 'evaluator', (count) => Buffer.alloc(count, 0xff))).toThrow('random source');
    expect(() => drawSlug('x', 'evaluator', () => Buffer.alloc(0))).toThrow('random source');
  });
});
