/** Runs of an evaluator over all traces that a search finds. */

import type { Leased, SearchRun, SearchRunStore } from '../traces/search/search-run.ts';

export type EvaluatorRun = SearchRun & {
  readonly evaluatorId: string;
  /** The cursor of the next page; empty for the first. */
  readonly cursor: string;
  /** Traces by the status of their outcome. */
  readonly processed: number;
  readonly skipped: number;
  readonly failed: number;
};

export type LeasedRun = Leased<EvaluatorRun>;
export type EvaluatorRunStore = SearchRunStore<EvaluatorRun>;
