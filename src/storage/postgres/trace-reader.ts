/** Reading traces back from PostgreSQL. */

import * as questions from '../../../gen/storage/postgres/traces.ts';
import type { TraceStore } from '../../domain/store.ts';
import type { Question } from '../questions.ts';
import { completeSums } from '../reading/complete-sums.ts';
import { createLimiter } from '../reading/limiter.ts';
import { isLarge, takeInTurns } from '../reading/trace-reads.ts';
import { type Asking, createTraceFinder, createTraceReads } from '../traces/trace-reader.ts';
import { keepSums, readSums } from './aggregates.ts';
import { askQuestion, knowableCells } from './ask.ts';
import type { Lane } from './connection.ts';
import { isGivenUp, isStorageFailure, storageFault } from './failures.ts';

export type TraceReader = Omit<TraceStore, 'append'>;

// What looks at all spans of a trace holds all of their ids.
const WHOLE_TRACES = { runningMax: 2, waitingMax: 64 };
const ROWS_PER_PART = 2000;
const IDS_AT_ONCE = 250;
const LAST_CHARACTER = '\u{10ffff}';

/** `writes` is for what a read has found out and is worth keeping. */
export function createTraceReader(lane: Lane, writes: Lane): TraceReader {
  const limit = createLimiter(WHOLE_TRACES);
  const asking: Asking = {
    questions,
    ask: (question, given) => askQuestion(lane, question, given),
    askMuch: (question, given) => askInParts(lane, question, given),
    idsAtOnce: IDS_AT_ONCE,
  };
  const reads = createTraceReads(asking, takeInTurns);

  return {
    ...reads,
    find: completeSums({
      find: createTraceFinder(asking),
      sums: (trace) => limit(() => readSums(lane, trace)),
      keep: (...kept) => keepSums(writes, ...kept),
    }),
    findByPrefix: async (projectNumber, prefix, sinceMs, countMax) => {
      const given = { projectNumber, first: prefix, last: prefix + LAST_CHARACTER, sinceMs, limit: countMax };
      return (await asking.ask(questions.listTraceIds, given)).map(({ traceId }) => traceId);
    },
    outline: (trace) => (isLarge(trace) ? limit(() => reads.outline(trace)) : reads.outline(trace)),
    digest: (trace) => (isLarge(trace) ? limit(() => reads.digest(trace)) : reads.digest(trace)),
  };
}

/** Sorted once, then handed over in parts. */
async function askInParts<Params, Row>(
  lane: Lane,
  question: Question<Params, Row>,
  given: Params,
): Promise<readonly Row[]> {
  const values = knowableCells(question.cells(given));
  if (values === null) return [];
  try {
    return await lane.hold(async (client) => {
      const found: Row[] = [];
      await client.query('BEGIN READ ONLY');
      await client.query({ text: `DECLARE parts CURSOR FOR ${question.text}`, values });
      for (;;) {
        const { rows } = await client.query<never>(`FETCH ${ROWS_PER_PART} FROM parts`);
        for (const row of rows) found.push(question.row(row));
        if (rows.length < ROWS_PER_PART) break;
      }
      await client.query('COMMIT');
      return found;
    });
  } catch (error) {
    throw isStorageFailure(error) || isGivenUp(error) ? storageFault(error) : error;
  }
}
