import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTokenizer } from '../../src/json/json-tokens.ts';

const UNITS_MAX = 1_000;

/** What the tokens of a text that arrives in slices are. */
function tokensOf(slices: readonly string[], unitsMax = UNITS_MAX): readonly unknown[] {
  const tokens: unknown[] = [];
  const tokenizer = createTokenizer(
    {
      open: (isArray) => tokens.push(isArray ? '[' : '{'),
      close: () => tokens.push('end'),
      name: (name) => tokens.push({ name }),
      string: (text) => tokens.push({ text }),
      scalar: (text) => tokens.push({ scalar: text }),
    },
    unitsMax,
  );
  for (const slice of slices) tokenizer.add(slice);
  return tokens;
}

/** The same of a value. */
function walk(value: unknown): readonly unknown[] {
  if (typeof value === 'string') return [{ text: value }];
  if (Array.isArray(value)) return ['[', ...value.flatMap(walk), 'end'];
  if (typeof value !== 'object' || value === null) return [{ scalar: JSON.stringify(value) }];
  return ['{', ...Object.entries(value).flatMap(([name, each]) => [{ name }, ...walk(each)]), 'end'];
}

function cut(text: string, points: readonly number[]): readonly string[] {
  const ends = [...points.map((point) => point % (text.length + 1)), text.length].sort((one, other) => one - other);
  return ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end));
}

describe('the tokens of JSON in slices', () => {
  it('are those of the value, wherever the text is cut', () => {
    const inside = fc.jsonValue({
      maxDepth: 4,
      stringUnit: fc.constantFrom('a', '"', '\\', '\n', 'é', '\u0001', '日'),
    });
    fc.assert(
      fc.property(inside, fc.array(fc.nat(), { maxLength: 12 }), fc.boolean(), (value, points, isSpaced) => {
        const text = JSON.stringify([value], null, isSpaced ? 2 : 0);
        expect(tokensOf(cut(text, points))).toEqual(walk([value]));
      }),
      { numRuns: 1_000 },
    );
  });

  it('cut one character at a time are the same', () => {
    const value = {
      'a"\\': ['\\', '"', '\\"', '\\\\', '\u0000😀'],
      number: [-1.5e-7, true, false, null, 12],
      none: {},
    };
    const text = JSON.stringify(value).replaceAll('😀', '\\ud83d\\ude00');
    expect(tokensOf(text.split(''))).toEqual(walk(value));
  });

  it('hold no more of a long string than wanted, and end it before an escape that is cut', () => {
    for (const unit of ['a', '\\n', '\\u00e9', '\\\\', 'ab\\u0041']) {
      const text = JSON.stringify([JSON.parse(`"${unit.repeat(2_000)}"`), 'next']);
      for (const unitsMax of [1, 2, 5, 100]) {
        const [, long, next] = tokensOf(cut(text, [3, 77, 1_500]), unitsMax) as { readonly text: string }[];
        const whole = (JSON.parse(text) as string[])[0] ?? '';
        expect(whole.startsWith(long?.text ?? '?')).toBe(true);
        expect(long?.text.length).toBeGreaterThanOrEqual(unitsMax);
        expect(long?.text.length).toBeLessThanOrEqual(unitsMax * 12);
        expect(next?.text).toBe('next'.slice(0, unitsMax * 6));
      }
    }
  });
});
