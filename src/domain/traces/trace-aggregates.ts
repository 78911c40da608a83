/**
 * What a large trace stores beside its totals, so that neither a read nor a further span needs all spans: which spans
 * represent the trace, and how many spans have each summed value. A recomputation over the stored spans finds the same.
 */

import { type SpanSummary, SUMMED, type SummedName, type TraceRecord } from './trace.ts';

/** Traces with more spans keep aggregates; smaller ones are read whole. */
export const SPANS_READ_THROUGH_MAX = 200;
/** Models listed for a trace. */
const MODELS_MAX = 100;

export type SpanCounts = Readonly<Record<SummedName | 'tokensEstimated' | 'hasError', number>>;

/** Position of a span in the order by start, then id. */
type SpanPosition = { readonly startedAtMs: number; readonly spanId: string };
type FinishedSpanPosition = SpanPosition & { readonly finishedAtMs: number };

export type TraceAggregates = {
  /** Span count for each value. */
  readonly counts: SpanCounts;
  /** The earliest span without a stored parent; where every span has one, the earliest of all. */
  readonly root:
    | (SpanPosition & {
        readonly parentId: string | null;
        readonly isParentless: boolean;
        readonly name: string;
        readonly hasInput: boolean;
        readonly hasError: boolean;
      })
    | null;
  /** The span without a stored parent that finished last. */
  readonly lastParentless:
    | (FinishedSpanPosition & { readonly parentId: string | null; readonly hasOutput: boolean })
    | null;
  readonly firstInput: SpanPosition | null;
  readonly lastOutput: FinishedSpanPosition | null;
  readonly firstError: SpanPosition | null;
  /** Whether every span has a node of shares/usage-node.ts. */
  readonly hasNodes: boolean;
  /** Each with its latest span, latest first; at most MODELS_MAX. */
  readonly models: readonly (SpanPosition & { readonly model: string })[];
};

/** The spans that represent a trace. */
export type TraceChoice = {
  readonly rootId: string | null;
  readonly inputFromId: string | null;
  readonly outputFromId: string | null;
  readonly errorFromId: string | null;
  readonly name: string;
  /** Distinct, latest started first. */
  readonly models: readonly string[];
};

export function choiceOf({ root, lastParentless, ...rest }: TraceAggregates): TraceChoice {
  return {
    rootId: root?.spanId ?? null,
    inputFromId: (root?.hasInput ? root : rest.firstInput)?.spanId ?? null,
    outputFromId: (lastParentless?.hasOutput ? lastParentless : rest.lastOutput)?.spanId ?? null,
    errorFromId: (root?.hasError ? root : rest.firstError)?.spanId ?? null,
    name: root?.name ?? '',
    models: rest.models.map(({ model }) => model),
  };
}

/** Over all spans of a trace, each id once, in any order. */
export function aggregatesOf(spans: readonly SpanSummary[]): TraceAggregates {
  const storedIds = new Set(spans.map(({ spanId }) => spanId));
  const aggregator = createAggregator(NO_AGGREGATES);
  for (const span of spans) aggregator.add(span, span.parentId === null || !storedIds.has(span.parentId));
  return aggregator.end();
}

/** The beginning of aggregates that are to be recomputed. */
export const OUTDATED_START = '{"outdated":';

/**
 * Replaces aggregates when a change needs all spans to be read again: the next read of the trace recomputes them.
 * `changeId` is unique to the change, so a recomputation is stored only if nothing has changed since.
 */
export function outdatedAggregates(changeId: string, hasNodes: boolean): string {
  return `${OUTDATED_START}"${changeId}","hasNodes":${hasNodes}}`;
}

/** Whether every span of a large trace has a node, also while its aggregates are outdated. */
export function hasNodes(aggregatesJson: string | null): boolean {
  return aggregatesJson !== null && (JSON.parse(aggregatesJson) as Partial<TraceAggregates>).hasNodes === true;
}

/** Whether totals and aggregates of a large trace need recomputation; its span count is always right. */
export function isOutdated({ spanCount, aggregatesJson }: Pick<TraceRecord, 'spanCount' | 'aggregatesJson'>): boolean {
  return spanCount > SPANS_READ_THROUGH_MAX && (aggregatesJson === null || aggregatesJson.startsWith(OUTDATED_START));
}

