/** What a trace shows of all its spans, put together from what a driver reads of them. The same for every driver. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Steps } from '../../domain/steps.ts';
import type { StoredTrace, TraceOutline, TraceStore } from '../../domain/store.ts';
import type { SpanSummary } from '../../domain/trace.ts';
import { aggregatesOf, choiceOf, readAggregates, SPANS_READ_THROUGH_MAX } from '../../domain/trace-aggregates.ts';
import { beginDigest } from '../../domain/trace-digest.ts';
import type { TraceState } from '../../domain/trace-growth.ts';
import { drawTree, layOutTree, type SpanLink } from '../../domain/trace-tree.ts';

/** What is read of traces, beside finding them. */
export type TraceReads = Pick<
  TraceStore,
  'outline' | 'digest' | 'spanOrder' | 'spans' | 'evaluationOrder' | 'evaluations'
>;

/** What may have to look at all that belongs to a trace. */
export type WholeTraceReads = Omit<TraceReads, 'spans' | 'evaluations'> & {
  /** From all its spans. */
  sums(trace: StoredTrace): Promise<TraceState>;
};

export type SpanReads = Pick<TraceReads, 'spans'> & {
  /** Of all spans, by start, then id. */
  links(trace: StoredTrace): Promise<readonly SpanLink[]>;
  /** Of the named spans, in any order. */
  summaries(trace: StoredTrace, spanIds: readonly string[]): Promise<readonly SpanSummary[]>;
};

/** Takes the steps of a computation to their end. */
export type TakeSteps = <T>(steps: Steps<T>) => Promise<T>;

// Each span may be as large as a request.
const DIGEST_SPANS_AT_ONCE = 8;

/** Whether a trace has so many spans that looking at all of them takes long. */
export function isLarge({ spanCount }: StoredTrace): boolean {
  return spanCount > SPANS_READ_THROUGH_MAX;
}

export function createOutlineReads(reads: SpanReads, takeSteps: TakeSteps): Pick<TraceReads, 'outline' | 'digest'> {
  async function outline(trace: StoredTrace): Promise<TraceOutline> {
    const links = await reads.links(trace);
    const layout = await takeSteps(layOutTree(links));
    const told = isLarge(trace) ? layout.lines : links;
    const summaries = await reads.summaries(
      trace,
      told.map(({ spanId }) => spanId),
    );
    const { aggregatesJson } = trace;
    const aggregates = aggregatesJson === null ? aggregatesOf(summaries) : readAggregates(aggregatesJson);
    const titles = new Map(summaries.map((summary) => [summary.spanId, summary]));
    return { choice: choiceOf(aggregates), tree: drawTree(layout, titles) };
  }

  async function digest(trace: StoredTrace): Promise<string> {
    const layout = await takeSteps(layOutTree(await reads.links(trace)));
    const text = beginDigest(layout);
    const { lines } = layout;
    for (let start = 0; start < lines.length; start += DIGEST_SPANS_AT_ONCE) {
      const some = lines.slice(start, start + DIGEST_SPANS_AT_ONCE);
      const ids = some.map(({ spanId }) => spanId);
      const spans = new Map((await reads.spans(trace, ids)).map((span) => [span.spanId, span]));
      for (const line of some) {
        const span = spans.get(line.spanId);
        if (span !== undefined && !text.tell(line, span)) return text.text();
      }
    }
    return text.text();
  }

  return { outline, digest };
}

/** With room for others after every step. */
export const takeInTurns: TakeSteps = async (steps) => {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await nextTurn();
  }
};
