/** Reading traces back from PostgreSQL. */

import * as analyticsQuestions from '../../../../gen/storage/postgres/analytics.ts';
import * as evaluationQuestions from '../../../../gen/storage/postgres/analytics-evaluations.ts';
import * as hourQuestions from '../../../../gen/storage/postgres/analytics-hours.ts';
import * as searchQuestions from '../../../../gen/storage/postgres/search.ts';
import * as indexQuestions from '../../../../gen/storage/postgres/search-index.ts';
import * as questions from '../../../../gen/storage/postgres/traces.ts';
import type { TraceStore } from '../../../domain/store.ts';
import type { TraceAnalytics } from '../../../domain/trace-analytics-store.ts';
import type { TraceSearch } from '../../../domain/trace-search-store.ts';
import { createTraceAnalytics } from '../../analytics/trace-analytics.ts';
import type { TransactAll } from '../../questions.ts';
import { createIndexReads, type IndexReads } from '../../search/index-builder.ts';
import { limitSearches } from '../../search/search-limiter.ts';
import { createTraceSearch } from '../../search/trace-search.ts';
import { completeSums } from '../../traces/complete-sums.ts';
import { createLimiter } from '../../traces/limiter.ts';
import { createKeepSums, createTraceFinder, textRange } from '../../traces/trace-finder.ts';
import { createTraceReads, isLarge, takeInTurns } from '../../traces/trace-reads.ts';
import { askInParts, createAsking } from './ask.ts';
import type { Lane } from './connection.ts';

// What looks at all spans of a trace holds all of their ids.
const WHOLE_TRACES = { runningMax: 2, waitingMax: 64 };

/** `transact` is for what a read has found out and is worth keeping. */
export function createTraceReader(lane: Lane, transact: TransactAll): Omit<TraceStore, 'append' | 'appendBatch'> {
  const limit = createLimiter(WHOLE_TRACES);
  const asking = createAsking(lane, questions);
  const reads = createTraceReads(
    { ...asking, askForEach: (question, given, take) => askInParts(lane, { question, given, take }) },
    takeInTurns,
  );
  const finder = createTraceFinder(asking, (prefix) => [textRange(prefix)]);
  return {
    ...reads,
    ...finder,
    find: completeSums({
      find: finder.find,
      sums: (trace) => limit(() => reads.sums(trace)),
      keep: createKeepSums(transact),
    }),
    outline: (trace) => (isLarge(trace) ? limit(() => reads.outline(trace)) : reads.outline(trace)),
    digest: (trace) => (isLarge(trace) ? limit(() => reads.digest(trace)) : reads.digest(trace)),
  };
}

/** At most so many go through traces at once: connections are few. */
export function createSearch(lane: Lane): TraceSearch & IndexReads {
  const asking = createAsking(lane, { ...searchQuestions, ...indexQuestions });
  const searching = { ...asking, nowMs: () => performance.now() };
  const { find, match } = createTraceSearch(searching);
  return { find: limitSearches(find), match, ...createIndexReads(searching) };
}

/** The same bound. */
export function createAnalytics(lane: Lane): TraceAnalytics {
  const questions = { ...analyticsQuestions, ...hourQuestions, ...indexQuestions, ...evaluationQuestions };
  const asking = { ...createAsking(lane, questions), nowMs: () => performance.now() };
  const { summarise, statsOfUser, sumUpEvaluations } = createTraceAnalytics(asking);
  return {
    summarise: limitSearches(summarise),
    statsOfUser: limitSearches(statsOfUser),
    sumUpEvaluations: limitSearches(sumUpEvaluations),
  };
}
