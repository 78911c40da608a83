/** The index of traces: what it has of each trace, and how it is asked. Each engine has its own. */

import type { SearchPosition, SearchQuery } from '../../domain/traces/search/trace-search-store.ts';
import type { IndexPlan } from './index-plan.ts';

/** A trace as the index has it. */
export type IndexedTrace<Text> = {
  readonly projectNumber: number;
  readonly sequence: number;
  readonly traceId: string;
  /** A trace without spans starts when it was received. */
  readonly startMs: number;
  readonly updatedAtMs: number;
  readonly insertedAtMs: number;
  readonly totalTimeMs: number | null;
  readonly totalCostNanoUsd: number | null;
  readonly totalTokens: number | null;
  readonly firstTokenMs: number | null;
  /** See facetNumber. */
  readonly facets: readonly number[];
  readonly text: Text;
  readonly sums: IndexedSums;
};

/** What analytics sum up of a trace, and by what they group it. */
export type IndexedSums = {
  readonly spanCount: number;
  readonly hasError: boolean;
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  /** See dimensionNumber; null: the trace has no such value. */
  readonly user: number | null;
  readonly customer: number | null;
  readonly thread: number | null;
  readonly labels: readonly number[];
  /** Null: the trace is linked to no prompt. */
  readonly prompts: IndexedPrompts | null;
  /** The durations of its spans, by the models for which these count (see spansByModel). */
  readonly models: readonly IndexedModel[];
};

export type IndexedModel = {
  /** See modelNumber. */
  readonly model: number;
  readonly totalTimesMs: readonly number[];
  readonly firstTokensMs: readonly number[];
};

/** See LinkedPrompts. */
export type IndexedPrompts = {
  readonly names: readonly number[];
  readonly prompts: readonly number[];
  readonly versions: readonly number[];
};

/** Collects what an engine keeps of the searched texts of one trace. */
export type TextCollector<Text> = {
  /** Takes a folded text. */
  add(text: string): void;
  end(): Text;
};

export type TraceIndex = {
  /** Null: the index cannot answer, because it is being built. */
  open(query: IndexQuery): Promise<IndexSelection | null>;
};

export type IndexQuery = {
  readonly query: SearchQuery;
  readonly plan: IndexPlan;
  /** Sequences of traces that the caller reads itself, because they changed since they were indexed. */
  readonly leftOut: readonly number[];
};

/** The candidates of a query: every trace that fits, but for those left out. */
export type IndexSelection = {
  /** The first candidates after a position, in the order of the query. */
  select: Select;
  /** Counts up to a limit. */
  count(limit: number): Promise<number>;
};

export type Select = (page: SelectedPage) => Promise<Selected>;
export type SelectedPage = { readonly after: SearchPosition | null; readonly limit: number };

export type Selected = {
  readonly sequences: readonly number[];
  /** The position of the last one; null: no candidates are left. */
  readonly last: SearchPosition | null;
};

/** A trace that was indexed, or that was removed from the index, with the mark that it had when it was read. */
export type IndexedMark = { readonly projectNumber: number; readonly sequence: number; readonly mark: number };
