/** The results of an entry in several runs and in their baseline. */

import type { CompareExperimentRunsResponse, ExperimentResult } from '../../../gen/spandrel/v1/experiments_pb.js';
import { changeOf } from './deltas.ts';

/** An entry with the result of each run. */
export type EntryRow = {
  readonly key: string;
  /** One of the results. */
  readonly entry: ExperimentResult;
  /** Undefined where the baseline has none. */
  readonly baseline: ExperimentResult | undefined;
  /** In the order of the runs; undefined where a run has none, null where it is not loaded yet. */
  readonly results: readonly (ExperimentResult | undefined | null)[];
  /** See changeOf, in the same order. */
  readonly changes: readonly (number | null)[];
};

/** For each run the next page of its comparison; null behind the last one. */
export type Answers = readonly (CompareExperimentRunsResponse | null)[];

export function mergeComparisons(pages: readonly Answers[], runs: number): readonly EntryRow[] {
  type Merged = Pick<EntryRow, 'key' | 'entry' | 'baseline'> & { results: (ExperimentResult | undefined)[] };
  const merged = new Map<string, Merged>();
  const add = (index: number, baseline: ExperimentResult | undefined, other: ExperimentResult | undefined) => {
    const entry = baseline ?? other;
    if (!entry) return;
    const key = `${baseline ? 'in' : 'beside'} ${keyOf(entry)}`;
    const row = merged.get(key) ?? { key, entry: other ?? entry, baseline, results: [] };
    row.results[index] = other;
    merged.set(key, row);
  };
  for (const answers of pages) {
    for (const [index, answer] of answers.entries())
      for (const each of answer?.data ?? []) add(index, each.base, each.other);
  }
  const isWhole = Array.from({ length: runs }, (_, index) => !pages.at(-1)?.[index]?.nextPageToken);
  const rows = [...merged.values()].map(({ results, ...row }): EntryRow => {
    const shown = Array.from({ length: runs }, (_, index) => {
      const isKnown = index in results || isWhole[index];
      return isKnown ? results[index] : null;
    });
    return { ...row, results: shown, changes: shown.map((result) => changeOf(result ?? undefined, row.baseline)) };
  });
  // What only a run has comes after all that the baseline has.
  return [...rows.filter(({ baseline }) => baseline), ...rows.filter(({ baseline }) => !baseline)];
}

/** Identifies a result within its run. */
export function keyOf({ index, targetId }: ExperimentResult): string {
  return JSON.stringify([index, targetId]);
}
