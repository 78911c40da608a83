import { expect, it } from 'vitest';
import { runWithoutPauses, type Steps } from '../../src/domain/steps.ts';
import { type LosslessParsed, parseLossless, parseLosslessInSteps } from '../../src/json/bounded-json.ts';
import { stringifyLossless } from '../../src/json/lossless-json.ts';

const MANY = 100_000;
const SHAPE_MAX = { depth: 10, members: 1_000 };

const textOf = (parsed: LosslessParsed) => (parsed.kind === 'value' ? stringifyLossless(parsed.value) : parsed.kind);

function countSteps(steps: Steps<unknown>): number {
  let count = 0;
  while (steps.next().done !== true) count += 1;
  return count;
}

it.each<readonly [what: string, text: string]>([
  ['a number that keeps its spelling among others', `{"a":[${'1,'.repeat(MANY)}1.0]}`],
  ['numbers that keep their spelling', `{"a":[${'1.0,-0,1e5,'.repeat(MANY)}12345678901234567890]}`],
  ['escaped texts and unpaired surrogates', `[${'"\\n\\u00e9\\ud83d\\ude00\\ud800",'.repeat(MANY / 10)}""]`],
  ['objects in lists, one of them without members', `[${'{"__proto__":[1.50],"b":{}},'.repeat(MANY / 10)}{}]`],
])('large JSON with %s is read in several steps as at once', (_, text) => {
  const atOnce = parseLossless(text, SHAPE_MAX);
  expect(atOnce.kind).toBe('value');
  expect(textOf(runWithoutPauses(parseLosslessInSteps(text, SHAPE_MAX)))).toBe(textOf(atOnce));
  expect(countSteps(parseLosslessInSteps(text, SHAPE_MAX))).toBeGreaterThan(2);
});

const SPACE = ' '.repeat(2 * MANY);

it.each<readonly [kind: LosslessParsed['kind'], text: string]>([
  ['not_json', `${SPACE}[1,]`],
  ['not_json', `[${'1,'.repeat(MANY)}1] 2`],
  ['not_json', `\ufeff[1]${SPACE}`],
  ['too_deep', `${SPACE}${'['.repeat(11)}${']'.repeat(11)}`],
  ['too_wide', `{${Array.from({ length: 1_001 }, (_, index) => `"${index}":1`).join(',')}}${SPACE}`],
])('large JSON is refused in steps as at once: %s', (kind, text) => {
  expect(parseLossless(text, SHAPE_MAX)).toEqual({ kind });
  expect(runWithoutPauses(parseLosslessInSteps(text, SHAPE_MAX))).toEqual({ kind });
});
