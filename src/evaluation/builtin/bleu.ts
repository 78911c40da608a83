/** BLEU of one segment, with the definitions of sacrebleu: tokens of mteval-13a, exponential smoothing, effective order. */

import type { EvaluationOutcome, EvaluationRun } from '../../domain/evaluations/outcome.ts';
import { textOf } from './fields.ts';
import { processed } from './outcomes.ts';
import { countShared, idOf } from './tokens.ts';

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
function matchesByOrder(outputTokens: readonly string[], referenceTokens: readonly string[]): readonly Matches[] {
  const numbers = new Map<string, number>();
  const reference = referenceTokens.map((token) => idOf(numbers, token));
  const output = outputTokens.map((token) => numbers.get(token) ?? UNKNOWN);
  const found: Matches[] = [];
  let [outputGrams, referenceGrams]: [Grams, Grams] = [output, reference];
  for (let order = 1; order <= ORDER_MAX && outputGrams.length > 0; order += 1) {
    found.push({ matched: countShared(outputGrams, referenceGrams), total: outputGrams.length });
    const ids = new Map<number, number>();
    const keyOf = (id: number, token: number) => id * numbers.size + token;
    referenceGrams = lengthen(referenceGrams, reference.slice(order), (id, token) => idOf(ids, keyOf(id, token)));
    outputGrams = lengthen(outputGrams, output.slice(order), (id, token) => {
      return id === UNKNOWN || token === UNKNOWN ? UNKNOWN : (ids.get(keyOf(id, token)) ?? UNKNOWN);
    });
  }
  return found;
}

/** A number for each n-gram, by its start; equal n-grams have equal numbers, which compare faster than texts. */
type Grams = readonly number[];

/** A token or n-gram that the reference lacks; longer n-grams with it are unknown, too. */
const UNKNOWN = -1;

/** Extends each n-gram by the next token, except the last one. */
function lengthen(grams: Grams, following: readonly number[], idOfPair: (id: number, token: number) => number): Grams {
  return following.map((token, start) => idOfPair(grams[start] ?? UNKNOWN, token));
}

// Whitespace as Python defines it, which differs from JavaScript.
const WHITESPACE = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/u;

/** Tokenizes like mteval-v13a.pl: punctuation becomes tokens, except inside numbers. */
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
