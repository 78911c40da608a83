/** Computes what traces add to the groups of a query. */

import { groupsOfTrace, matchTrace, readDimensions } from '../../domain/analytics/dimensions.ts';
import { addAmounts, noSums, type Sums, sumsByModel, sumsOfTrace } from '../../domain/analytics/sums.ts';
import type { Entry } from '../../domain/analytics/tallies.ts';
import type { AnalyticsQuery } from '../../domain/analytics/trace-analytics-store.ts';
import type { SpanRow, TraceFacts } from './trace-scan.ts';

export function entriesOf({ groupBy, conditions }: AnalyticsQuery, facts: TraceFacts): readonly Entry[] {
  const dimensions = facts.metadataJson === null ? null : readDimensions(facts.metadataJson);
  if (dimensions !== null && !matchTrace(dimensions, conditions)) return [];
  if (groupBy === 'model') return entriesByModel(facts.spans, conditions.model);
  const [counted] = conditions.model === null ? [entryOfTrace(facts)] : entriesByModel(facts.spans, conditions.model);
  if (counted === undefined) return [];
  if (groupBy === 'none' || dimensions === null) return [{ ...counted, group: null }];
  return groupsOfTrace(dimensions, groupBy).map((group) => ({ ...counted, group }));
}

/** The sums of a whole trace. */
export function sumsOf({ trace, spans, isOutdated }: TraceFacts): Sums {
  if (!isOutdated) return sumsOfTrace(trace);
  const sums = noSums();
  sums.traces = 1;
  sums.spans = spans.length;
  sums.errors = spans.some(({ hasError }) => hasError) ? 1 : 0;
  for (const span of spans) addAmounts(sums, span);
  return sums;
}

function entryOfTrace(facts: TraceFacts): Entry {
  const { firstTokenMs, durationMs } = facts.isOutdated ? durationsOf(facts.spans) : facts.trace;
  return {
    group: null,
    sums: sumsOf(facts),
    firstTokensMs: firstTokenMs === null ? [] : [firstTokenMs],
    totalTimesMs: durationMs === null ? [] : [Math.max(0, durationMs)],
  };
}

function durationsOf(spans: readonly SpanRow[]) {
  let firstTokenMs: number | null = null;
  let [startedAtMs, finishedAtMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const span of spans) {
    startedAtMs = Math.min(startedAtMs, span.startedAtMs);
    finishedAtMs = Math.max(finishedAtMs, span.startedAtMs + span.durationMs);
    if (span.firstTokenMs !== null) {
      firstTokenMs = Math.min(firstTokenMs ?? Number.POSITIVE_INFINITY, Math.max(0, span.firstTokenMs));
    }
  }
  return { firstTokenMs, durationMs: spans.length === 0 ? null : finishedAtMs - startedAtMs };
}

/** `model` null: every model. */
function entriesByModel(spans: readonly SpanRow[], model: string | null): readonly Entry[] {
  const entries: Entry[] = [];
  const byModel = Map.groupBy(spans, (span) => span.model);
  for (const [group, sums] of sumsByModel(spans)) {
    if (model !== null && group !== model) continue;
    const own = byModel.get(group) ?? [];
    entries.push({
      group,
      sums,
      firstTokensMs: own.flatMap(({ firstTokenMs }) => (firstTokenMs === null ? [] : [Math.max(0, firstTokenMs)])),
      totalTimesMs: own.map(({ durationMs }) => Math.max(0, durationMs)),
    });
  }
  return entries;
}
