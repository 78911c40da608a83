/** Reading traces back from PostgreSQL. */

import * as questions from '../../../../gen/storage/postgres/traces.ts';
import type { StoredTrace, TraceStore } from '../../../domain/store.ts';
import type { TraceState } from '../../../domain/trace-growth.ts';
import { beginRecomputation } from '../../../domain/trace-recomputation.ts';
import type { Question } from '../../questions.ts';
import { completeSums } from '../../reading/complete-sums.ts';
import { createLimiter } from '../../reading/limiter.ts';
import { isLarge, takeInTurns } from '../../reading/trace-reads.ts';
import { sumsToKeep } from '../../traces/sums.ts';
import { createTraceFinder, createTraceReads, type TraceAsking } from '../../traces/trace-reader.ts';
import { askInParts, changeRows, createAsking } from './ask.ts';
import type { Lane } from './connection.ts';

export type TraceReader = Omit<TraceStore, 'append' | 'appendBatch'>;

// What looks at all spans of a trace holds all of their ids.
const WHOLE_TRACES = { runningMax: 2, waitingMax: 64 };
const LAST_CHARACTER = '\u{10ffff}';

/** `writes` is for what a read has found out and is worth keeping. */
export function createTraceReader(lane: Lane, writes: Lane): TraceReader {
  const limit = createLimiter(WHOLE_TRACES);
  const asking: TraceAsking = {
    ...createAsking(lane, questions),
    askMuch: (question, given) => askMuch(lane, question, given),
  };
  const reads = createTraceReads(asking, takeInTurns);

  return {
    ...reads,
    find: completeSums({
      find: createTraceFinder(asking),
      sums: (trace) => limit(() => recompute(lane, trace)),
      keep: (...kept) => changeRows(writes, questions.keepSums, sumsToKeep(...kept)),
    }),
    findByPrefix: async (projectNumber, prefix, sinceMs, countMax) => {
      const given = { projectNumber, first: prefix, last: prefix + LAST_CHARACTER, sinceMs, limit: countMax };
      return (await asking.ask(questions.listTraceIds, given)).map(({ traceId }) => traceId);
    },
    outline: (trace) => (isLarge(trace) ? limit(() => reads.outline(trace)) : reads.outline(trace)),
    digest: (trace) => (isLarge(trace) ? limit(() => reads.digest(trace)) : reads.digest(trace)),
  };
}

async function askMuch<Params, Row>(lane: Lane, question: Question<Params, Row>, given: Params) {
  const found: Row[] = [];
  await askInParts(lane, { question, given, take: (row) => found.push(row) });
  return found;
}

async function recompute(lane: Lane, { projectNumber, sequence }: StoredTrace): Promise<TraceState> {
  const recomputation = beginRecomputation();
  const given = { projectNumber, sequence };
  await askInParts(lane, { question: questions.listLinkedSummaries, given, take: recomputation.add });
  return recomputation.end();
}
