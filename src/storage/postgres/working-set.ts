/**
 * The tables of an append on PostgreSQL. Statements there take a round trip each, so a batch is applied to rows in
 * memory: what it reads must be among the known rows, and what it writes is collected for one call. A row that was
 * asked for and is not known is noted as missing; the run is then void, and repeated once the row has been read.
 */

import type { Evaluation, Span, SpanSummary, TraceRecord } from '../../domain/trace.ts';
import { summaryOf } from '../../domain/trace-totals.ts';
import type { AppendTables, OverdueRequest, StoredSpan, TracePlace, TraceState } from '../append/tables.ts';
import { createWorkingLogs, type KnownLogs, type MissingLogs, type WrittenLogs } from './working-log.ts';

/** What has been read, null for what is known not to exist. */
export type KnownRows = KnownLogs & {
  readonly traces: Map<string, TraceRecord | null>;
  readonly spans: Map<string, StoredSpan | null>;
  /** Of spans of which no more is known than whether they exist. */
  readonly spanIds: Map<string, boolean>;
  readonly summaries: Map<number, readonly SpanSummary[]>;
  /** By what was asked for. */
  readonly overdue: Map<string, readonly OverdueRequest[]>;
};

/** What must be read before the run can count. */
export type MissingRows = MissingLogs & {
  readonly traces: Map<string, { readonly projectNumber: number; readonly traceId: string }>;
  readonly spans: Map<string, SpanQuestion>;
  readonly spanIds: Map<string, SpanQuestion>;
  readonly summaries: Map<number, TracePlace>;
  readonly overdue: Map<string, OverdueQuestion>;
};

export type SpanQuestion = { readonly place: TracePlace; readonly spanId: string };
export type OverdueQuestion = { readonly admittedByMs: number; readonly countMax: number };

export type TraceEntry = { record: TraceRecord; readonly place: TracePlace; readonly isNew: boolean };
export type SpanEntry = {
  span: Span;
  emittedRequestId: string | null;
  readonly place: TracePlace;
  readonly isNew: boolean;
};
/** What a run wrote; later writes of one row have replaced earlier ones. */
export type Written = WrittenLogs & {
  readonly erased: readonly TracePlace[];
  readonly traces: ReadonlyMap<string, TraceEntry>;
  readonly spans: ReadonlyMap<string, SpanEntry>;
  readonly evaluations: ReadonlyMap<string, { readonly place: TracePlace; readonly evaluation: Evaluation }>;
};

export type WorkingSet = { readonly tables: AppendTables; readonly written: Written; readonly missing: MissingRows };

export function traceKey(projectNumber: number, traceId: string): string {
  return `${projectNumber} ${traceId}`;
}

/** Of a span or an evaluation. */
export function partKey(place: Pick<TracePlace, 'projectNumber' | 'sequence'>, id: string): string {
  return `${place.projectNumber} ${place.sequence} ${id}`;
}

export function createKnownRows(): KnownRows {
  return {
    traces: new Map(),
    spans: new Map(),
    spanIds: new Map(),
    summaries: new Map(),
    overdue: new Map(),
    requests: new Map(),
    told: new Map(),
    keyIndexes: new Map(),
    governance: new Map(),
  };
}

export type WorkingSetDeps = {
  /** Null: everything is taken to be new, and the database refuses the batch when it is not. */
  readonly known: KnownRows | null;
  /** A sequence nobody else has. */
  readonly drawSequence: (insertedAtMs: number) => number;
};

