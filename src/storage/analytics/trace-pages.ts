/** Goes through traces in the order in which they began, with what has to be known of them beside: a part at a time. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { isOutdated } from '../../domain/trace-aggregates.ts';
import type { Asking, Compiled, RowOf } from '../questions.ts';
import type * as indexSource from '../search/questions-index.ts';
import type * as source from './questions.ts';
import type * as evaluationsSource from './questions-evaluations.ts';
import type * as hoursSource from './questions-hours.ts';

type CompiledAll<Sources> = { readonly [Name in keyof Sources]: Compiled<Sources[Name]> };

/** Of the index of traces. */
type IndexQuestions = Pick<CompiledAll<typeof indexSource>, 'findHead' | 'listPending' | 'listBlocks' | 'listParts'>;

export type AnalyticsQuestions = CompiledAll<typeof source> &
  CompiledAll<typeof hoursSource> &
  CompiledAll<typeof evaluationsSource> &
  IndexQuestions;
export type AnalyticsAsking = Asking<AnalyticsQuestions> & {
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
};

export type TraceRow = RowOf<AnalyticsQuestions['listTraces']>;
export type SpanRow = RowOf<AnalyticsQuestions['listSpans']>;

/** `metadataJson` is null where it is not needed, and so are the spans, unless the totals of the trace are outdated. */
export type TraceFacts = {
  readonly trace: TraceRow;
  readonly metadataJson: string | null;
  readonly spans: readonly SpanRow[];
  readonly isOutdated: boolean;
};

/** Both ends of both belong to it. */
export type Stretch = {
  readonly projectNumber: number;
  readonly fromMs: number;
  readonly toMs: number;
  /** When the traces came in. */
  readonly receivedFromMs: number;
  readonly receivedToMs: number;
  readonly size: 'any' | 'small' | 'large';
};

export type Needs = {
  readonly metadata: boolean;
  readonly spans: boolean;
  /** Texts that the metadata of all traces in question holds, at most two; the others are left out. */
  readonly needles: readonly string[];
};

const TRACES_AT_ONCE = 1_000;
// A part may have one trace of more spans.
const SPANS_AT_ONCE = 2_000;
// Or one trace of more: a few questions at once are to fit into the heap of a thread.
const METADATA_BYTES_AT_ONCE = 2 * 1024 * 1024;
const FIRST_SEQUENCE = -1;

/** In parts; between them others have their turn. */
export async function* goThroughTraces(
  asking: AnalyticsAsking,
  { size, ...range }: Stretch,
  needs: Needs,
): AsyncGenerator<readonly TraceFacts[]> {
  const { questions, ask } = asking;
  const [firstNeedle = null, secondNeedle = null] = needs.needles;
  const { fromMs, ...bounds } = range;
  const list = questions[LISTINGS[size]];
  let [afterMs, afterSequence] = [fromMs, FIRST_SEQUENCE];
  for (;;) {
    const place = { afterMs, afterSequence, limit: TRACES_AT_ONCE };
    const given = { ...bounds, firstNeedle, secondNeedle, ...place };
    const rows: readonly TraceRow[] = await ask(list, given);
    for (const part of cutIntoParts(rows, needs)) {
      yield await readFacts(asking, bounds.projectNumber, { part, needs });
      await nextTurn();
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < TRACES_AT_ONCE) return;
    [afterMs, afterSequence] = [last.startMs, last.sequence];
  }
}

const LISTINGS = { any: 'listTraces', small: 'listSmallTraces', large: 'listLargeTraces' } as const;

function cutIntoParts(rows: readonly TraceRow[], needs: Needs): readonly (readonly TraceRow[])[] {
  const parts: TraceRow[][] = [];
  let [spans, bytes] = [0, 0];
  for (const row of rows) {
    const part = parts.at(-1);
    const ownSpans = needs.spans || isOutdated(row) ? row.spanCount : 0;
    spans += ownSpans;
    bytes += row.metadataBytes;
    const isFull = spans > SPANS_AT_ONCE || (needs.metadata && bytes > METADATA_BYTES_AT_ONCE);
    if (part !== undefined && !isFull) part.push(row);
    else {
      parts.push([row]);
      [spans, bytes] = [ownSpans, row.metadataBytes];
    }
  }
  return parts;
}

async function readFacts(
  asking: AnalyticsAsking,
  projectNumber: number,
  { part, needs }: { readonly part: readonly TraceRow[]; readonly needs: Needs },
): Promise<readonly TraceFacts[]> {
  const sequences = part.map(({ sequence }) => sequence);
  const spans = await readSpans(asking, projectNumber, needs.spans ? part : part.filter(isOutdated));
  const metadata = needs.metadata ? await asking.ask(asking.questions.listMetadata, { projectNumber, sequences }) : [];
  const metadataOf = new Map(metadata.map(({ sequence, metadataJson }) => [sequence, metadataJson]));
  return part.map((trace) => ({
    trace,
    metadataJson: metadataOf.get(trace.sequence) ?? null,
    spans: spans.get(trace.sequence) ?? [],
    isOutdated: isOutdated(trace),
  }));
}

const NO_SPANS: ReadonlyMap<number, readonly SpanRow[]> = new Map();

async function readSpans(
  { questions, ask }: AnalyticsAsking,
  projectNumber: number,
  part: readonly TraceRow[],
): Promise<ReadonlyMap<number, readonly SpanRow[]>> {
  const [first, ...others] = part;
  if (first === undefined) return NO_SPANS;
  if (others.length > 0 || first.spanCount <= SPANS_AT_ONCE) {
    const sequences = part.map(({ sequence }) => sequence);
    const spans = await ask(questions.listSpans, { projectNumber, sequences });
    return Map.groupBy(spans, ({ traceSequence }) => traceSequence);
  }
  const spans: SpanRow[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const given = { projectNumber, sequence: first.sequence, after, limit: SPANS_AT_ONCE };
    const some: readonly SpanRow[] = await ask(questions.listSpansBehind, given);
    for (const span of some) spans.push(span);
    after = some.length < SPANS_AT_ONCE ? null : (some.at(-1)?.spanId ?? null);
    if (after !== null) await nextTurn();
  }
  return new Map([[first.sequence, spans]]);
}
