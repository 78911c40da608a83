/** Reading traces back from SQLite. */

import * as questions from '../../../gen/storage/sqlite/traces.ts';
import type { StoredTrace, TraceStore } from '../../domain/store.ts';
import type { TakeSteps, TraceReads, WholeTraceReads } from '../reading/trace-reads.ts';
import { createTraceFinder, createTraceReads } from '../traces/trace-reader.ts';
import { createAsking, prepareQuestion } from './ask.ts';
import { packPrefixRange } from './compact-ids.ts';
import type { Database } from './connection.ts';
import type { ReadLane } from './read-lane.ts';
import { prepareSums } from './sums.ts';

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
