import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fault, type JsonValue } from '../../src/domain/fault.ts';
import { parseJson, type Spelling, scanJson } from '../../src/json/json-text.ts';
import { findTooWide, TOO_WIDE } from '../../src/json/wide-json.ts';
import { spanOf } from '../domain/traces/collector/collecting.ts';
import { runsOf } from '../support/scenario.ts';

const MEMBERS_MAX = 10_000;
/** The longest time in which a body of the largest size is refused; more is a stall. */
const COST_MAX_MS = 50;
const BODY_MAX_BYTES = 10_485_760;

function wideText(members: number, value = '1'): string {
  const texts: string[] = [];
  for (let index = 0; index < members; index += 1) texts.push(`"k${index}":${value}`);
  return `{${texts.join(',')}}`;
}

const WIDE = wideText(MEMBERS_MAX + 1);

function parse(text: string, spelling: Spelling = 'values'): JsonValue {
  const bytes = Buffer.from(text);
  return parseJson(bytes, scanJson(bytes), spelling);
}

function refusalOf(text: string, spelling: Spelling = 'values'): Fault {
  try {
    parse(text, spelling);
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('The text was accepted.');
}

describe('a document with objects of more than 10,000 members', () => {
  it('is parsed without them, and all else is as it was', () => {
    const text = `{"ä":[1.50,${WIDE},"😀",{"in":${WIDE}}],"b":${WIDE},"c":{},"d":[{}],"e":9007199254740993}`;
    const value = parse(text) as { [name: string]: JsonValue };
    expect(value.b).toBe(TOO_WIDE);
    expect((value.ä as JsonValue[])[1]).toBe(TOO_WIDE);
    expect(findTooWide(value)).toBe('ä');
    expect(JSON.stringify(value)).toBe('{"ä":[1.5,{},"😀",{"in":{}}],"b":{},"c":{},"d":[{}],"e":9007199254740993}');
    expect(findTooWide(value.c)).toBeNull();
    expect(findTooWide(value.d)).toBeNull();
  });

  it('loses the outermost of those inside one another', () => {
    const outer = `${WIDE.slice(0, -1)},"inner":${WIDE},"more":[${WIDE}]}`;
    const { wideObjects } = scanJson(Buffer.from(`{"a":${outer}}`));
    expect(wideObjects).toEqual([{ start: 5, end: 5 + outer.length }]);
  });

  it('is refused in a body that is validated as a whole, or when the body itself is one', () => {
    expect(refusalOf(`{"config":{"deep":[${WIDE}]}}`, 'tokens')).toMatchObject({
      code: 'validation_error',
      meta: { fields: ['config'] },
    });
    for (const spelling of ['values', 'tokens', 'literals'] as const) {
      expect(refusalOf(WIDE, spelling)).toMatchObject({ code: 'validation_error', meta: { fields: ['(root)'] } });
    }
  });

  it('may hold objects of exactly so many, and wider arrays', () => {
    const text = `{"a":${wideText(MEMBERS_MAX)},"b":[${'1,'.repeat(3 * MEMBERS_MAX)}1]}`;
    expect(JSON.stringify(parse(text, 'tokens'))).toBe(text);
  });

  it('counts members by their text: equal names and colons inside of strings', () => {
    expect(scanJson(Buffer.from(`{"a":{${'"k":1,'.repeat(MEMBERS_MAX)}"k":1}}`)).hasWide).toBe(true);
    expect(scanJson(Buffer.from(`{"a":{"k":"${':'.repeat(2 * MEMBERS_MAX)}"}}`)).hasWide).toBe(false);
  });

  it.each([
    ['without an end', `{"a":${WIDE.slice(0, -1)}`],
    ['in a document without an end', `{"a":[${WIDE},{"b":${WIDE.slice(0, -1)},"c":[1`],
    ['that ends as an array', `{"a":${WIDE.slice(0, -1)}]}`],
    ['that is an array', `{"a":[${WIDE.slice(1, -1)}]}`],
    ['behind what is not JSON', `{"a":x,"b":${WIDE}}`],
    ['before what is not JSON', `{"b":${WIDE},"a":x}`],
    ['in a document that goes on', `{"b":${WIDE}}{}`],
  ])('is not JSON with one %s', (_, text) => {
    expect(refusalOf(text).code).toBe('malformed_request');
  });

  it('is recognized by its bytes: a wrong one anywhere is refused', () => {
    const bytes = Buffer.from(`{"a":${WIDE}}`);
    bytes[20] = 0xff;
    expect(() => parseJson(bytes, scanJson(bytes), 'values')).toThrow(/UTF-8/);
  });

  it('is read like any other, at any position', () => {
    const leaf = fc.oneof(fc.constant('WIDE'), fc.jsonValue({ maxDepth: 2 }));
    const { document } = fc.letrec((tie) => ({
      document: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.array(tie('document'), { maxLength: 3 }),
        fc.dictionary(fc.string(), tie('document'), { maxKeys: 3 }),
      ),
    }));
    fc.assert(
      fc.property(fc.array(document, { minLength: 1, maxLength: 3 }), (value) => {
        const text = JSON.stringify(value);
        const parsed = parse(text.replaceAll('"WIDE":', '"W":').replaceAll('"WIDE"', WIDE), 'values');
        const plain = text.replaceAll('"WIDE":', '"W":').replaceAll('"WIDE"', '{}');
        expect(JSON.stringify(parsed)).toBe(JSON.stringify(JSON.parse(plain)));
      }),
      { numRuns: runsOf(100) },
    );
  });
});

describe('a body of 10 MiB with as many members as fit', () => {
  const member = (index: number) => `"${index.toString(36).padStart(5, '0')}":1,`;
  const count = Math.floor((BODY_MAX_BYTES - 200) / member(0).length);
  const members = Array.from({ length: count }, (_, index) => member(index)).join('');
  const wide = `{${members}"z":1}`;
  const spanText = JSON.stringify(spanOf({ params: 'WIDE' })).replace('"WIDE"', wide);
  const documents = { 'in a span': `{"trace_id":"t","spans":[${spanText}]}`, 'at its top': wide };

  it.each(Object.entries(documents))('costs at most 50 ms of processor time (%s)', (_, text) => {
    const bytes = Buffer.from(text);
    expect(bytes.length).toBeLessThanOrEqual(BODY_MAX_BYTES);
    const costOf = (act: () => void) => {
      const before = process.cpuUsage();
      act();
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1_000;
    };
    const refuse = () => {
      try {
        parseJson(bytes, scanJson(bytes), 'values');
      } catch (error) {
        expect(error).toBeInstanceOf(Fault);
      }
    };
    // If the processor is slow now, parsing the whole text is slow too.
    const wholeMs = costOf(() => JSON.parse(text));
    // The least of some: other work on the machine must not count.
    const costMs = Math.min(...Array.from({ length: 7 }, () => costOf(refuse)));
    expect(costMs).toBeLessThan(Math.max(COST_MAX_MS, wholeMs / 3));
  });
});
