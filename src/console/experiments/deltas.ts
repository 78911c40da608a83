/** How a run differs from its baseline: in the figures of its summary, and in the result of an entry. */

import type {
  ExperimentEvaluation,
  ExperimentResult,
  ExperimentRunSummary,
} from '../../../gen/spandrel/v1/experiments_pb.js';
import { EvaluationStatus } from '../../../gen/spandrel/v1/traces_pb.js';
import {
  formatCost,
  formatCount,
  formatDuration,
  formatPoints,
  formatScore,
  formatShare,
  NONE,
} from '../design/format.ts';
import { countedBy } from '../evaluations/counted.ts';

type Format = (value: number | null | undefined) => string;

export type Figure = {
  readonly label: string;
  readonly of: (summary: ExperimentRunSummary) => number | undefined;
  readonly format: Format;
  /** Which direction is an improvement; absent where neither is. */
  readonly better?: 'more' | 'less';
};

/** The figures that at least one of the runs has. */
export function figuresOf(summaries: readonly ExperimentRunSummary[]): readonly Figure[] {
  const names = new Set(summaries.flatMap(({ evaluators }) => evaluators.map(({ name }) => name)));
  const ofEvaluators = [...names].flatMap((name): Figure[] => {
    const find = ({ evaluators }: ExperimentRunSummary) => evaluators.find((each) => each.name === name);
    const better = countedBy(name) === null ? 'more' : 'less';
    return [
      { label: `${name}, passed`, of: (each) => find(each)?.passRate, format: formatShare, better: 'more' },
      { label: `${name}, mean score`, of: (each) => find(each)?.meanScore, format: formatScore, better },
      { label: `${name}, errors`, of: (each) => find(each)?.failed, format: formatCount, better: 'less' },
    ];
  });
  return [
    ...ofEvaluators.filter(({ of }) => summaries.some((each) => (of(each) ?? 0) !== 0)),
    { label: 'Results', of: ({ results }) => results, format: formatCount },
    { label: 'Failed', of: ({ errors }) => errors, format: formatCount, better: 'less' },
    { label: 'Cost', of: ({ cost }) => cost, format: formatCost, better: 'less' },
    { label: 'Cost of evaluations', of: ({ evaluationCost }) => evaluationCost, format: formatCost, better: 'less' },
    { label: 'Mean duration', of: ({ meanDuration }) => meanDuration, format: formatDuration, better: 'less' },
  ];
}

/** A difference as it is shown, and whether it is an improvement. */
export type Delta = { readonly text: string; readonly isBetter: boolean | null };

export function deltaOf(
  { format, better }: Pick<Figure, 'format' | 'better'>,
  value: number | undefined,
  before: number | undefined,
): Delta {
  if (value === undefined || before === undefined) return { text: NONE, isBetter: null };
  if (value === before) return { text: '±0', isBetter: null };
  const isBetter = better === undefined ? null : value > before === (better === 'more');
  return { text: differenceOf(format, value, before), isBetter };
}

/** Shares, and scores between 0 and 1, differ by percentage points. */
function differenceOf(format: Format, value: number, before: number): string {
  const isShare = format === formatShare || (format === formatScore && [value, before].every(isUnit));
  if (isShare) return formatPoints(value - before);
  return `${value > before ? '+' : '−'}${format(Math.abs(value - before))}`;
}

function isUnit(score: number): boolean {
  return score >= 0 && score <= 1;
}

/** The differences of one result: by evaluation, then cost and duration. Equal ones are left out. */
export function deltasOf(result: ExperimentResult, baseline: ExperimentResult): readonly (Delta & { name: string })[] {
  const deltas = comparedOf(result, baseline).map(({ name, value, before, better }) => ({
    name,
    ...deltaOf({ format: formatScore, better }, value, before),
  }));
  return [
    ...deltas,
    { name: 'cost', ...deltaOf({ format: formatCost, better: 'less' }, result.cost, baseline.cost) },
    { name: 'duration', ...deltaOf({ format: formatDuration, better: 'less' }, result.duration, baseline.duration) },
  ].filter(({ text }) => text !== NONE && text !== '±0');
}

type Compared = { readonly name: string; readonly value: number; readonly before: number; better: 'more' | 'less' };

/** The evaluations that both results have: by their score, or by whether they passed. */
function comparedOf(result: ExperimentResult, baseline: ExperimentResult): readonly Compared[] {
  const known = new Map(baseline.evaluations.map((each) => [nameOf(each), each]));
  return result.evaluations.flatMap((each): Compared[] => {
    const name = nameOf(each);
    const other = known.get(name);
    if (!other || !isProcessed(each) || !isProcessed(other)) return [];
    if (each.score !== undefined && other.score !== undefined) {
      const better = countedBy(each.evaluator ?? name) === null ? 'more' : 'less';
      return [{ name, value: each.score, before: other.score, better }];
    }
    if (each.passed === undefined || other.passed === undefined) return [];
    return [{ name, value: Number(each.passed), before: Number(other.passed), better: 'more' }];
  });
}

function nameOf({ name, evaluator }: ExperimentEvaluation): string {
  return name ?? evaluator ?? '';
}

function isProcessed({ status }: ExperimentEvaluation): boolean {
  return status === EvaluationStatus.PROCESSED;
}

/**
 * How much better a result is than its baseline, negative if it is worse: the mean over the evaluations of both, less one if only it
 * failed. Null where nothing can be compared.
 */
export function changeOf(result: ExperimentResult | undefined, baseline: ExperimentResult | undefined): number | null {
  if (!result || !baseline) return null;
  const compared = comparedOf(result, baseline);
  const changes = compared.map(({ value, before, better }) => (better === 'more' ? value - before : before - value));
  const failures = Number(baseline.error !== undefined) - Number(result.error !== undefined);
  if (changes.length === 0) return failures === 0 && result.error === undefined ? null : failures;
  return changes.reduce((sum, each) => sum + each, 0) / changes.length + failures;
}

type Changed = { readonly changes: readonly (number | null)[] };

/** Those that became worst in a run come first, those that cannot be compared last. */
export function byRegression(one: Changed, other: Changed): number {
  return worstOf(one) - worstOf(other) || 0;
}

function worstOf({ changes }: Changed): number {
  const known = changes.filter((change) => change !== null);
  return known.length === 0 ? Number.MAX_VALUE : Math.min(...known);
}