/** Trusts stored text. */
export function readAggregates(json: string): TraceAggregates {
  return JSON.parse(json) as TraceAggregates;
}

/** Adds spans, one at a time, to known aggregates. */
export function createAggregator(known: TraceAggregates) {
  const counts = { ...known.counts };
  const models = new Map(known.models.map((entry) => [entry.model, entry]));
  let { root, lastParentless, firstInput, lastOutput, firstError } = known;

  function addRoot(span: SpanSummary, isParentless: boolean): void {
    const isBetter = root === null || (isParentless === root.isParentless ? isBefore(span, root) : isParentless);
    if (isBetter) {
      const { parentId, hasInput, hasError } = span;
      root = { ...positionOf(span), parentId, isParentless, name: span.name ?? span.type, hasInput, hasError };
    }
    if (isParentless && (lastParentless === null || isFinishedAfter(span, lastParentless))) {
      lastParentless = { ...finishedPositionOf(span), parentId: span.parentId, hasOutput: span.hasOutput };
    }
  }

  function addModel(model: string, position: SpanPosition): void {
    const entry = models.get(model);
    if (entry !== undefined && !isBefore(entry, position)) return;
    models.set(model, { ...positionOf(position), model });
    if (models.size <= MODELS_MAX) return;
    const earliest = [...models.values()].reduce((a, b) => (isBefore(b, a) ? b : a));
    models.delete(earliest.model);
  }

  return {
    /** In any order. */
    add(span: SpanSummary, isParentless: boolean): void {
      addCounts(counts, span, 1);
      addRoot(span, isParentless);
      const isJudge = span.type === 'evaluation' || span.type === 'guardrail';
      if (span.hasInput && !isJudge && (firstInput === null || isBefore(span, firstInput)))
        firstInput = positionOf(span);
      const answers = span.hasOutput && !isJudge && span.type !== 'tool';
      if (answers && (lastOutput === null || isFinishedAfter(span, lastOutput))) lastOutput = finishedPositionOf(span);
      if (span.hasError && (firstError === null || isBefore(span, firstError))) firstError = positionOf(span);
      if (span.model !== null) addModel(span.model, span);
    },
    end: (): TraceAggregates => ({
      counts,
      root,
      lastParentless,
      firstInput,
      lastOutput,
      firstError,
      hasNodes: known.hasNodes,
      models: [...models.values()].sort((a, b) => (isBefore(b, a) ? -1 : 1)),
    }),
  };
}

export function addCounts(
  counts: { -readonly [K in keyof SpanCounts]: number },
  span: SpanSummary,
  times: 1 | -1,
): void {
  for (const name of SUMMED) if (span[name] !== null) counts[name] += times;
  if (span.tokensEstimated) counts.tokensEstimated += times;
  if (span.hasError) counts.hasError += times;
}

/** By start, then id. */
export function isBefore(a: SpanPosition, b: SpanPosition): boolean {
  if (a.startedAtMs !== b.startedAtMs) return a.startedAtMs < b.startedAtMs;
  // The store orders by UTF-8 bytes; JavaScript orders strings beyond the BMP differently.
  return Buffer.compare(Buffer.from(a.spanId), Buffer.from(b.spanId)) < 0;
}

/** Of spans that finished together, the first to start counts as the later. */
export function isFinishedAfter(a: FinishedSpanPosition, b: FinishedSpanPosition): boolean {
  return a.finishedAtMs === b.finishedAtMs ? isBefore(a, b) : a.finishedAtMs > b.finishedAtMs;
}

function positionOf({ spanId, startedAtMs }: SpanPosition): SpanPosition {
  return { spanId, startedAtMs };
}

function finishedPositionOf({ spanId, startedAtMs, finishedAtMs }: FinishedSpanPosition): FinishedSpanPosition {
  return { spanId, startedAtMs, finishedAtMs };
}

export const NO_AGGREGATES: TraceAggregates = Object.freeze({
  counts: {
    promptTokens: 0,
    completionTokens: 0,
    reasoningTokens: 0,
    cacheReadInputTokens: 0,
    cacheCreationInputTokens: 0,
    costNanoUsd: 0,
    tokensEstimated: 0,
    hasError: 0,
  },
  root: null,
  lastParentless: null,
  firstInput: null,
  lastOutput: null,
  firstError: null,
  hasNodes: false,
  models: [],
});
