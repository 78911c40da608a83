/** Sums up traces by going through them: by the rules of the domain, so that every store counts the same. */

import { matchTrace, needlesOf, readDimensions, valuesOfGroup } from '../../domain/analytics/dimensions.ts';
import { addSums, noSums, sumsByModel, sumsOfTrace } from '../../domain/analytics/sums.ts';
import { createTallies, type Entry } from '../../domain/analytics/tallies.ts';
import { NO_DURATIONS, totalsOfSums } from '../../domain/analytics/totals.ts';
import type {
  AnalyticsAnswer,
  AnalyticsQuestion,
  TraceAnalytics,
  UserStatsAnswer,
  UserStatsQuestion,
} from '../../domain/trace-analytics-store.ts';
import { type AnalyticsAsking, goThroughTraces, type Needs, type SpanRow, type TraceFacts } from './trace-pages.ts';

// Before whoever asks is told that nothing came of it.
const ANSWER_MAX_MS = 25_000;

export function createTraceAnalytics(asking: AnalyticsAsking): TraceAnalytics {
  return {
    summarise: (question) => summarise(asking, question),
    statsOfUser: (question) => statsOfUser(asking, question),
  };
}

async function summarise(asking: AnalyticsAsking, question: AnalyticsQuestion): Promise<AnalyticsAnswer> {
  const tallies = createTallies(question);
  const needs = needsOf(question);
  const endsAtMs = asking.nowMs() + ANSWER_MAX_MS;
  while (tallies.beginPass()) {
    for await (const part of goThroughTraces(asking, question, needs)) {
      for (const facts of part) for (const entry of entriesOf(question, facts)) tallies.add(facts.trace.startMs, entry);
      if (asking.nowMs() > endsAtMs) return { kind: 'too_long' };
    }
    tallies.endPass();
  }
  return tallies.answer();
}

function needsOf({ groupBy, conditions }: AnalyticsQuestion): Needs {
  const isOfTrace = groupBy !== 'none' && groupBy !== 'model';
  const { model, ...ofTrace } = conditions;
  return {
    metadata: isOfTrace || Object.values(ofTrace).some((value) => value !== null),
    spans: groupBy === 'model' || model !== null,
    needles: needlesOf(conditions),
  };
}

function entriesOf({ groupBy, conditions }: AnalyticsQuestion, facts: TraceFacts): readonly Entry[] {
  const dimensions = facts.metadataJson === null ? null : readDimensions(facts.metadataJson);
  if (dimensions !== null && !matchTrace(dimensions, conditions)) return [];
  if (groupBy === 'model') {
    return entriesByModel(facts.spans, conditions.model);
  }
  const [counted] = conditions.model === null ? [entryOfTrace(facts)] : entriesByModel(facts.spans, conditions.model);
  if (counted === undefined) return [];
  if (groupBy === 'none' || dimensions === null) return [{ ...counted, group: null }];
  return valuesOfGroup(dimensions, groupBy).map((group) => ({ ...counted, group }));
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

/** Of all models, or of one. */
function entriesByModel(spans: readonly SpanRow[], model: string | null): readonly Entry[] {
  const entries: Entry[] = [];
  for (const [group, sums] of sumsByModel(spans)) {
    if (model !== null && group !== model) continue;
    const own = spans.filter((span) => span.model === group);
    entries.push({
      group,
      sums,
      firstTokensMs: own.flatMap(({ firstTokenMs }) => (firstTokenMs === null ? [] : [Math.max(0, firstTokenMs)])),
      totalTimesMs: own.map(({ durationMs }) => Math.max(0, durationMs)),
    });
  }
  return entries;
}

async function statsOfUser(asking: AnalyticsAsking, question: UserStatsQuestion): Promise<UserStatsAnswer> {
  const conditions = { userId: question.userId, customerId: null, threadId: null, label: null, model: null };
  const needs = { metadata: true, spans: false, needles: needlesOf(conditions) };
  const endsAtMs = asking.nowMs() + ANSWER_MAX_MS;
  const sums = noSums();
  const threads = new Set<string>();
  let [firstSeenMs, lastSeenMs]: [number | null, number | null] = [null, null];
  for await (const part of goThroughTraces(asking, question, needs)) {
    for (const { trace, metadataJson } of part) {
      const dimensions = readDimensions(metadataJson ?? '{}');
      if (!matchTrace(dimensions, conditions)) continue;
      addSums(sums, sumsOfTrace(trace));
      if (dimensions.threadId !== null) threads.add(dimensions.threadId);
      firstSeenMs ??= trace.startMs;
      lastSeenMs = trace.startMs;
    }
    if (asking.nowMs() > endsAtMs) return { kind: 'too_long' };
  }
  const totals = totalsOfSums(sums, NO_DURATIONS);
  return { kind: 'stats', stats: { totals, threads: threads.size, firstSeenMs, lastSeenMs } };
}
