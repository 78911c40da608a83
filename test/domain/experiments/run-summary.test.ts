import { describe, expect, it } from 'vitest';
import { createRunSums } from '../../../src/domain/experiments/run-summary.ts';

const score = (status: 'processed' | 'skipped' | 'error', value: number, passed: boolean) => ({
  ...{ name: 'e', status, score: value, passed, costUsd: 0.5, durationMs: null },
});

describe('the summary of a run', () => {
  it('has the mean of the scores and verdicts of processed evaluations alone, and all their costs', () => {
    const sums = createRunSums();
    const scores = [score('processed', 1, true), score('error', 0, false), score('skipped', 0, false)];
    sums.add({
      entryIndex: 0,
      entryId: null,
      targetId: '',
      bytes: 1,
      hasError: false,
      costUsd: null,
      durationMs: null,
      scores,
    });
    expect(sums.summary()).toMatchObject({
      evaluationCostUsd: 1.5,
      evaluators: [{ name: 'e', processed: 1, skipped: 1, failed: 1, meanScore: 1, passRate: 1 }],
    });
  });
});
