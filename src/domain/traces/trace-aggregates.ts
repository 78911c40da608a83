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

/** Position of a span in the order by exact start, then id. Nanoseconds are absent where they are 0. */
type SpanPosition = { readonly startedAtMs: number; readonly startedNs?: number | null; readonly spanId: string };
type FinishedSpanPosition = SpanPosition & { readonly finishedAtMs: number; readonly finishedNs?: number | null };

type RootSpan = Pick<SpanSummary, 'parentId' | 'hasInput' | 'hasOutput' | 'hasError'> & {
  /** Whether its parent is not stored. */
  readonly isParentless: boolean;
  readonly name: string;
};

export type TraceAggregates = {
  /** Count of the spans whose share has the value. */
  readonly counts: SpanCounts;
  /** The earliest span that names no parent; else the earliest whose parent is not stored; else the earliest of all. */
  readonly root: (SpanPosition & RootSpan) | null;
  /** The span that names no parent and finished last. */
  readonly lastTopLevel: (FinishedSpanPosition & { readonly hasOutput: boolean }) | null;
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

export function choiceOf({ root, lastTopLevel, ...rest }: TraceAggregates): TraceChoice {
  const answering = [root, lastTopLevel].find((span) => span?.hasOutput) ?? rest.lastOutput;
  return {
    rootId: root?.spanId ?? null,
    inputFromId: (root?.hasInput ? root : rest.firstInput)?.spanId ?? null,
    outputFromId: answering?.spanId ?? null,
    errorFromId: (root?.hasError ? root : rest.firstError)?.spanId ?? null,
    name: root?.name ?? '',
    models: rest.models.map(({ model }) => model),
  };
}

/** Over all spans of a trace with their shares, each id once, in any order. */
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
  let { root, lastTopLevel, firstInput, lastOutput, firstError } = known;

  function addRoot(span: SpanSummary, isParentless: boolean): void {
    const { parentId, name, type, hasInput, hasOutput, hasError } = span;
    const candidate = { parentId, isParentless, name: name ?? type, hasInput, hasOutput, hasError };
    const isBetter =
      root === null || (rankOf(candidate) === rankOf(root) ? isBefore(span, root) : rankOf(candidate) < rankOf(root));
    if (isBetter) root = { ...positionOf(span), ...candidate };
    if (parentId === null && (lastTopLevel === null || isFinishedAfter(span, lastTopLevel))) {
      lastTopLevel = { ...finishedPositionOf(span), hasOutput };
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
      lastTopLevel,
      firstInput,
      lastOutput,
      firstError,
      hasNodes: known.hasNodes,
      models: [...models.values()].sort((a, b) => (isBefore(b, a) ? -1 : 1)),
    }),
  };
}

/** A span that names no parent stands before one whose parent may still arrive. */
function rankOf({ parentId, isParentless }: Pick<RootSpan, 'parentId' | 'isParentless'>): number {
  if (parentId === null) return 0;
  return isParentless ? 1 : 2;
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

/** By exact start, then id. */
export function isBefore(a: SpanPosition, b: SpanPosition): boolean {
  if (a.startedAtMs !== b.startedAtMs) return a.startedAtMs < b.startedAtMs;
  const [startedNs, otherNs] = [a.startedNs ?? 0, b.startedNs ?? 0];
  if (startedNs !== otherNs) return startedNs < otherNs;
  // The store orders by UTF-8 bytes; JavaScript orders strings beyond the BMP differently.
  return Buffer.compare(Buffer.from(a.spanId), Buffer.from(b.spanId)) < 0;
}

/** Of spans that finished together, the first to start counts as the later. */
export function isFinishedAfter(a: FinishedSpanPosition, b: FinishedSpanPosition): boolean {
  if (a.finishedAtMs !== b.finishedAtMs) return a.finishedAtMs > b.finishedAtMs;
  const [finishedNs, otherNs] = [a.finishedNs ?? 0, b.finishedNs ?? 0];
  return finishedNs === otherNs ? isBefore(a, b) : finishedNs > otherNs;
}

function positionOf({ spanId, startedAtMs, startedNs }: SpanPosition): SpanPosition {
  return isWhole(startedNs) ? { spanId, startedAtMs } : { spanId, startedAtMs, startedNs };
}

function finishedPositionOf(span: FinishedSpanPosition): FinishedSpanPosition {
  const { finishedAtMs, finishedNs } = span;
  const position = { ...positionOf(span), finishedAtMs };
  return isWhole(finishedNs) ? position : { ...position, finishedNs };
}

/** Whether the instant is a whole millisecond. */
function isWhole(ns: number | null | undefined): ns is null | undefined {
  return ns === null || ns === undefined;
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
  lastTopLevel: null,
  firstInput: null,
  lastOutput: null,
  firstError: null,
  hasNodes: false,
  models: [],
});
