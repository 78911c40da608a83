/**
 * Sums up traces: by the hours that are kept of them where those can tell, and else by going through them, by the rules of
 * the domain, so that every store counts the same.
 */

import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { matchTrace, needlesOf, readDimensions } from '../../domain/analytics/dimensions.ts';
import { addSums, noSums } from '../../domain/analytics/sums.ts';
import { createTallies, type Tallies } from '../../domain/analytics/tallies.ts';
import { NO_DURATIONS, totalsOfSums } from '../../domain/analytics/totals.ts';
import type {
  AnalyticsAnswer,
  AnalyticsQuestion,
  TraceAnalytics,
  TraceRange,
  UserStatsAnswer,
  UserStatsQuestion,
} from '../../domain/trace-analytics-store.ts';
import { GROUP_HASH } from '../group-hash.ts';
import { ANSWER_MAX_MS } from './answer-time.ts';
import { areDurationsInBlocks, readDurations } from './durations.ts';
import { entriesOf, sumsOf } from './entries.ts';
import { sumUpEvaluations } from './evaluation-sums.ts';
import { type HourPlan, planHours, readHours, stretchesBeside } from './hours.ts';
import { type AnalyticsAsking, goThroughTraces, type Needs, type Stretch } from './trace-pages.ts';

export function createTraceAnalytics(asking: AnalyticsAsking): TraceAnalytics {
  return {
    summarise: (question) => summarise(asking, question),
    statsOfUser: (question) => statsOfUser(asking, question),
    sumUpEvaluations: (question) => sumUpEvaluations(asking, question),
  };
}

type Pass = {
  readonly asking: AnalyticsAsking;
  readonly question: AnalyticsQuestion;
  readonly tallies: Tallies;
  readonly isOver: () => boolean;
};

async function summarise(asking: AnalyticsAsking, question: AnalyticsQuestion): Promise<AnalyticsAnswer> {
  const endsAtMs = asking.nowMs() + ANSWER_MAX_MS;
  const isOver = () => asking.nowMs() > endsAtMs;
  const durations = areDurationsInBlocks(question) ? await readDurations({ asking, question, isOver }) : null;
  if (durations === null) return await tally({ asking, question, isOver });
  const answer = await tally({ asking, question: { ...question, hasPercentiles: false }, isOver });
  return answer.kind === 'buckets' ? { ...answer, buckets: answer.buckets.map(durations.complete) } : answer;
}

async function tally({ asking, question, isOver }: Omit<Pass, 'tallies'>): Promise<AnalyticsAnswer> {
  const tallies = createTallies(question, GROUP_HASH);
  const plan = planHours(question);
  const pass = { asking, question, tallies, isOver };
  while (tallies.beginPass()) {
    const stretches = plan === null ? [wholeRange(question)] : await addHours(pass, plan);
    const isThrough = stretches !== null && (await addStretches(pass, stretches));
    if (!isThrough) return { kind: 'too_long' };
    tallies.endPass();
  }
  return tallies.answer();
}

function wholeRange({ projectNumber, goneBeforeMs, fromMs, toMs }: TraceRange): Stretch {
  const receivedFromMs = goneBeforeMs ?? Number.MIN_SAFE_INTEGER;
  return { projectNumber, fromMs, toMs, receivedFromMs, receivedToMs: Number.MAX_SAFE_INTEGER, size: 'any' };
}

/** Answers what is left to go through; null where there is no time left. */
async function addHours(
  { asking, question, tallies, isOver }: Pass,
  plan: HourPlan,
): Promise<readonly Stretch[] | null> {
  const cutHours = new Set<number>();
  for await (const { counted, cutHours: more } of readHours(asking, question, plan)) {
    for (const [startMs, entry] of counted) tallies.add(startMs, entry);
    for (const hour of more) cutHours.add(hour);
    if (isOver()) return null;
    await nextTurn();
  }
  return stretchesBeside(question, plan, cutHours);
}

/** Whether there was time for all of them. */
async function addStretches({ asking, question, tallies, isOver }: Pass, stretches: readonly Stretch[]) {
  const needs = needsOf(question);
  for (const stretch of stretches) {
    for await (const part of goThroughTraces(asking, stretch, needs)) {
      for (const facts of part) for (const entry of entriesOf(question, facts)) tallies.add(facts.trace.startMs, entry);
      if (isOver()) return false;
    }
  }
  return true;
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

/** Ids that are counted: each takes as little as its number does. */
const THREADS_MAX = 1_000_000;
const THREAD_NUMBER_BYTES = 6;

async function statsOfUser(asking: AnalyticsAsking, question: UserStatsQuestion): Promise<UserStatsAnswer> {
  const conditions = { userId: question.userId, customerId: null, threadId: null, label: null, model: null };
  const needs = { metadata: true, spans: false, needles: needlesOf(conditions) };
  const endsAtMs = asking.nowMs() + ANSWER_MAX_MS;
  const sums = noSums();
  const threads = new Set<number>();
  let [firstSeenMs, lastSeenMs]: [number | null, number | null] = [null, null];
  for await (const part of goThroughTraces(asking, wholeRange(question), needs)) {
    for (const facts of part) {
      const dimensions = readDimensions(facts.metadataJson ?? '{}');
      if (!matchTrace(dimensions, conditions)) continue;
      addSums(sums, sumsOf(facts));
      if (dimensions.threadId !== null) threads.add(threadNumber(dimensions.threadId));
      firstSeenMs ??= facts.trace.startMs;
      lastSeenMs = facts.trace.startMs;
    }
    if (asking.nowMs() > endsAtMs || threads.size > THREADS_MAX) return { kind: 'too_long' };
  }
  const totals = totalsOfSums(sums, NO_DURATIONS);
  return { kind: 'stats', stats: { totals, threads: threads.size, firstSeenMs, lastSeenMs } };
}

/** So many bits that among a million threads hardly two ever have the same. */
function threadNumber(id: string): number {
  return hash('md5', id, 'buffer').readUIntBE(0, THREAD_NUMBER_BYTES);
}
