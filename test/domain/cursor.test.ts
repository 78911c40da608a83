import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCursorCodec } from '../../src/domain/cursor.ts';
import { deriveRootKeys } from '../../src/domain/secrets.ts';
import { runsOf } from '../support/scenario.ts';

const rootSecret = '0123456789abcdef0123456789abcdef';
const codec = createCursorCodec(deriveRootKeys(rootSecret).cursorKey);
const binding = ['organization_a', 'ListApiKeys', 'includeRevoked=false'];
const position = [1_735_689_600_000, '0123456789abcDEF'];
const urlSafe = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'];

const anyPosition = fc.array(
  fc.oneof(fc.string({ unit: 'binary', maxLength: 20 }), fc.maxSafeInteger(), fc.double({ noNaN: true })),
  { maxLength: 5 },
);
const anyBinding = fc.array(fc.string({ unit: 'binary', maxLength: 20 }), { maxLength: 5 });
const utf16 = fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units));

describe('a cursor', () => {
  it('gives back its position under its own binding, also after a restart', () => {
    const restarted = createCursorCodec(deriveRootKeys(rootSecret).cursorKey);
    expect(restarted.open(binding, codec.seal(binding, position))).toEqual(position);
    fc.assert(
      fc.property(
        anyBinding,
        anyPosition.filter((parts) => parts.every((part) => typeof part === 'string' || Number.isFinite(part))),
        (strings, parts) => {
          // JSON.stringify(-0) is 0.
          const expected = parts.map((part) => (part === 0 ? 0 : part));
          expect(codec.open(strings, codec.seal(strings, parts))).toEqual(expected);
        },
      ),
    );
  });

  it('is base64url text of at most 2048 characters', () => {
    expect(codec.seal(binding, position)).toMatch(/^[A-Za-z0-9_-]{1,2048}$/);
  });

  it('keeps strings with lone surrogates and line breaks', () => {
    const odd = ['\ud800', '\n', '\u2028', '"\\'];
    expect(codec.open(odd, codec.seal(odd, odd))).toEqual(odd);
    expect(codec.open(['\ufffd', '\n', '\u2028', '"\\'], codec.seal(odd, odd))).toBeNull();
  });

  it('is refused when any one character is changed, dropped or added', () => {
    const cursor = codec.seal(binding, position);
    for (let at = 0; at < cursor.length; at += 1) {
      for (const other of [...urlSafe, '+', '/', '=', ' ', '\n', '\0', 'é', '\ud800']) {
        const changed = cursor.slice(0, at) + other + cursor.slice(at + 1);
        if (changed !== cursor) expect(codec.open(binding, changed)).toBeNull();
      }
      expect(codec.open(binding, cursor.slice(0, at) + cursor.slice(at + 1))).toBeNull();
    }
    for (const added of ['A', '=', '==', ' ', '\n', '.']) {
      expect(codec.open(binding, cursor + added)).toBeNull();
      expect(codec.open(binding, added + cursor)).toBeNull();
    }
  });

  it('changed by one character is refused for any binding and position', () => {
    fc.assert(
      fc.property(
        anyBinding,
        fc.array(fc.string()),
        fc.nat(),
        fc.constantFrom(...urlSafe),
        (strings, parts, at, other) => {
          const cursor = codec.seal(strings, parts);
          const index = at % cursor.length;
          const changed = cursor.slice(0, index) + other + cursor.slice(index + 1);
          expect(codec.open(strings, changed)).toEqual(changed === cursor ? parts : null);
        },
      ),
    );
  });

  it('has one valid spelling: the same bytes written otherwise are refused', () => {
    for (const extra of ['', 'x', 'xx']) {
      const cursor = codec.seal(binding, [`${extra}>>>???`]);
      const standard = Buffer.from(cursor, 'base64url').toString('base64');
      expect(codec.open(binding, cursor)).not.toBeNull();
      if (standard !== cursor) expect(codec.open(binding, standard)).toBeNull();
      expect(codec.open(binding, `${cursor}=`)).toBeNull();
      // The unused low bits of the last character decode to nothing, so they are a second spelling.
      const unused = { 0: 1, 2: 16, 3: 4 }[cursor.length % 4] ?? 1;
      const last = urlSafe.indexOf(cursor.slice(-1));
      for (let bits = 1; bits < unused; bits += 1) {
        expect(codec.open(binding, cursor.slice(0, -1) + urlSafe[last + bits])).toBeNull();
      }
    }
  });

  it('does not open under another organization, route or filter', () => {
    const cursor = codec.seal(binding, position);
    for (const other of [
      ['organization_b', 'ListApiKeys', 'includeRevoked=false'],
      ['organization_a', 'ListMembers', 'includeRevoked=false'],
      ['organization_a', 'ListApiKeys', 'includeRevoked=true'],
      ['organization_a', 'ListApiKeys'],
      [...binding, ''],
      ['', ...binding],
      [binding.join('')],
      [binding.join(',')],
      ['organization_aL', 'istApiKeys', 'includeRevoked=false'],
      ['ListApiKeys', 'organization_a', 'includeRevoked=false'],
      [],
    ]) {
      expect(codec.open(other, cursor)).toBeNull();
    }
  });

  it('opens exactly under the binding it was sealed with', () => {
    const strings = fc.array(fc.oneof(utf16, fc.constantFrom('', ',', '"', '\n', '\0', 'a', '","')), { maxLength: 4 });
    fc.assert(
      fc.property(strings, strings, (sealedFor, openedFor) => {
        const same = JSON.stringify(sealedFor) === JSON.stringify(openedFor);
        expect(codec.open(openedFor, codec.seal(sealedFor, position)) !== null).toBe(same);
      }),
    );
  });

  it('of another installation is refused', () => {
    const foreign = createCursorCodec(deriveRootKeys(`${rootSecret}x`).cursorKey);
    expect(codec.open(binding, foreign.seal(binding, position))).toBeNull();
  });

  it('that is arbitrary text is refused without throwing', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), utf16, fc.base64String()), (text) => {
        expect(codec.open(binding, text)).toBeNull();
      }),
      { numRuns: runsOf(1_000) },
    );
    for (const text of ['', 'null', 'undefined', 'W10', 'A'.repeat(1024), 'A'.repeat(5_000_000)]) {
      expect(codec.open(binding, text)).toBeNull();
    }
  });

  it('is accepted up to 2048 characters and never sealed longer', () => {
    // 1536 bytes are 2048 characters: 16 of tag, 4 of JSON punctuation, the rest text.
    const longest = codec.seal(binding, ['x'.repeat(1516)]);
    expect(longest).toHaveLength(2048);
    expect(codec.open(binding, longest)).toEqual(['x'.repeat(1516)]);
    expect(() => codec.seal(binding, ['x'.repeat(1517)])).toThrow('length');
  });

  it('is never sealed around a number JSON cannot carry', () => {
    for (const number of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      expect(() => codec.seal(binding, [number])).toThrow('finite');
    }
  });
});
