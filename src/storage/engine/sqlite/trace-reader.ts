/** Reading traces back from SQLite. */

import * as questions from '../../../../gen/storage/sqlite/traces.ts';
import type { StoredTrace, TraceStore } from '../../../domain/store.ts';
import type { TraceState } from '../../../domain/trace-growth.ts';
import { beginRecomputation } from '../../../domain/trace-recomputation.ts';
import type { KeepSums } from '../../reading/complete-sums.ts';
import { isLarge, type TakeSteps, type TraceReads, type WholeTraceReads } from '../../reading/trace-reads.ts';
import { sumsToKeep } from '../../traces/sums.ts';
import { createTraceFinder, createTraceReads } from '../../traces/trace-reader.ts';
import { createAsking, prepareChange, prepareQuestion } from './ask.ts';
import { packPrefixRange } from './compact-ids.ts';
import type { Database, ReadLane } from './connection.ts';

export type TraceFinder = Pick<TraceStore, 'find' | 'findByPrefix'>;

export type TraceReader = TraceReads &
  WholeTraceReads & {
    /** Whether the trace has so many evaluations that looking at all of them takes long. */
    hasManyEvaluations(trace: StoredTrace): Promise<boolean>;
  };

const EVALUATIONS_SOON_READ_MAX = 200;
const LAST_CHARACTER = '\u{10ffff}';

export function prepareTraceFinder(db: Database, lane: ReadLane): TraceFinder {
  const { all: listTraceIds } = prepareQuestion(db, questions.listTraceIds);
  return {
    find: createTraceFinder(createAsking(db, lane, questions)),
    // Ids are kept in two forms, of which each has an order of its own.
    findByPrefix: (projectNumber, prefix, sinceMs, limit) =>
      lane(() => {
        const inText = { first: prefix, last: prefix + LAST_CHARACTER };
        const ranges = [inText, packPrefixRange(prefix)].filter((range) => range !== null);
        const found = ranges.flatMap((range) => listTraceIds({ projectNumber, ...range, sinceMs, limit }));
        return found
          .map(({ traceId }) => traceId)
          .sort()
          .slice(0, limit);
      }),
  };
}

export function prepareTraceReader(db: Database, lane: ReadLane, takeSteps: TakeSteps): TraceReader {
  const asking = createAsking(db, lane, questions);
  const sums = prepareSums(db);
  return {
    ...createTraceReads({ ...asking, askMuch: asking.ask }, takeSteps),
    sums: (trace) => lane(() => sums(trace)),
    hasManyEvaluations: async ({ projectNumber, sequence }) => {
      const given = { projectNumber, sequence, count: EVALUATIONS_SOON_READ_MAX };
      return (await asking.ask(questions.findEvaluationBeyond, given)).length > 0;
    },
  };
}

/** Takes as long as there are spans, so it is for threads that read. */
function prepareSums(db: Database): (trace: StoredTrace) => TraceState {
  const linkedSummaries = prepareQuestion(db, questions.listLinkedSummaries);
  return ({ projectNumber, sequence }) => {
    const recomputation = beginRecomputation();
    for (const span of linkedSummaries.iterate({ projectNumber, sequence })) recomputation.add(span);
    return recomputation.end();
  };
}

export function prepareKeepSums(db: Database): (...args: Parameters<KeepSums>) => void {
  const keep = prepareChange(db, questions.keepSums);
  return (trace, sums) => void keep(sumsToKeep(trace, sums));
}

/** Sends each read of a trace to where it holds up nobody: what is known to be short is read at once, all else in a thread. */
export function sortOutReads(short: TraceReader, long: WholeTraceReads): TraceReads {
  const readsOf = (trace: StoredTrace): WholeTraceReads => (isLarge(trace) ? long : short);
  return {
    outline: (trace) => readsOf(trace).outline(keyOf(trace)),
    // However few the spans are, their texts may be large, and a digest has to understand them.
    digest: (trace) => long.digest(keyOf(trace)),
    spanOrder: (trace, range) => readsOf(trace).spanOrder(keyOf(trace), range),
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
