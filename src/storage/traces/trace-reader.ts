/** Reads traces back, the same from every store: what they are asked is compiled for each (see questions.ts). */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ListRange, StoredTrace, TraceStore } from '../../domain/store.ts';
import { beginRecomputation } from '../../domain/trace-recomputation.ts';
import type { SpanLink } from '../../domain/trace-tree.ts';
import type { Asking, Compiled, Question, Transact } from '../questions.ts';
import type { KeepSums } from '../reading/complete-sums.ts';
import {
  createOutlineReads,
  isLarge,
  type TakeSteps,
  type TraceReads,
  type WholeTraceReads,
} from '../reading/trace-reads.ts';
import type * as source from './questions.ts';

export type TraceQuestions = { readonly [Name in keyof typeof source]: Compiled<(typeof source)[Name]> };

export type TraceAsking = Asking<TraceQuestions> & {
  /** Hands over each row where there may be very many of them: in parts, if that leaves room for others. */
  readonly askForEach: <Params, Row>(
    question: Question<Params, Row>,
    given: Params,
    take: (row: Row) => void,
  ) => Promise<void>;
};

/** Ids between two bounds, as the store keeps them. */
export type IdRange = { readonly first: string | Buffer; readonly last: string | Buffer };

const LAST_CHARACTER = '\u{10ffff}';
const BEFORE_ALL = { atMs: Number.MIN_SAFE_INTEGER, id: '' };

/** `rangesOf`: where the ids are that begin with a prefix. Ids of two forms have an order each. */
export function createTraceFinder(
  { questions, ask }: Asking<TraceQuestions>,
  rangesOf: (prefix: string) => readonly IdRange[],
): Pick<TraceStore, 'find' | 'findByPrefix'> {
  return {
    find: async (projectNumber, traceId) => (await ask(questions.findTrace, { projectNumber, traceId }))[0] ?? null,
    async findByPrefix(projectNumber, prefix, sinceMs, limit) {
      const found = rangesOf(prefix).map((range) =>
        ask(questions.listTraceIds, { projectNumber, ...range, sinceMs, limit }),
      );
      const ids = (await Promise.all(found)).flat().map(({ traceId }) => traceId);
      return ids.sort().slice(0, limit);
    },
  };
}

/** All that begin with it, as text. */
export function textRange(prefix: string): IdRange {
  return { first: prefix, last: prefix + LAST_CHARACTER };
}

export function createKeepSums({ keepSums }: TraceQuestions, transact: Transact): KeepSums {
  return async ({ projectNumber, traceId, sequence, aggregatesJson: foundJson }, { totals, aggregatesJson }) => {
    const { startedAtMs, finishedAtMs } = totals;
    const durationMs = startedAtMs === null || finishedAtMs === null ? null : finishedAtMs - startedAtMs;
    const place = { projectNumber, traceId, sequence };
    await transact(({ change }) => change(keepSums, { ...totals, ...place, durationMs, aggregatesJson, foundJson }));
  };
}

export function createTraceReads(asking: TraceAsking, takeSteps: TakeSteps): TraceReads & WholeTraceReads {
  const { questions, ask, askForEach, idsAtOnce } = asking;

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

  async function links(trace: StoredTrace): Promise<readonly SpanLink[]> {
    if (!isLarge(trace)) return await ask(questions.listLinks, placeOf(trace));
    const found: SpanLink[] = [];
    await askForEach(questions.listLinks, placeOf(trace), (link) => found.push(link));
    return found;
  }

  const spans: TraceReads['spans'] = (trace, ids) =>
    readEach({ question: questions.findSpans, trace, ids, idOf: ({ spanId }) => spanId });

  return {
    ...createOutlineReads(
      {
        spans,
        links,
        summaries: (trace, ids) =>
          readEach({ question: questions.findSummaries, trace, ids, idOf: ({ spanId }) => spanId }),
      },
      takeSteps,
    ),
    spans,
    async sums(trace) {
      const recomputation = beginRecomputation();
      await askForEach(questions.listLinkedSummaries, placeOf(trace), recomputation.add);
      return recomputation.end();
    },
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
