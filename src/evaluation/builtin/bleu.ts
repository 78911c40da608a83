/** BLEU of one segment, with the definitions of sacrebleu: tokens of mteval-13a, exponential smoothing, effective order. */

import type { EvaluationOutcome, EvaluationRun } from '../../domain/evaluations/outcome.ts';
import { textOf } from './fields.ts';
import { processed } from './outcomes.ts';

export function scoreBleu(run: EvaluationRun): EvaluationOutcome {
  return processed({ score: bleuOf(textOf(run, 'output'), textOf(run, 'expected_output')) });
}

const ORDER_MAX = 4;

function bleuOf(output: string, reference: string): number {
  const [outputTokens, referenceTokens] = [tokenize(output), tokenize(reference)];
  const orders = matchesByOrder(outputTokens, referenceTokens);
  if (orders.length === 0 || orders.every(({ matched }) => matched === 0)) return 0;
  let unmatchedOrders = 0;
  let logs = 0;
  for (const { matched, total } of orders) {
    if (matched === 0) unmatchedOrders += 1;
    logs += Math.log(matched === 0 ? 1 / (2 ** unmatchedOrders * total) : matched / total);
  }
  return Math.exp(logs / orders.length) * brevityPenalty(outputTokens.length, referenceTokens.length);
}

function brevityPenalty(outputLength: number, referenceLength: number): number {
  return outputLength >= referenceLength ? 1 : Math.exp(1 - referenceLength / outputLength);
}

type Matches = { readonly matched: number; readonly total: number };

/**
 * How many n-grams of the output the reference has, each counted at most as often as there, for every order of which
 * the output has any.
 */
function matchesByOrder(output: readonly string[], reference: readonly string[]): readonly Matches[] {
  const found: Matches[] = [];
  let [outputGrams, referenceGrams]: [Grams, Grams] = [begin(output), begin(reference)];
  for (let order = 1; order <= ORDER_MAX && order <= output.length; order += 1) {
    const ids = new Map<string, number>();
    referenceGrams = extend(referenceGrams, reference, (key) => idOf(ids, key));
    outputGrams = extend(outputGrams, output, (key) => ids.get(key) ?? UNKNOWN);
    found.push({ matched: countShared(outputGrams, referenceGrams), total: outputGrams.length });
  }
  return found;
}

/** By where each n-gram begins, a number that equal ones share. A number takes less memory than the texts it stands for. */
type Grams = readonly number[];

/** Of n-grams that the reference does not have; no longer one that begins with them is there either. */
const UNKNOWN = -1;

/** N-grams of no tokens are all equal: one stands before every token, and one after the last. */
function begin(tokens: readonly string[]): Grams {
  return new Array<number>(tokens.length + 1).fill(0);
}

/** N-grams that are one token longer. */
function extend(shorter: Grams, tokens: readonly string[], idOfKey: (key: string) => number): Grams {
  const order = tokens.length - shorter.length + 2;
  return shorter.slice(0, -1).map((id, start) => {
    return id === UNKNOWN ? UNKNOWN : idOfKey(`${id} ${tokens[start + order - 1]}`);
  });
}

function idOf(ids: Map<string, number>, key: string): number {
  const known = ids.get(key);
  if (known !== undefined) return known;
  ids.set(key, ids.size);
  return ids.size - 1;
}

function countShared(output: Grams, reference: Grams): number {
  const left = new Map<number, number>();
  for (const id of reference) left.set(id, (left.get(id) ?? 0) + 1);
  let shared = 0;
  for (const id of output) {
    const count = left.get(id) ?? 0;
    if (count === 0) continue;
    left.set(id, count - 1);
    shared += 1;
  }
  return shared;
}

// Python's notion of whitespace, which is not that of JavaScript.
const WHITESPACE = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/u;

/** As mteval-v13a.pl splits international texts: punctuation stands alone, but for marks inside numbers. */
function tokenize(text: string): readonly string[] {
  const line = text
    .trimEnd()
    .replaceAll('<skipped>', '')
    .replaceAll('-\n', '')
    .replaceAll('\n', ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>');
  return ` ${line} `
    .replace(/([{-~[-` -&(-+:-@/])/gu, ' $1 ')
    .replace(/([^0-9])([.,])/gu, '$1 $2 ')
    .replace(/([.,])([^0-9])/gu, ' $1 $2')
    .replace(/([0-9])(-)/gu, '$1 $2 ')
    .split(WHITESPACE)
    .filter((token) => token !== '');
}