export function createWorkingSet(deps: WorkingSetDeps): WorkingSet {
  const { known, drawSequence } = deps;
  const missing: MissingRows = {
    traces: new Map(),
    spans: new Map(),
    spanIds: new Map(),
    summaries: new Map(),
    overdue: new Map(),
    requests: new Map(),
    told: new Map(),
    keyIndexes: new Set(),
    governance: new Map(),
  };
  const erased: TracePlace[] = [];
  const traces = new Map<string, TraceEntry | null>();
  const spans = new Map<string, SpanEntry>();
  const evaluations = new Map<string, { place: TracePlace; evaluation: Evaluation }>();
  const logs = createWorkingLogs(known, missing);

  function isNewTrace({ projectNumber, traceId }: TracePlace): boolean {
    return traces.get(traceKey(projectNumber, traceId))?.isNew === true;
  }

  function findStoredSpan(place: TracePlace, spanId: string): StoredSpan | undefined {
    if (known === null || isNewTrace(place)) return undefined;
    const key = partKey(place, spanId);
    const stored = known.spans.get(key);
    if (stored === undefined) missing.spans.set(key, { place, spanId });
    return stored ?? undefined;
  }

  const tables: AppendTables = {
    findTrace(projectNumber, traceId) {
      const key = traceKey(projectNumber, traceId);
      const entry = traces.get(key);
      if (entry !== undefined) return entry?.record;
      if (known === null) return undefined;
      const stored = known.traces.get(key);
      if (stored === undefined) missing.traces.set(key, { projectNumber, traceId });
      return stored ?? undefined;
    },
    insertTrace({ projectNumber, traceId, insertedAtMs, ...state }) {
      const place = { projectNumber, traceId, sequence: drawSequence(insertedAtMs) };
      traces.set(traceKey(projectNumber, traceId), {
        place,
        isNew: true,
        record: toRecord(place, insertedAtMs, state),
      });
      return place;
    },
    updateTrace(place, state) {
      const key = traceKey(place.projectNumber, place.traceId);
      const entry = traces.get(key);
      const stored = entry?.record ?? known?.traces.get(key);
      if (!stored) throw new Error('a trace is updated that was not found');
      traces.set(key, {
        place,
        isNew: entry?.isNew === true,
        record: toRecord(place, stored.insertedAtMs, state),
      });
    },
    eraseTrace(place) {
      traces.set(traceKey(place.projectNumber, place.traceId), null);
      erased.push(place);
      for (const parts of [spans, evaluations]) {
        for (const [key, part] of parts) if (part.place.sequence === place.sequence) parts.delete(key);
      }
    },
    insertSpan(place, span) {
      const key = partKey(place, span.spanId);
      if (spans.has(key) || findStoredSpan(place, span.spanId) !== undefined) return false;
      spans.set(key, { place, span, emittedRequestId: null, isNew: true });
      return true;
    },
    replaceSpan(place, span, emittedRequestId) {
      const key = partKey(place, span.spanId);
      spans.set(key, { place, span, emittedRequestId, isNew: spans.get(key)?.isNew === true });
    },
    hasSpan(place, spanId) {
      const key = partKey(place, spanId);
      if (spans.has(key)) return true;
      if (known === null || isNewTrace(place)) return false;
      const span = known.spans.get(key);
      const stored = span === undefined ? known.spanIds.get(key) : span !== null;
      if (stored === undefined) missing.spanIds.set(key, { place, spanId });
      return stored ?? false;
    },
    findSpan(place, spanId) {
      const entry = spans.get(partKey(place, spanId));
      if (entry === undefined) return findStoredSpan(place, spanId);
      const { span, emittedRequestId } = entry;
      return { summary: summaryOf(span), paramsJson: span.paramsJson, emittedRequestId };
    },
    summaries(place) {
      const found = new Map<string, SpanSummary>();
      if (known !== null && !isNewTrace(place)) {
        const stored = known.summaries.get(place.sequence);
        if (stored === undefined) missing.summaries.set(place.sequence, place);
        for (const summary of stored ?? []) found.set(summary.spanId, summary);
      }
      for (const entry of spans.values()) {
        if (entry.place.sequence === place.sequence) found.set(entry.span.spanId, summaryOf(entry.span));
      }
      return [...found.values()];
    },
    storeEvaluation(place, evaluation) {
      const key = partKey(place, evaluation.evaluationId);
      const insertedAtMs = evaluations.get(key)?.evaluation.insertedAtMs ?? evaluation.insertedAtMs;
      evaluations.set(key, { place, evaluation: { ...evaluation, insertedAtMs } });
    },
    overdueRequests(admittedByMs, countMax) {
      const question = `${admittedByMs} ${countMax}`;
      const found = known?.overdue.get(question);
      if (found === undefined) missing.overdue.set(question, { admittedByMs, countMax });
      return found ?? [];
    },
    log: logs.log,
  };
  const written = {
    erased,
    // Only an erased trace has no entry, and what is erased never stays without a new one.
    traces: traces as ReadonlyMap<string, TraceEntry>,
    spans,
    evaluations,
    ...logs.written,
  };
  return { tables, written, missing };
}

function toRecord(place: TracePlace, insertedAtMs: number, state: TraceState): TraceRecord {
  const { totals, ...rest } = state;
  return { ...totals, ...rest, traceId: place.traceId, sequence: place.sequence, insertedAtMs };
}
