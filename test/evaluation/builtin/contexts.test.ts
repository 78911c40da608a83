import { describe, expect, it } from 'vitest';
import { codePointsOf, findSimilarity } from '../../../src/evaluation/builtin/similarity.ts';
import { evaluate } from './running.ts';

type Texts = readonly string[];
type Scores = readonly [precision: number, recall: number, f1: number];

const EIFFEL = 'The Eiffel Tower is one of the most famous landmarks in Paris.';
const CASES: readonly (readonly [contexts: Texts, expected: Texts, scores: Scores, details: string | null])[] = [
  [['The Eiffel Tower is located in Paris.'], ['Paris is the capital of France.', EIFFEL], [1, 0.5, 0.666667], null],
  [['apple pie', 'zzzzzzzz', 'apple tart'], ['apple pies', 'apple tarts'], [0.833333, 1, 0.909091], null],
  [[], [], [1, 1, 1], 'Both contexts and expected_contexts are empty'],
  [['x'], [], [0, 1, 0], 'expected_contexts is empty'],
  [[], ['x'], [0, 0, 0], 'contexts is empty'],
  // Half alike is enough for a context, and not for an expected one.
  [['ab'], ['ac'], [1, 0, 0], null],
  [['x'], ['y'], [0, 0, 0], null],
];

/** Jaro of the classic examples as they are printed in the literature, to four places. */
const SIMILARITIES: readonly (readonly [measure: string, one: string, other: string, similarity: number])[] = [
  ['levenshtein', 'kitten', 'sitting', 1 - 3 / 7],
  ['levenshtein', '😀a', '😀b', 0.5],
  ['levenshtein', '', 'abc', 0],
  ['hamming', 'karolin', 'kathrin', 4 / 7],
  ['hamming', 'abc', 'abcdef', 0.5],
  ['jaro', 'MARTHA', 'MARHTA', 0.9444],
  ['jaro', 'DIXON', 'DICKSONX', 0.7667],
  ['jaro', 'DWAYNE', 'DUANE', 0.8222],
  ['jaro', 'CRATE', 'TRACE', 0.7333],
  ['jaro', 'abc', 'xyz', 0],
  ['jaro', 'abc', '', 0],
];

describe('contexts', () => {
  it.each(CASES)('of %j for %j', async (contexts, expected_contexts, scores, details) => {
    for (const [index, name] of ['context_precision', 'context_recall', 'context_f1'].entries()) {
      const outcome = await evaluate(`ragas/${name}`, { data: { contexts, expected_contexts } });
      expect(outcome).toMatchObject({ score: expect.closeTo(scores[index] ?? Number.NaN, 6), passed: null });
      if (details !== null) expect(outcome).toMatchObject({ details });
    }
  });

  it('report the parts of the harmonic mean', async () => {
    const data = {
      contexts: ['apple pie', 'zzzzzzzz', 'apple tart'],
      expected_contexts: ['apple pies', 'apple tarts'],
    };
    expect((await evaluate('ragas/context_f1', { data })).details).toBe('Precision: 0.8333, Recall: 1');
  });
});

const compare = (measure: string, one: string, other: string) =>
  findSimilarity(measure)(codePointsOf(one), codePointsOf(other));

describe('similarity', () => {
  it.each(SIMILARITIES)('%s of %j and %j', (measure, one, other, similarity) => {
    expect(compare(measure, one, other)).toBeCloseTo(similarity, 4);
    expect(compare(measure, other, one)).toBeCloseTo(similarity, 4);
  });

  it.each(['levenshtein', 'hamming', 'jaro'])('%s takes two empty texts for equal', (measure) => {
    expect(compare(measure, '', '')).toBe(1);
  });
});
