/** Measuring of stored spans: what shares need of spans that were stored before shares existed. */

import type { Organization, Project } from '../caller.ts';
import type { AppendTables, TraceKey } from '../events/append-tables.ts';
import { requestIdOfStored } from '../traces/request-ids.ts';
import type { Replaced, Span } from '../traces/trace.ts';
import { changeSpans, type PricedSpan } from './repricing.ts';

/** A trace that may have spans to measure, with what its prices depend on. */
export type MeasuredTrace = {
  readonly projectNumber: Project['number'];
  readonly sequence: number;
  readonly traceId: string;
  readonly spanCount: number;
  readonly organizationId: Organization['id'];
  readonly priceVersion: Organization['priceVersion'];
};

export type UnmeasuredSpan = PricedSpan &
  Pick<Span, 'name' | 'paramsJson' | 'telemetryJson'> & { readonly traceSequence: number };

/** What shares need of a span, with the source of its cost as it was read. */
export type Measurement = Pick<Span, 'spanId' | 'costSource' | 'callRow' | 'totalInput' | 'totalOutput' | 'shareRates'>;

/** Measurements of spans of one project. */
export type Measuring = {
  readonly kind: 'measuring';
  readonly projectNumber: number;
  readonly traces: readonly { readonly traceId: string; readonly spans: readonly Measurement[] }[];
};

export type Measured = {
  /** Spans that were measured now. */
  readonly count: number;
};

export type MeasuringStore = {
  /** Traces of all projects after a sequence, by sequence. */
  traces(page: { readonly afterSequence: number; readonly limit: number }): Promise<readonly MeasuredTrace[]>;
  /** Spans of these traces that were stored before shares existed, in any order. */
  spans(page: {
    readonly projectNumber: number;
    readonly sequences: readonly number[];
    readonly limit: number;
  }): Promise<readonly UnmeasuredSpan[]>;
  /**
   * Commits measurements. It MUST leave alone spans that are measured already, or whose cost has another source now, and
   * MUST leave the totals and the hourly sums of the traces equal to a recomputation from the stored spans.
   */
  measure(measuring: Measuring): Promise<Measured>;
};

/** Emits no event. */
export function applyMeasuring(tables: AppendTables, { projectNumber, traces }: Measuring): Measured {
  let count = 0;
  for (const { traceId, spans } of traces) {
    // What was sent stays as it is, so the trace has not been updated.
    const trace = { projectNumber, traceId, nowMs: null };
    count += changeSpans(tables, trace, (traceKey) => spans.flatMap((span) => measureSpan(tables, traceKey, span)));
  }
  return { count };
}

function measureSpan(
  tables: AppendTables,
  traceKey: TraceKey,
  { spanId, costSource, ...usage }: Measurement,
): readonly Replaced[] {
  const stored = tables.findSpan(traceKey, spanId);
  if (stored === undefined || stored.summary.callRow !== null || stored.summary.costSource !== costSource) return [];
  const { summary, paramsJson, emittedRequestId } = stored;
  const next = { ...summary, ...usage };
  // Its request keeps its id, also when the span turns out not to be a call, and when nothing reads its parameters again.
  const ownId = requestIdOfStored(traceKey.traceId, { ...summary, paramsJson });
  const follows = ownId === requestIdOfStored(traceKey.traceId, { ...next, paramsJson: null });
  tables.changeSpan(traceKey, stored, {
    ...usage,
    emittedRequestId: emittedRequestId ?? (follows ? null : ownId),
  });
  return [{ old: summary, next }];
}
