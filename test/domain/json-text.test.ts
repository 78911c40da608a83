import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fault } from '../../src/domain/fault.ts';
import { parseJson, type Spelling, scanJson } from '../../src/domain/json-text.ts';

function parse(text: string, spelling: Spelling = 'literals'): unknown {
  const bytes = Buffer.from(text);
  return parseJson(bytes, scanJson(bytes), spelling);
}

/** What the platform makes of it when it is asked for every value. */
function parseByReviver(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown, { source }: { source?: string }) => {
    if (typeof value === 'string') return value.toWellFormed();
    if (typeof value !== 'number' || source === undefined || String(value) === source) return value;
    return JSON.rawJSON(source);
  });
}

function outcomeOf(read: () => unknown): string {
  try {
    return JSON.stringify(read());
  } catch (error) {
    return error instanceof SyntaxError || error instanceof Fault ? 'refused' : String(error);
  }
}

describe('parsing a document whose numbers keep their spelling', () => {
  it.each([
    '1.0',
    '-0',
    '0',
    '-1',
    '1e3',
    '1E400',
    '9007199254740993',
    '0.1',
    '123456789012345',
    '1234567890123456',
    '01',
    '-',
    '-01',
    '1.',
    '.5',
    '+1',
    '1e',
    '1e+',
    '0x1',
    'NaN',
    '-Infinity',
    '00',
    '12 3',
    'tru',
    'nul',
    'truex',
    '"\\ud800"',
    '"\\ud83d\\ude00"',
    '"\\u0000"',
    '"a\nb"',
    '"a\\x"',
    '"abc',
    '"\\',
    '',
    ' ',
    '[1.0,]',
    '[,1.0]',
    '[1.0',
    '[1.0 1]',
    '{"a":1.0,}',
    '{"a" 1.0}',
    '{a:1.0}',
    '{"a":1.0,"b":2,"a":3.0}',
    '{"2":1.0,"1":2,"__proto__":{"a":1.0},"constructor":1,"\\ud800":2}',
    ' \t\r\n{ "a" : [ 1.0 , { } , [ ] , true , false , null ] } ',
    '\u00a01.0',
    '1.0\u2028',
  ])('takes or refuses %j as the platform does', (text) => {
    expect(outcomeOf(() => parse(text))).toBe(outcomeOf(() => parseByReviver(text)));
  });

  it('makes of any document, whole or damaged, what the platform does', () => {
    const number = fc.oneof(fc.double(), fc.integer(), fc.constantFrom('1.0', '-0', '1e5', '12345678901234567890'));
    const damage = fc.tuple(fc.nat(), fc.constantFrom('', '0', '.', '"', ',', '\\', '{', ']', 'e', ' '));
    fc.assert(
      fc.property(fc.json(), fc.array(number), fc.option(damage), (json, numbers, hurt) => {
        const text = `{"free":${json},"numbers":[${numbers.map((each) => (each === 0 ? '0' : String(each))).join(',')}]}`;
        const at = hurt === null ? 0 : hurt[0] % text.length;
        const sent = hurt === null ? text : text.slice(0, at) + hurt[1] + text.slice(at + 1);
        expect(outcomeOf(() => parse(sent))).toBe(outcomeOf(() => parseByReviver(sent)));
      }),
      { numRuns: 2_000 },
    );
  });

  it('refuses a number beyond any double, unless its item is judged alone', () => {
    expect(outcomeOf(() => parse('[1e999]', 'tokens'))).toBe('refused');
    expect(outcomeOf(() => parse('[1e999]', 'values'))).toBe('refused');
    expect(outcomeOf(() => parse('[1e999]', 'literals'))).toBe('[1e999]');
  });

  it('takes not much longer for many small values than the platform takes for their sum', () => {
    const text = `[${'0,'.repeat(500_000)}1.0]`;
    const measure = (read: () => unknown) => {
      const startedMs = performance.now();
      read();
      return performance.now() - startedMs;
    };
    const best = (read: () => unknown) => Math.min(...Array.from({ length: 5 }, () => measure(read)));
    expect(best(() => parse(text)) / best(() => JSON.parse(text))).toBeLessThan(20);
  });
});
