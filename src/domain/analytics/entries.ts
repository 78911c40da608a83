/** Computes what traces add to the groups of a query. */

import { groupsOfTrace, matchTrace, readDimensions } from './dimensions.ts';
import { type CountedSpan, type CountedTrace, spansByModel, sumsOfSpans, sumsOfTrace } from './sums.ts';
import type { Entry } from './tallies.ts';
import type { AnalyticsQuery } from './trace-analytics-store.ts';

type Durations = { readonly firstTokenMs: number | null };
type TimedSpan = CountedSpan & Durations & { readonly durationMs: number };

/** `metadataJson` is null, and `spans` is empty, unless the query needs them. */
type TraceFacts = {
  readonly trace: CountedTrace & Durations & { readonly durationMs: number | null };
  readonly metadataJson: string | null;
  readonly spans: readonly TimedSpan[];
};

export function entriesOf({ groupBy, conditions }: AnalyticsQuery, facts: TraceFacts): readonly Entry[] {
  const dimensions = facts.metadataJson === null ? null : readDimensions(facts.metadataJson);
  if (dimensions !== null && !matchTrace(dimensions, conditions)) return [];
  if (groupBy === 'model') return entriesByModel(facts.spans, conditions.model);
  const [counted] = conditions.model === null ? [entryOfTrace(facts)] : entriesByModel(facts.spans, conditions.model);
  if (counted === undefined) return [];
  if (groupBy === 'none' || dimensions === null) return [{ ...counted, group: null }];
  return groupsOfTrace(dimensions, groupBy).map((group) => ({ ...counted, group }));
}

function entryOfTrace({ trace }: TraceFacts): Entry {
  const { firstTokenMs, durationMs } = trace;
  return {
    group: null,
    sums: sumsOfTrace(trace),
    firstTokensMs: firstTokenMs === null ? [] : [firstTokenMs],
    totalTimesMs: durationMs === null ? [] : [Math.max(0, durationMs)],
  };
}

/** `model` null: every model. */
function entriesByModel(spans: readonly TimedSpan[], model: string | null): readonly Entry[] {
  const entries: Entry[] = [];
  for (const [group, of] of spansByModel(spans)) {
    if (model !== null && group !== model) continue;
    entries.push({ group, sums: sumsOfSpans(of), ...durationsOf(of) });
  }
  return entries;
}

/** The durations of spans, and their waits for the first token where these are known. */
export function durationsOf(
  spans: readonly (Durations & { readonly durationMs: number })[],
): Pick<Entry, 'firstTokensMs' | 'totalTimesMs'> {
  return {
    firstTokensMs: spans.flatMap(({ firstTokenMs }) => (firstTokenMs === null ? [] : [Math.max(0, firstTokenMs)])),
    totalTimesMs: spans.map(({ durationMs }) => Math.max(0, durationMs)),
  };
}
