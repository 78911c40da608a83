/**
 * Sums traces up: from the hourly sums where these suffice, else by the index of traces, and where it cannot answer by
 * scanning traces. The rules of the domain count, so that every store returns the same.
 */

import { hash } from 'node:crypto';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { matchTrace, needlesOf, readDimensions } from '../../domain/analytics/dimensions.ts';
import { entriesOf } from '../../domain/analytics/entries.ts';
import { addSums, NO_DURATIONS, noSums, sumsOfTrace, totalsOfSums } from '../../domain/analytics/sums.ts';
import { createTallies, type Tallies } from '../../domain/analytics/tallies.ts';
import {
  ANY_TRACE,
  type AnalyticsAnswer,
  type AnalyticsQuery,
  type TraceAnalytics,
  type UserStatsAnswer,
  type UserStatsQuery,
} from '../../domain/analytics/trace-analytics-store.ts';
import { GROUP_HASH, READ_MAX_MS } from '../long-reads.ts';
import { mayCountDays, summariseByDays } from './counted-days.ts';
import { summariseEvaluations } from './evaluation-sums.ts';
import { summariseFeedback } from './feedback-sums.ts';
import { type HourPlan, planHours, rangesBesideHours, readHours } from './hours.ts';
import { type IndexReading, statsByIndex, summariseByIndex } from './indexed-analytics.ts';
import type { IndexedSums } from './indexed-sums.ts';
import { addModelPercentiles, mayCountModels } from './model-percentiles.ts';
import { type AnalyticsRunner, type Needs, type ScanRange, scanTraces, wholeRange } from './trace-scan.ts';

export function createTraceAnalytics(runner: AnalyticsRunner, index: IndexedSums): TraceAnalytics {
  return {
    summarise: (query) => summarise(beginReading(runner, index), query),
    statsOfUser: (query) => statsOfUser(beginReading(runner, index), query),
    summariseEvaluations: (query) => summariseEvaluations(runner, query),
    summariseFeedback: (query) => summariseFeedback(runner, query),
  };
}

export function beginReading(runner: AnalyticsRunner, index: IndexedSums): IndexReading {
  const endsAtMs = runner.nowMs() + READ_MAX_MS;
  return { runner, index, isOver: () => runner.nowMs() > endsAtMs };
}

type Pass = {
  readonly runner: AnalyticsRunner;
  readonly query: AnalyticsQuery;
  readonly tallies: Tallies;
  readonly isOver: () => boolean;
};

async function summarise(reading: IndexReading, query: AnalyticsQuery): Promise<AnalyticsAnswer> {
  const plan = planHours(query);
  const found = plan === null ? await readIndex(reading, query) : null;
  if (found !== null) return found;
  const { runner, isOver } = reading;
  const tallies = createTallies(query, GROUP_HASH);
  const pass = { runner, query, tallies, isOver };
  while (tallies.beginPass()) {
    const ranges = plan === null ? [wholeRange(query)] : await addHours(pass, plan);
    const isThrough = ranges !== null && (await scanRanges(pass, ranges));
    if (!isThrough) return { kind: 'too_long' };
    tallies.endPass();
  }
  return tallies.answer();
}

/** Null: the traces must be read. */
async function readIndex(reading: IndexReading, query: AnalyticsQuery): Promise<AnalyticsAnswer | null> {
  if (mayCountModels(query)) return await countModels(reading, query);
  return (await countDays(reading, query)) ?? (await summariseByIndex(reading, query));
}

/** Null: the traces must be read. */
async function countModels(reading: IndexReading, query: AnalyticsQuery): Promise<AnalyticsAnswer | null> {
  const { modelDurations: index } = reading.index;
  if (index === null) return null;
  const sums = await summarise(reading, { ...query, hasPercentiles: false });
  if (sums.kind !== 'buckets') return sums;
  const buckets = await addModelPercentiles({ ...reading, index }, query, sums.buckets);
  if (buckets === 'too_long') return { kind: 'too_long' };
  return buckets === null ? null : { ...sums, buckets };
}

/** Null: the traces must be read. */
async function countDays(reading: IndexReading, query: AnalyticsQuery): Promise<AnalyticsAnswer | null> {
  if (!mayCountDays(query)) return null;
  const sums = await summarise(reading, { ...query, hasPercentiles: false });
  return sums.kind === 'buckets' ? await summariseByDays(reading, query, sums.buckets) : null;
}

/** Returns the ranges that are left to scan; null when the time is over. */
async function addHours(
  { runner, query, tallies, isOver }: Pass,
  plan: HourPlan,
): Promise<readonly ScanRange[] | null> {
  const cutHours = new Set<number>();
  for await (const { counted, cutHours: more } of readHours(runner, query, plan)) {
    for (const [startMs, entry] of counted) tallies.add(startMs, entry);
    for (const hour of more) cutHours.add(hour);
    if (isOver()) return null;
    await yieldToEventLoop();
  }
  return rangesBesideHours(query, plan, cutHours);
}

/** False when the time is over. */
async function scanRanges({ runner, query, tallies, isOver }: Pass, ranges: readonly ScanRange[]) {
  const needs = needsOf(query);
  for (const range of ranges) {
    for await (const part of scanTraces(runner, range, needs)) {
      for (const facts of part) for (const entry of entriesOf(query, facts)) tallies.add(facts.trace.startMs, entry);
      if (isOver()) return false;
    }
  }
  return true;
}

function needsOf({ groupBy, conditions }: AnalyticsQuery): Needs {
  const isOfTrace = groupBy !== 'none' && groupBy !== 'model';
  const { model, ...ofTrace } = conditions;
  return {
    metadata: isOfTrace || Object.values(ofTrace).some((value) => value !== null),
    spans: groupBy === 'model' || model !== null,
    needles: needlesOf(conditions),
  };
}

/** Distinct threads that are counted in memory, each by a number. */
const THREADS_MAX = 1_000_000;
const THREAD_NUMBER_BYTES = 6;

async function statsOfUser(reading: IndexReading, query: UserStatsQuery): Promise<UserStatsAnswer> {
  const found = await statsByIndex(reading, query);
  if (found !== null) return found;
  const { runner, isOver } = reading;
  const conditions = { ...ANY_TRACE, userId: query.userId };
  const needs = { metadata: true, spans: false, needles: needlesOf(conditions) };
  const sums = noSums();
  const threads = new Set<number>();
  let [firstSeenMs, lastSeenMs]: [number | null, number | null] = [null, null];
  for await (const part of scanTraces(runner, wholeRange(query), needs)) {
    for (const facts of part) {
      const dimensions = readDimensions(facts.metadataJson ?? '{}');
      if (!matchTrace(dimensions, conditions)) continue;
      addSums(sums, sumsOfTrace(facts.trace));
      if (dimensions.threadId !== null) threads.add(threadNumber(dimensions.threadId));
      firstSeenMs ??= facts.trace.startMs;
      lastSeenMs = facts.trace.startMs;
    }
    if (isOver() || threads.size > THREADS_MAX) return { kind: 'too_long' };
  }
  const totals = totalsOfSums(sums, NO_DURATIONS);
  return { kind: 'stats', stats: { totals, threads: threads.size, firstSeenMs, lastSeenMs } };
}

/** 48 bits of a hash: two of a million threads hardly ever collide. */
function threadNumber(id: string): number {
  return hash('md5', id, 'buffer').readUIntBE(0, THREAD_NUMBER_BYTES);
}
