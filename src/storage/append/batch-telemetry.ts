/**
 * The tables that a batch is applied to, in memory: reads go to the reader of the store, and writes are collected and
 * written once. A later write of a row replaces an earlier one. Here are traces and their parts; batch-log.ts has the rest.
 */

import { randomUUID } from 'node:crypto';
import type { TelemetryTables, TraceKey } from '../../domain/events/append-tables.ts';
import { countHours, type HourRow } from '../analytics/hour-changes.ts';
import {
  type Entry,
  type EvaluationRow,
  type PartKey,
  partKey,
  type SpanRow,
  type TraceRow,
  toPartKey,
  type UsageNodeRow,
} from './batch-rows.ts';
import { type Changed, createBatchSpans, keyOfSpan } from './batch-spans.ts';
import { type BatchTracesDeps, createBatchTraces, type TextEntry } from './batch-traces.ts';

export type WrittenTelemetry = {
  /** Traces to remove with everything that belongs to them, before other writes. */
  readonly erased: readonly TraceKey[];
  readonly traces: ReadonlyMap<string, Entry<TraceRow>>;
  /** Large texts of traces. */
  readonly texts: ReadonlyMap<string, TextEntry>;
  readonly spans: ReadonlyMap<string, Entry<SpanRow>>;
  /** Stored spans that change without their texts. */
  readonly changedSpans: ReadonlyMap<string, Changed>;
  readonly usageNodes: ReadonlyMap<string, UsageNodeRow>;
  readonly evaluations: ReadonlyMap<string, EvaluationRow>;
};

export function createBatchTelemetry(deps: BatchTracesDeps) {
  const { read, noteReplaced } = deps;
  const traces = createBatchTraces(deps);
  const { isNew: isNewTrace, spanCountOf } = traces;
  const spans = createBatchSpans({ read, isNewTrace, spanCountOf, noteReplaced });
  const usageNodes = new Map<string, UsageNodeRow>();
  const evaluations = new Map<string, EvaluationRow>();

  const tables: TelemetryTables = {
    ...traces.tables,
    ...spans.tables,
    findUsageNode(traceKey, spanId) {
      const cached = usageNodes.get(partKey(traceKey, spanId));
      if (cached !== undefined) return cached.nodeJson;
      return isNewTrace(traceKey) ? undefined : read('findUsageNode', keyOfSpan(traceKey, spanId))[0]?.nodeJson;
    },
    storeUsageNode(traceKey, spanId, nodeJson) {
      usageNodes.set(partKey(traceKey, spanId), { ...keyOfSpan(traceKey, spanId), nodeJson });
    },
    storeEvaluation(traceKey, evaluation) {
      const key = partKey(traceKey, evaluation.evaluationId);
      const insertedAtMs = evaluations.get(key)?.insertedAtMs ?? evaluation.insertedAtMs;
      evaluations.set(key, { ...evaluation, ...toPartKey(traceKey), insertedAtMs });
    },
    newChangeId: randomUUID,
  };
  const written: WrittenTelemetry = { ...traces.written, ...spans.written, usageNodes, evaluations };
  return {
    tables,
    isNewTrace,
    erase(traceKey: TraceKey): void {
      traces.erase(traceKey);
      spans.erase(traceKey);
      for (const [id, row] of usageNodes) if (row.traceSequence === traceKey.sequence) usageNodes.delete(id);
      for (const [id, row] of evaluations) if (row.traceSequence === traceKey.sequence) evaluations.delete(id);
    },
    written,
    /** The changes of the hourly sums. Call it once the batch is applied; it may read, too. */
    countHours: (): readonly HourRow[] =>
      countHours(spans.storedSummaries, {
        stored: traces.stored,
        erased: written.erased.map(({ sequence }) => sequence),
        now: [...written.traces.values()].map(({ row }) => row),
        spans: spans.counted(),
      }),
  };
}

/**
 * The traces that the search index must read again, in a fixed order, so that two batches never wait for each other.
 */
export function listIndexMarks({ erased, traces }: WrittenTelemetry): readonly PartKey[] {
  const marked = [...traces.values()].map(({ row }) => toPartKey(row));
  for (const traceKey of erased) marked.push(toPartKey(traceKey));
  return marked.sort(
    (one, other) => one.projectNumber - other.projectNumber || one.traceSequence - other.traceSequence,
  );
}
