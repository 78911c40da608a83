/** Runs are compared with their baseline: by points with their sign, and the worst entries first. */

import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import {
  CompareExperimentRunsResponseSchema,
  ExperimentResultSchema,
  ExperimentRunSummarySchema,
} from '../../gen/spandrel/v1/experiments_pb.js';
import { EvaluationStatus } from '../../gen/spandrel/v1/traces_pb.js';
import { byRegression, changeOf, deltaOf, deltasOf, figuresOf } from '../../src/console/experiments/deltas.ts';
import { mergeComparisons } from '../../src/console/experiments/entry-rows.ts';

type Evaluated = { readonly [name: string]: number | boolean };

function result(index: number, evaluated: Evaluated = {}, error?: string) {
  const evaluations = Object.entries(evaluated).map(([name, value]) => ({
    name,
    status: EvaluationStatus.PROCESSED,
    ...(typeof value === 'number' ? { score: value } : { passed: value }),
  }));
  return create(ExperimentResultSchema, { index, evaluations, ...(error !== undefined && { error }) });
}

describe('a figure of a run', () => {
  const summary = (meanScore: number, passRate: number, cost: number, errors = 0) =>
    create(ExperimentRunSummarySchema, {
      cost,
      errors,
      evaluators: [{ name: 'tone', meanScore, passRate, failed: 0 }],
    });
  const delta = (label: string, now: ReturnType<typeof summary>, before: ReturnType<typeof summary>) => {
    const figure = figuresOf([now, before]).find((each) => each.label === label);
    if (!figure) throw new Error(`no figure ${label}`);
    return deltaOf(figure, figure.of(now), figure.of(before));
  };

  it('differs by points where it is a share, and else by its unit, always with a sign', () => {
    const [now, before] = [summary(0.5, 0.9, 1.5, 2), summary(0.75, 0.875, 1, 2)];
    expect(delta('tone, passed', now, before)).toEqual({ text: '+2.5 pp', isBetter: true });
    expect(delta('tone, mean score', now, before)).toEqual({ text: '−25.0 pp', isBetter: false });
    expect(delta('Cost', now, before)).toEqual({ text: '+$0.5000', isBetter: false });
    expect(delta('Failed', now, before)).toEqual({ text: '±0', isBetter: null });
    expect(delta('tone, mean score', summary(4, 1, 1), summary(3.5, 1, 1))).toEqual({ text: '+0.5', isBetter: true });
  });

  it('is left out where no run has it', () => {
    const labels = figuresOf([summary(0, 0, 1)]).map(({ label }) => label);
    expect(labels).toEqual(['Results', 'Failed', 'Cost', 'Cost of evaluations', 'Mean duration']);
  });
});

describe('a result', () => {
  it('differs by the evaluations that both have, its cost and its duration', () => {
    const before = { ...result(0, { tone: 0.5, polite: true, old: 1 }), cost: 0.5, duration: 100 };
    const now = { ...result(0, { tone: 0.75, polite: false, new: 1 }), cost: 0.25, duration: 100 };
    expect(deltasOf(now, before)).toEqual([
      { name: 'tone', text: '+25.0 pp', isBetter: true },
      { name: 'polite', text: '−100.0 pp', isBetter: false },
      { name: 'cost', text: '−$0.2500', isBetter: true },
    ]);
  });

  it('is worse by the mean of its evaluations, and by a failure of its own', () => {
    expect(changeOf(result(0, { a: 0.5, b: true }), result(0, { a: 1, b: true }))).toBe(-0.25);
    expect(changeOf(result(0, { a: 1 }, 'failed'), result(0, { a: 1 }))).toBe(-1);
    expect(changeOf(result(0, {}, 'failed'), result(0))).toBe(-1);
    expect(changeOf(result(0), result(0, {}, 'failed'))).toBe(1);
    expect(changeOf(result(0, { a: 1 }), undefined)).toBeNull();
    expect(changeOf(result(0), result(0))).toBeNull();
    const leaks = (score: number) => result(0, { 'langwatch/api_keys_and_secrets_detection': score });
    expect(changeOf(leaks(2), leaks(0))).toBe(-2);
  });

  it('comes first where it became worst in any run', () => {
    const rows = [
      [0.5, null],
      [null, null],
      [1, -0.5],
      [-0.25, 0],
    ].map((changes, at) => ({ changes, at }));
    expect(rows.toSorted(byRegression).map(({ at }) => at)).toEqual([2, 3, 0, 1]);
  });
});

describe('the entries of several comparisons', () => {
  const answer = (pairs: readonly (readonly [base: number | null, other: number | null])[], nextPageToken = '') =>
    create(CompareExperimentRunsResponseSchema, {
      nextPageToken,
      data: pairs.map(([base, other]) => ({
        ...(base !== null && { base: result(base) }),
        ...(other !== null && { other: result(other) }),
      })),
    });
  const shown = (pages: Parameters<typeof mergeComparisons>[0], runs: number) =>
    mergeComparisons(pages, runs).map(({ entry, baseline, results }) => [
      entry.index,
      baseline !== undefined,
      ...results.map((each) => (each === null ? 'later' : (each?.index ?? 'none'))),
    ]);

  it('are joined by the entry of the baseline, and what it lacks follows', () => {
    const [one, two] = [
      answer([
        [0, 0],
        [1, null],
        [null, 9],
      ]),
      answer([
        [0, 0],
        [1, 1],
        [null, 8],
      ]),
    ];
    expect(shown([[one, two]], 2)).toEqual([
      [0, true, 0, 0],
      [1, true, 'none', 1],
      [9, false, 9, 'none'],
      [8, false, 'none', 8],
    ]);
  });

  it('of which a run has more pages are not taken for missing', () => {
    const [long, short] = [
      answer([
        [0, 0],
        [1, 1],
      ]),
      answer([[0, 0]], 'more'),
    ];
    expect(shown([[long, short]], 2)).toEqual([
      [0, true, 0, 0],
      [1, true, 1, 'later'],
    ]);
    expect(
      shown(
        [
          [long, short],
          [null, answer([[1, null]])],
        ],
        2,
      ),
    ).toEqual([
      [0, true, 0, 0],
      [1, true, 1, 'none'],
    ]);
  });
});
