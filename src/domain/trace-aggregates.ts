/**
 * What a large trace keeps beside its totals, so that neither a read nor a further span has to look at all spans: which
 * of them speak for the trace, and how many of them say what the totals are made of. Everything in it is what a
 * recomputation over the stored spans would find.
 */

import type { SpanNumbers, SpanSummary, TraceRecord } from './trace.ts';

/** Traces of more spans keep aggregates; those of fewer are read through. */
export const SPANS_READ_THROUGH_MAX = 200;
/** Models that a trace names. */
export const MODELS_MAX = 100;

export const SUMMED = [
  'promptTokens',
  'completionTokens',
  'reasoningTokens',
  'cacheReadInputTokens',
  'cacheCreationInputTokens',
  'costNanoUsd',
] as const satisfies readonly (keyof SpanNumbers)[];

export type SpanCounts = Readonly<Record<(typeof SUMMED)[number] | 'tokensEstimated' | 'hasError', number>>;

/** Where a span stands among the others: by start, then id. */
export type Place = { readonly startedAtMs: number; readonly spanId: string };
export type FinishedPlace = Place & { readonly finishedAtMs: number };

export type TraceAggregates = {
  /** How many spans have a value. */
  readonly counts: SpanCounts;
  /** The earliest span without a stored parent; where every span has one, the earliest of all. */
  readonly root:
    | (Place & {
        readonly parentId: string | null;
        readonly isParentless: boolean;
        readonly name: string;
        readonly hasInput: boolean;
        readonly hasError: boolean;
      })
    | null;
  /** The span without a stored parent that finished last. */
  readonly lastParentless: (FinishedPlace & { readonly parentId: string | null; readonly hasOutput: boolean }) | null;
  readonly firstInput: Place | null;
  readonly lastOutput: FinishedPlace | null;
  readonly firstError: Place | null;
  /** Each where it was used last, the latest first; at most MODELS_MAX. */
  readonly models: readonly (Place & { readonly model: string })[];
};

/** The spans that speak for a trace. */
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

const OUTDATED_START = '{"outdated":';

/**
 * In place of aggregates, when a span was replaced that spoke for the trace: only a look at all spans can tell which
 * one does now, and that is left to whoever reads the trace. `changeId` is one that no other change has, so that what
 * was computed from the spans is kept only if nothing has changed since.
 */
export function outdatedAggregates(changeId: string): string {
  return `${OUTDATED_START}"${changeId}"}`;
}

/** Whether totals and aggregates of a large trace are not those of its spans any more; how many there are is. */
export function isOutdated({ spanCount, aggregatesJson }: Pick<TraceRecord, 'spanCount' | 'aggregatesJson'>): boolean {
  return spanCount > SPANS_READ_THROUGH_MAX && (aggregatesJson === null || aggregatesJson.startsWith(OUTDATED_START));
}

/** Our own stored text. */
export function readAggregates(json: string): TraceAggregates {
  return JSON.parse(json) as TraceAggregates;
}

export type Aggregator = {
  /** In any order. */
  add(span: SpanSummary, isParentless: boolean): void;
  end(): TraceAggregates;
};

/** Adds spans, one at a time, to what is known of others. */
export function createAggregator(known: TraceAggregates): Aggregator {
  const counts = { ...known.counts };
  const models = new Map(known.models.map((entry) => [entry.model, entry]));
  let { root, lastParentless, firstInput, lastOutput, firstError } = known;

  function addRoot(span: SpanSummary, isParentless: boolean): void {
    const isBetter = root === null || (isParentless === root.isParentless ? isBefore(span, root) : isParentless);
    if (isBetter) {
      const { parentId, hasInput, hasError } = span;
      root = { ...placeOf(span), parentId, isParentless, name: span.name ?? span.type, hasInput, hasError };
    }
    if (isParentless && (lastParentless === null || isFinishedAfter(span, lastParentless))) {
      lastParentless = { ...finishedPlaceOf(span), parentId: span.parentId, hasOutput: span.hasOutput };
    }
  }

  function addModel(model: string, place: Place): void {
    const entry = models.get(model);
    if (entry !== undefined && !isBefore(entry, place)) return;
    models.set(model, { ...placeOf(place), model });
    if (models.size <= MODELS_MAX) return;
    const earliest = [...models.values()].reduce((a, b) => (isBefore(b, a) ? b : a));
    models.delete(earliest.model);
  }

  return {
    add(span, isParentless) {
      addCounts(counts, span, 1);
      addRoot(span, isParentless);
      const isJudge = span.type === 'evaluation' || span.type === 'guardrail';
      if (span.hasInput && !isJudge && (firstInput === null || isBefore(span, firstInput))) firstInput = placeOf(span);
      const answers = span.hasOutput && !isJudge && span.type !== 'tool';
      if (answers && (lastOutput === null || isFinishedAfter(span, lastOutput))) lastOutput = finishedPlaceOf(span);
      if (span.hasError && (firstError === null || isBefore(span, firstError))) firstError = placeOf(span);
      if (span.model !== null) addModel(span.model, span);
    },
    end: () => ({
      counts,
      root,
      lastParentless,
      firstInput,
      lastOutput,
      firstError,
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
export function isBefore(a: Place, b: Place): boolean {
  if (a.startedAtMs !== b.startedAtMs) return a.startedAtMs < b.startedAtMs;
  // The order of the store: by UTF-8 bytes, which is not the order of JavaScript strings beyond the BMP.
  return Buffer.compare(Buffer.from(a.spanId), Buffer.from(b.spanId)) < 0;
}

/** Of several that finished together the one that started first counts as the later one. */
export function isFinishedAfter(a: FinishedPlace, b: FinishedPlace): boolean {
  return a.finishedAtMs === b.finishedAtMs ? isBefore(a, b) : a.finishedAtMs > b.finishedAtMs;
}

function placeOf({ spanId, startedAtMs }: Place): Place {
  return { spanId, startedAtMs };
}

function finishedPlaceOf({ spanId, startedAtMs, finishedAtMs }: FinishedPlace): FinishedPlace {
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
  models: [],
});
