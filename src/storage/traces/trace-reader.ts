/** Reads traces back, the same from every store: what they are asked is compiled for each (see questions.ts). */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ListRange, StoredTrace, TraceStore } from '../../domain/store.ts';
import type { Ask, Asking, Compiled, Question } from '../questions.ts';
import { createOutlineReads, isLarge, type TakeSteps, type TraceReads } from '../reading/trace-reads.ts';
import type * as source from './questions.ts';

export type TraceQuestions = {
  readonly [Name in
    | 'findTrace'
    | 'listLinks'
    | 'findSummaries'
    | 'findSpans'
    | 'listSpanOrder'
    | 'listEvaluationOrder'
    | 'findEvaluations']: Compiled<(typeof source)[Name]>;
};

export type TraceAsking = Asking<TraceQuestions> & {
  /** The same where there may be very many rows: in parts, with room for others in between, if that holds up anybody. */
  readonly askMuch: Ask;
};

const BEFORE_ALL = { atMs: Number.MIN_SAFE_INTEGER, id: '' };

export function createTraceFinder({ questions, ask }: Asking<TraceQuestions>): TraceStore['find'] {
  return async (projectNumber, traceId) => (await ask(questions.findTrace, { projectNumber, traceId }))[0] ?? null;
}

export function createTraceReads(asking: TraceAsking, takeSteps: TakeSteps): TraceReads {
  const { questions, ask, askMuch, idsAtOnce } = asking;

  /** The rows of the given ids that there are, in their order. */
  async function readEach<Row>({ question, trace, ids, idOf }: Reading<Row>): Promise<readonly Row[]> {
    const found: Row[] = [];
    for (let start = 0; start < ids.length; start += idsAtOnce) {
      if (start > 0) await nextTurn();
      const some = ids.slice(start, start + idsAtOnce);
      const rows = await ask(question, { ...placeOf(trace), ids: some });
      const byId = new Map(rows.map((row) => [idOf(row), row]));
      for (const id of some) {
        const row = byId.get(id);
        if (row !== undefined) found.push(row);
      }
    }
    return found;
  }

  const spans: TraceReads['spans'] = (trace, ids) =>
    readEach({ question: questions.findSpans, trace, ids, idOf: ({ spanId }) => spanId });

  return {
    ...createOutlineReads(
      {
        spans,
        links: (trace) => (isLarge(trace) ? askMuch : ask)(questions.listLinks, placeOf(trace)),
        summaries: (trace, ids) =>
          readEach({ question: questions.findSummaries, trace, ids, idOf: ({ spanId }) => spanId }),
      },
      takeSteps,
    ),
    spans,
    spanOrder: (trace, range) => ask(questions.listSpanOrder, rangeOf(trace, range)),
    evaluationOrder: (trace, range) => ask(questions.listEvaluationOrder, rangeOf(trace, range)),
    evaluations: (trace, ids) =>
      readEach({ question: questions.findEvaluations, trace, ids, idOf: ({ evaluationId }) => evaluationId }),
  };
}

type OfSome = ReturnType<typeof placeOf> & { readonly ids: readonly string[] };

type Reading<Row> = {
  readonly question: Question<OfSome, Row>;
  readonly trace: StoredTrace;
  readonly ids: readonly string[];
  readonly idOf: (row: Row) => string;
};

function placeOf({ projectNumber, sequence }: StoredTrace) {
  return { projectNumber, sequence };
}

function rangeOf(trace: StoredTrace, { after, limit }: ListRange) {
  return { ...placeOf(trace), ...(after ?? BEFORE_ALL), limit };
}
