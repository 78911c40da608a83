/** ROUGE-1 and ROUGE-L with stems, equal to the Python package rouge-score for ASCII texts. */

import type { EvaluationOutcome, EvaluationRun } from '../../domain/evaluations/outcome.ts';
import { textOf } from './fields.ts';
import { processed } from './outcomes.ts';
import { stemWord } from './porter-stemmer.ts';
import { countShared, idOf } from './tokens.ts';

export function scoreRouge(run: EvaluationRun): EvaluationOutcome {
  const output = tokenize(textOf(run, 'output'));
  const expected = tokenize(textOf(run, 'expected_output'));
  if (output.length === 0 || expected.length === 0) return processed({ score: 0 });
  const shared =
    run.settings.rouge_type === 'rougeL' ? commonSubsequenceLength(output, expected) : countShared(output, expected);
  const precision = shared / output.length;
  const recall = shared / expected.length;
  const scores = new Map([
    ['precision', precision],
    ['recall', recall],
  ]);
  const fmeasure = shared === 0 ? 0 : (2 * precision * recall) / (precision + recall);
  return processed({ score: scores.get(String(run.settings.measure_type)) ?? fmeasure });
}

const STEMMED_LENGTH_MIN = 4;

function tokenize(text: string): readonly string[] {
  // Long texts repeat words, so each is stemmed once.
  const stems = new Map<string, string>();
  return (text.toLowerCase().match(/[\p{L}\p{Nd}]+/gu) ?? []).map((token) => {
    const cached = stems.get(token);
    if (cached !== undefined) return cached;
    const isStemmed = token.length >= STEMMED_LENGTH_MIN && /^[a-z0-9]+$/.test(token);
    const stem = isStemmed ? stemWord(token) : token;
    stems.set(token, stem);
    return stem;
  });
}

/** Keeps one row of the table, so that memory is linear in the length of the texts. */
function commonSubsequenceLength(one: readonly string[], other: readonly string[]): number {
  const numbers = new Map<string, number>();
  const numbered = (tokens: readonly string[]) => Int32Array.from(tokens, (token) => idOf(numbers, token));
  const columns = numbered(other);
  const row = new Int32Array(columns.length + 1);
  for (const token of numbered(one)) {
    let diagonal = 0;
    for (let column = 1; column < row.length; column += 1) {
      const above = row[column] ?? 0;
      row[column] = columns[column - 1] === token ? diagonal + 1 : Math.max(above, row[column - 1] ?? 0);
      diagonal = above;
    }
  }
  return row.at(-1) ?? 0;
}
