/**
 * What is read of a trace that was found, the same from every store: what they are asked is compiled for each (see
 * questions.ts).
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { createStepTaker, type TakeSteps } from '../../domain/steps.ts';
import type { ListRange, StoredTrace, TraceOutline, TraceStore } from '../../domain/store.ts';
import { SPAN_TYPES } from '../../domain/trace.ts';
import { aggregatesOf, choiceOf, readAggregates, SPANS_READ_THROUGH_MAX } from '../../domain/trace-aggregates.ts';
import { beginDigest } from '../../domain/trace-digest.ts';
import type { TraceState } from '../../domain/trace-growth.ts';
import { beginRecomputation } from '../../domain/trace-recomputation.ts';
import { drawTree, layOutTree, type SpanLink } from '../../domain/trace-tree.ts';
import type { Asking, Compiled, Question } from '../questions.ts';
import { spanTypes } from '../rows/codes.ts';
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

/** What is read of traces, beside finding them. */
export type TraceReads = Pick<
  TraceStore,
  'outline' | 'digest' | 'spanOrder' | 'spanIdsOfType' | 'spans' | 'evaluationOrder' | 'evaluations'
>;

/** What may have to look at all that belongs to a trace. */
export type WholeTraceReads = Omit<TraceReads, 'spans' | 'evaluations'> & {
  /** From all its spans. */
  sums(trace: StoredTrace): Promise<TraceState>;
};

// Each span may be as large as a request.
const DIGEST_SPANS_AT_ONCE = 8;

/** Whether a trace has so many spans that looking at all of them takes long. */
export function isLarge({ spanCount }: StoredTrace): boolean {
  return spanCount > SPANS_READ_THROUGH_MAX;
}

const BEFORE_ALL = { atMs: Number.MIN_SAFE_INTEGER, id: '' };

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

  async function outline(trace: StoredTrace): Promise<TraceOutline> {
    const all = await links(trace);
    const layout = await takeSteps(layOutTree(all));
    const told = isLarge(trace) ? layout.lines : all;
    const summaries = await readEach({
      question: questions.findSummaries,
      trace,
      ids: told.map(({ spanId }) => spanId),
      idOf: ({ spanId }) => spanId,
    });
    const { aggregatesJson } = trace;
    const aggregates = aggregatesJson === null ? aggregatesOf(summaries) : readAggregates(aggregatesJson);
    const titles = new Map(summaries.map((summary) => [summary.spanId, summary]));
    return { choice: choiceOf(aggregates), tree: drawTree(layout, titles) };
  }

  async function digest(trace: StoredTrace): Promise<string> {
    const layout = await takeSteps(layOutTree(await links(trace)));
    const text = beginDigest(layout);
    const { lines } = layout;
    for (let start = 0; start < lines.length; start += DIGEST_SPANS_AT_ONCE) {
      const some = lines.slice(start, start + DIGEST_SPANS_AT_ONCE);
      const ids = some.map(({ spanId }) => spanId);
      const found = new Map((await spans(trace, ids)).map((span) => [span.spanId, span]));
      for (const line of some) {
        const span = found.get(line.spanId);
        if (span !== undefined && !text.tell(line, span)) return text.text();
      }
    }
    return text.text();
  }

  return {
    outline,
    digest,
    spans,
    async sums(trace) {
      const recomputation = beginRecomputation();
      await askForEach(questions.listLinkedSummaries, placeOf(trace), recomputation.add);
      return recomputation.end();
    },
    spanOrder: (trace, range) => ask(questions.listSpanOrder, rangeOf(trace, range)),
    async spanIdsOfType(trace, { type, order, limit }) {
      const known = SPAN_TYPES.find((each) => each === type);
      if (known === undefined) return [];
      const question = order === 'first' ? questions.listFirstOfType : questions.listLastOfType;
      const found = await ask(question, { ...placeOf(trace), type: spanTypes.code(known), limit });
      return found.map(({ spanId }) => spanId);
    },
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

/** With room for others now and then. */
export const takeInTurns: TakeSteps = createStepTaker({ nextTurn, nowMs: () => performance.now() });
