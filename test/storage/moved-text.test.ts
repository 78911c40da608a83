import { expect, it } from 'vitest';
import { packTyped } from '../../src/storage/rows/codes.ts';
import { placeOf } from '../../src/storage/rows/moved-text.ts';

it('no stored text is taken for a reference', () => {
  const texts = ['\u0006', '{"type":"text","value":"\\u0006 1 2"}', '{"type":"\u0006","value":1}', '\u0006 3 a 1'];
  for (const text of texts) expect(placeOf(packTyped(JSON.stringify(text)) ?? '')).toBeNull();
});
