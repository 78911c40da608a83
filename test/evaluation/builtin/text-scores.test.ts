import { describe, expect, it } from 'vitest';
import { REFERENCE_SCORES } from './reference-scores.ts';
import { evaluate } from './running.ts';

const DIGITS = 6;
const MEASURES = ['precision', 'recall', 'fmeasure'] as const;

async function scoreOf(evaluatorType: string, [output, expected_output]: readonly string[], settings = {}) {
  const outcome = await evaluate(evaluatorType, {
    data: { output: output ?? '', expected_output: expected_output ?? '' },
    settings,
  });
  if (outcome.status !== 'processed') throw new Error(outcome.details);
  return outcome.score ?? Number.NaN;
}

describe('bleu_score', () => {
  it.each(REFERENCE_SCORES)('of %j for %j is that of sacrebleu', async (output, expected, bleu) => {
    expect(await scoreOf('ragas/bleu_score', [output, expected])).toBeCloseTo(bleu, DIGITS);
  });
});

describe('rouge_score', () => {
  it.each(REFERENCE_SCORES)('of %j for %j is that of rouge-score', async (output, expected, _bleu, rouge1, rougeL) => {
    for (const [rouge_type, measured] of Object.entries({ rouge1, rougeL })) {
      for (const [index, measure_type] of MEASURES.entries()) {
        const settings = { rouge_type, measure_type };
        const score = await scoreOf('ragas/rouge_score', [output, expected], settings);
        expect(score, `${rouge_type} ${measure_type}`).toBeCloseTo(measured[index] ?? Number.NaN, DIGITS);
      }
    }
  });

  it('takes words of other scripts as they are', async () => {
    expect(await scoreOf('ragas/rouge_score', ['Größen, Привет', 'größen привет'])).toBe(1);
  });
});
