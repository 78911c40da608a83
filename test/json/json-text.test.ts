import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fault } from '../../src/domain/fault.ts';
import { parseFreeJson } from '../../src/json/free-json.ts';
import { parseJson, type Spelling, scanJson } from '../../src/json/json-text.ts';
import { runsOf } from '../support/scenario.ts';

function parse(text: string, spelling: Spelling = 'literals'): unknown {
  const bytes = Buffer.from(text);
  return parseJson(bytes, scanJson(bytes), spelling);
}

/**
 * Parses with a reviver of JSON.parse, which gets the text of every number. The text must not have escaped names:
 * JSON.parse may confuse one with a name that it parsed before.
 */
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

describe('parsing a document with numbers as text', () => {
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
        fc.pre(!scanJson(Buffer.from(sent)).hasEscapedNames);
        expect(outcomeOf(() => parse(sent))).toBe(outcomeOf(() => parseByReviver(sent)));
      }),
      { numRuns: runsOf(2_000) },
    );
  });

  it('refuses a number beyond any double, unless items are validated separately', () => {
    expect(outcomeOf(() => parse('[1e999]', 'tokens'))).toBe('refused');
    expect(outcomeOf(() => parse('[1e999]', 'values'))).toBe('refused');
    expect(outcomeOf(() => parse('[1e999]', 'literals'))).toBe('[1e999]');
  });

  it('takes not much longer for many small values than the platform takes for their sum', () => {
    const text = `[${'0,'.repeat(500_000)}1.0]`;
    expect(costOf(() => parse(text)) / costOf(() => JSON.parse(text))).toBeLessThan(20);
  });
});

const RUNS = 7;

/** Milliseconds of processor time, the least of some runs: other work on the machine must not count. */
function costOf(run: () => unknown): number {
  const costs = Array.from({ length: RUNS }, () => {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...costs);
}

describe('names of members that are spelled with a backslash', () => {
  it.each(['values', 'tokens', 'literals', 'stored'] as const)('are never taken for one seen before (%s)', (way) => {
    for (const [index, letter] of ['"', 'n', 'r'].entries()) {
      // JSON.parse remembers this object and could read its last name instead of the one below.
      JSON.parse(`{"${way}${index}":[],"\\\\":0}`);
      const text = `{"${way}${index}":1,"\\${letter}":2}`;
      expect(JSON.stringify(way === 'stored' ? parseFreeJson(text) : parse(text, way))).toBe(text);
    }
  });

  it('are read as they are in a document that was found by chance', () => {
    JSON.parse('{"    ":"    ","       ":[],"   ":null," Y.Zv\\\\":1.5}');
    const text = '{"    ":"    ","       ":["",false,null],"   ":null," Y.Zv\\"":1.0337028425059978e+294}';
    expect(JSON.stringify(parse(text))).toBe(text);
    expect(JSON.stringify(parse(text, 'values'))).toBe(text);
  });
});

describe('integers that a double does not hold', () => {
  const number = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }).map(String),
    fc.constantFrom('-0', '9007199254740991', '9007199254740992', '-9007199254740993', '1e299', '-1e-299'),
    fc.constantFrom('12345678901234567890.5', '123456789012345678e3', '0.12345678901234567890', '9'.repeat(308)),
  );

  /** Integers keep their text; other numbers become doubles. */
  function textOfNumber(text: string): string {
    return /^-?[0-9]+$/.test(text) && text !== '-0' ? text : JSON.stringify(Number(text));
  }

  it('keep every digit at any position, and no other number changes', () => {
    const name = fc.constantFrom('a', '__proto__', '1', 'é', '😀', 'constructor', '12345678901234567890');
    fc.assert(
      fc.property(fc.array(fc.tuple(name, number, fc.boolean())), fc.boolean(), (items, hasMark) => {
        const write = (spell: (text: string) => string) =>
          `[${items.map(([key, text, inside]) => (inside ? `{"${key}":[${spell(text)},"${text}"]}` : spell(text))).join(',')}]`;
        const sent = (hasMark ? '\ufeff' : '') + write((text) => ` ${text}\n`);
        expect(JSON.stringify(parse(sent, 'values'))).toBe(write(textOfNumber));
        if (!hasMark) expect(JSON.stringify(parseFreeJson(sent))).toBe(write(textOfNumber));
      }),
      { numRuns: runsOf(500) },
    );
  });

  it('change nothing of what is not JSON', () => {
    const digits = '12345678901234567890';
    const broken = [
      '{D:1}',
      '[D D]',
      '[+D]',
      '[--D]',
      '[0D]',
      '[.D]',
      '[D.]',
      '[De]',
      '["a"D]',
      '[D"a"]',
      '[aD]',
      '[1-D]',
      'D,',
      '[D',
    ];
    for (const text of [
      ...broken.map((each) => each.replaceAll('D', digits)),
      '9'.repeat(400),
      `[-${'9'.repeat(400)}]`,
    ]) {
      expect(
        outcomeOf(() => parse(text, 'values')),
        text,
      ).toBe('refused');
    }
  });

  it('are 20,000 at most in one document', () => {
    const write = (count: number) =>
      `[${Array.from({ length: count }, (_, index) => 10n ** 19n + BigInt(index)).join(',')}]`;
    for (const spelling of ['values', 'tokens', 'literals'] as const) {
      expect(JSON.stringify(parse(write(20_000), spelling))).toBe(write(20_000));
      expect(() => parse(write(20_001), spelling)).toThrow(/more than 20000 numbers/);
    }
    const odd = `[${Array.from({ length: 20_001 }, (_, index) => `${index}.0`).join(',')}]`;
    expect(() => parse(odd, 'literals')).toThrow(/more than 20000 numbers/);
    expect(parse(odd, 'values')).toHaveLength(20_001);
    // Stored before the limit existed.
    expect(JSON.stringify(parseFreeJson(write(20_002)))).toBe(write(20_002));
  });
});

describe('a body of 10 MiB', () => {
  const vector = (row: number) => Array.from({ length: 1_536 }, (_, index) => Math.sin(row * 1_536 + index) / 7);
  const vectors = JSON.stringify(Array.from({ length: 300 }, (_, row) => vector(row)));
  const long = `[${Array.from({ length: 400_000 }, (_, index) => 10n ** 19n + BigInt(index)).join(',')}]`;

  it.each([
    ['of vectors', vectors],
    ['of vectors, and an integer of twenty digits', `[${vectors},12345678901234567890]`],
  ])('%s takes not much longer than the platform takes', (_, text) => {
    const bytes = Buffer.from(text);
    const cost = costOf(() => parseJson(bytes, scanJson(bytes), 'values'));
    expect(cost / costOf(() => JSON.parse(bytes.toString()))).toBeLessThan(8);
  });

  it.each([
    ['400,000 integers of twenty digits', long],
    ['five million open brackets', '['.repeat(5_000_000)],
    ['a million nested objects', '{"a":'.repeat(1_000_000)],
  ])('of %s is refused in less time than the platform takes to read as much', (_, text) => {
    const bytes = Buffer.from(text);
    const cost = costOf(() => outcomeOf(() => parseJson(bytes, scanJson(bytes), 'values')));
    expect(cost).toBeLessThan(costOf(() => JSON.parse(vectors)));
    expect(outcomeOf(() => parseJson(bytes, scanJson(bytes), 'values'))).toBe('refused');
  });
});
