import { expect, it } from 'vitest';
import { runWithoutPauses } from '../../src/domain/steps.ts';
import { parseInChunks } from '../../src/json/json-chunks.ts';
import { parseJson, parseLargeJson, type Spelling, scanJson } from '../../src/json/json-text.ts';
import { drawSeed, seeded } from '../support/scenario.ts';

const ROUNDS = 3_000;
const SPELLINGS: readonly Spelling[] = ['values', 'tokens', 'literals'];
const SCALARS = ['1', '-0', '1.50', '12345678901234567890', 'true', 'null', '""', '"a\\"],{}"', '"\\u0000é"', '"[,"'];
const KEYS = ['"a"', '"b"', '"__proto__"', '"\\n:"', '"0"', '"constructor"'];
const SPACES = ['', '', '', ' ', '\n\t'];
/** Spaces that JSON does not allow. */
const NO_SPACES = [...'\u00a0\ufeff\u2028\u2029\v\f\u1680\u2003\u202f\u205f\u3000\u0085'];
/**
 * No backslash: JSON.parse of V8 13 takes a name with a backslash, of an earlier object, for a later one that is written with
 * escapes: {"\\":1} and then {"\u0020":1}.
 */
const NOISE = [',', ':', '[', ']', '{', '}', '"', ' ', '1', '\u0001'];

function createTexts(random: () => number) {
  const pick = (from: readonly string[]) => from[Math.floor(random() * from.length)] ?? '';
  const space = () => pick(SPACES);
  const list = (count: number, item: () => string) => Array.from({ length: count }, item).join(',');
  function value(depth: number): string {
    const kind = depth === 0 ? 0 : random();
    if (kind < 0.3) return space() + pick(SCALARS) + space();
    const count = Math.floor(random() * 5);
    if (kind < 0.65) return `${space()}[${count === 0 ? space() : list(count, () => value(depth - 1))}]${space()}`;
    const member = () => `${space()}${pick(KEYS)}${space()}:${value(depth - 1)}`;
    return `${space()}{${count === 0 ? space() : list(count, member)}}${space()}`;
  }
  return {
    value,
    spoil(text: string): string {
      const at = Math.floor(random() * text.length);
      const kind = random();
      return (
        text.slice(0, at) +
        (kind < 0.4 ? pick(NOISE) : kind < 0.7 ? pick(NO_SPACES) : '') +
        text.slice(at + (random() < 0.5 ? 1 : 0))
      );
    },
  };
}

/** The result as text, with the order of members and number texts. */
function outcomeOf(parse: () => unknown): string {
  try {
    return JSON.stringify(parse());
  } catch (error) {
    return error instanceof SyntaxError ? 'no JSON' : String((error as { code?: string }).code ?? error);
  }
}

it('a document in pieces, however small, is what it is as a whole, and what is not JSON is none', () => {
  const seed = drawSeed();
  process.stdout.write(`${JSON.stringify({ test: 'json pieces', seed })}\n`);
  const random = seeded(seed);
  const texts = createTexts(random);
  let broken = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const whole = texts.value(4);
    const bytes = Buffer.from(round % 3 === 0 ? texts.spoil(whole) : whole);
    const chunkBytes = 1 + Math.floor(random() * 20);
    const parse = (piece: Buffer) => JSON.parse(piece.toString());
    const inPieces = outcomeOf(() => runWithoutPauses(parseInChunks(bytes, { wideObjects: [], parse, chunkBytes })));
    const expected = outcomeOf(() => JSON.parse(new TextDecoder().decode(bytes)));
    expect(inPieces, bytes.toString()).toBe(expected);
    broken += expected === 'no JSON' ? 1 : 0;
  }
  expect(broken).toBeGreaterThan(100);
});

it('a large body keeps spellings, limits and refusals of one that is parsed at once', () => {
  const wide = `{${Array.from({ length: 10_001 }, (_, index) => `"k${index}":${index}`).join(',')}}`;
  const item = '{"text":"a\\u0000 é","long":12345678901234567890,"float":1.0,"list":[1,2.50,{"a":[]}],"n":null}';
  const filler = Array.from({ length: 2_800 }, () => item).join(',');
  const bodies = [
    `{"a":[${filler}]}`,
    ` [${filler}, ${wide}, ${filler}] `,
    `{"a":{"b":[${filler}],"c":${wide}},"d":[${filler}]}`,
    `\ufeff{"a":[${filler}]}`,
    `{"a":[${filler}],"b":1e400}`,
    `{"a":[${filler},]}`,
    `{"a":[${filler}]} x`,
    `{"a":[${filler}]`,
    `{"a":${'['.repeat(130)}1${']'.repeat(130)},"b":[${filler}]}`,
    `[${Array.from({ length: 400_001 }, () => '[]').join(',')}]`,
    `[${Array.from({ length: 20_001 }, (_, index) => `1234567890123456${1_000_000 + index}`).join(',')}]`,
    `[${filler},\u00a0[${filler}]]`,
    `{"a":[${filler}],\ufeff"b":[${filler}]}`,
    wide + ' '.repeat(300_000),
    `"${'x'.repeat(300_000)}"`,
  ];
  for (const [index, body] of bodies.entries()) {
    const bytes = Buffer.from(body);
    for (const spelling of SPELLINGS) {
      const whole = outcomeOf(() => parseJson(bytes, scanJson(bytes), spelling));
      const inPieces = outcomeOf(() => runWithoutPauses(parseLargeJson(bytes, spelling)).value);
      expect(inPieces === whole, `${index} ${spelling}: ${inPieces.slice(0, 80)} ${whole.slice(0, 80)}`).toBe(true);
    }
    const steps = parseLargeJson(bytes, 'values');
    let pauses = 0;
    try {
      while (steps.next().done !== true) pauses += 1;
    } catch {}
    expect(pauses, `${index}`).toBeGreaterThan(0);
  }
});
