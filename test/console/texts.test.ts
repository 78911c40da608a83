/** The console shows sent texts completely and unchanged, and names hidden characters. */

import { describe, expect, it } from 'vitest';
import { formatCost, nameControls } from '../../src/console/design/format.ts';
import { parseExactly, readScalar, writeExactly } from '../../src/console/trace/exact-json.ts';
import { findPaths } from '../../src/console/trace/json-search.ts';

describe('text', () => {
  it.each([
    ['an order from right to left', 'a\u202eb', 'a[U+202E]b'],
    ['a soft hyphen', 'pass\u00adword', 'pass[U+00AD]word'],
    ['a tag', 'a\u{e0041}b', 'a[U+E0041]b'],
    ['a variation selector', 'a\ufe00b\u{e0100}', 'a[U+FE00]b[U+E0100]'],
    ['a joiner', 'a\u200db', 'a[U+200D]b'],
    ['a separator of lines', 'a\u2028b\u2029', 'a[U+2028]b[U+2029]'],
    ['a filler', 'a\u3164b\u2800', 'a[U+3164]b[U+2800]'],
    ['half a character', 'a\ud800b', 'a[U+D800]b'],
    ['a control', '\u001b[31m\u0085', '[U+001B][31m[U+0085]'],
  ])('names %s', (_, text, shown) => {
    expect(nameControls(text)).toBe(shown);
  });

  it.each(['plain\ttext\r\n', 'é ñ 漢字 العربية', '👨‍👩‍👧 ⚠️ 1️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿'])('leaves %s as it is', (text) => {
    expect(nameControls(text)).toBe(text);
  });
});

describe('numbers', () => {
  it.each(['9007199254740993', '-12345678901234567890', '1.10', '1E400', '-0', '0.1234567890123456789', '5e-324'])(
    'of JSON are shown as they were sent: %s',
    (number) => {
      const value = parseExactly(`{"list":[${number}],"text":"${number}"}`) as { list: unknown[]; text: unknown };
      expect(readScalar(value.list[0])).toEqual({ text: number, isString: false });
      expect(readScalar(value.text)).toEqual({ text: number, isString: true });
      expect(writeExactly(value)).toBe(`{"list":[${number}],"text":"${number}"}`);
      expect(findPaths(value, number).hits).toEqual(new Set(['/list/0', '/text']));
    },
  );
});

describe('costs', () => {
  it.each([
    [0, '$0'],
    [1_234.565, '$1,234.57'],
    [1.005, '$1.01'],
    [0.003_65, '$0.0037'],
    [0.003_25, '$0.0033'],
    [0.000_65, '$0.0007'],
    [0.000_094_5, '$0.000095'],
    [0.000_002_35, '$0.0000024'],
    [0.000_000_075, '<$0.000001'],
    [-0.000_65, '-$0.0007'],
    [undefined, '–'],
  ])('of %s are rounded half up on their decimal digits', (usd, shown) => {
    expect(formatCost(usd)).toBe(shown);
  });
});
