/** Reading traces back from SQLite. */

import * as analyticsQuestions from '../../../../gen/storage/sqlite/analytics.ts';
import * as evaluationQuestions from '../../../../gen/storage/sqlite/analytics-evaluations.ts';
import * as hourQuestions from '../../../../gen/storage/sqlite/analytics-hours.ts';
import * as searchQuestions from '../../../../gen/storage/sqlite/search.ts';
import * as indexQuestions from '../../../../gen/storage/sqlite/search-index.ts';
import * as questions from '../../../../gen/storage/sqlite/traces.ts';
import type { TakeSteps } from '../../../domain/steps.ts';
import type { StoredTrace, TraceStore } from '../../../domain/store.ts';
import type { TraceAnalytics } from '../../../domain/trace-analytics-store.ts';
import type { TraceSearch } from '../../../domain/trace-search-store.ts';
import { createTraceAnalytics } from '../../analytics/trace-analytics.ts';
import { createIndexReads, type IndexReads } from '../../search/index-builder.ts';
import { createTraceSearch } from '../../search/trace-search.ts';
import { createTraceFinder, textRange } from '../../traces/trace-finder.ts';
import { createTraceReads, isLarge, type TraceReads, type WholeTraceReads } from '../../traces/trace-reads.ts';
import { createAsking, prepareQuestion } from './ask.ts';
import { packPrefixRange } from './compact-ids.ts';
import type { Database, ReadLane } from './connection.ts';

export type TraceReader = TraceReads &
  WholeTraceReads & {
    /** Whether the trace has so many evaluations that looking at all of them takes long. */
    hasManyEvaluations(trace: StoredTrace): Promise<boolean>;
  };

const EVALUATIONS_SOON_READ_MAX = 200;

export function createFinder(db: Database, lane: ReadLane): Pick<TraceStore, 'find' | 'findByPrefix'> {
  return createTraceFinder(createAsking(db, lane, questions), (prefix) =>
    [textRange(prefix), packPrefixRange(prefix)].filter((range) => range !== null),
  );
}

export function createTraceReader(db: Database, lane: ReadLane, takeSteps: TakeSteps): TraceReader {
  const asking = createAsking(db, lane, questions);
  return {
    ...createTraceReads(
      {
        ...asking,
        askForEach: (question, given, take) =>
          lane(() => {
            for (const row of prepareQuestion(db, question).iterate(given)) take(row);
          }),
      },
      takeSteps,
    ),
    hasManyEvaluations: async ({ projectNumber, sequence }) => {
      const given = { projectNumber, sequence, count: EVALUATIONS_SOON_READ_MAX };
      return (await asking.ask(questions.findEvaluationBeyond, given)).length > 0;
    },
  };
}

export function createSearch(db: Database, lane: ReadLane): TraceSearch & IndexReads {
  const asking = createAsking(db, lane, { ...searchQuestions, ...indexQuestions });
  const searching = { ...asking, nowMs: () => performance.now() };
  return { ...createTraceSearch(searching), ...createIndexReads(searching) };
}

export function createAnalytics(db: Database, lane: ReadLane): TraceAnalytics {
  const questions = { ...analyticsQuestions, ...hourQuestions, ...indexQuestions, ...evaluationQuestions };
  return createTraceAnalytics({ ...createAsking(db, lane, questions), nowMs: () => performance.now() });
}

/** Sends each read of a trace to where it holds up nobody: what is known to be short is read at once, all else in a thread. */
export function sortOutReads(short: TraceReader, long: WholeTraceReads): TraceReads {
  const readsOf = (trace: StoredTrace): WholeTraceReads => (isLarge(trace) ? long : short);
  return {
    outline: (trace) => readsOf(trace).outline(keyOf(trace)),
    // However few the spans are, their texts may be large, and a digest has to understand them.
    digest: (trace) => long.digest(keyOf(trace)),
    spanOrder: (trace, range) => readsOf(trace).spanOrder(keyOf(trace), range),
    spanIdsOfType: (trace, question) => readsOf(trace).spanIdsOfType(keyOf(trace), question),
    evaluationOrder: async (trace, range) =>
      await ((await short.hasManyEvaluations(trace)) ? long : short).evaluationOrder(keyOf(trace), range),
    // Found by their keys, a few at a time: handing them over from a thread takes longer than reading them.
    spans: short.spans,
    evaluations: short.evaluations,
  };
}

/** Whatever else is known of the trace may be large, and is not handed over. */
function keyOf({ projectNumber, sequence, spanCount, aggregatesJson }: StoredTrace): StoredTrace {
  return { projectNumber, sequence, spanCount, aggregatesJson };
}
