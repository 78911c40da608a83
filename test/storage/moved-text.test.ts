import { expect, it } from 'vitest';
import { packTyped, unpackTyped } from '../../src/storage/rows/codes.ts';
import { MOVED_MIN_BYTES, placeOf, referenceTo, startOfStored } from '../../src/storage/rows/moved-text.ts';

const STARTS = [
  '{"type":"text","value":"😀😀',
  '{"type":"chat_messages","value":[{"role":"user"',
  '[{"a":1},',
  '"text"',
];

it('a reference has the place and the beginning of its text, whatever that is, and is shorter than any that moves', () => {
  for (const start of STARTS) {
    // Cuts a pair of surrogates for one of the lengths.
    for (const more of ['', 'x']) {
      const text = packTyped(`${start}${more}${'😀'.repeat(MOVED_MIN_BYTES)}"}`) ?? '';
      const reference = referenceTo('mfk3l2a9-0123456789abcdef 12345', text);
      expect(placeOf(reference)).toBe('mfk3l2a9-0123456789abcdef 12345');
      expect(Buffer.byteLength(reference)).toBeLessThan(MOVED_MIN_BYTES);
      const beginning = startOfStored(reference.slice(0, 128));
      expect(unpackTyped(beginning)?.slice(0, 24)).toBe(unpackTyped(text)?.slice(0, 24));
    }
  }
});

it('no stored text is taken for a reference', () => {
  const texts = ['\u0006', '{"type":"text","value":"\\u0006 1 2"}', '{"type":"\u0006","value":1}', '\u0006 3 a 1'];
  for (const text of texts) expect(placeOf(packTyped(JSON.stringify(text)) ?? '')).toBeNull();
});
