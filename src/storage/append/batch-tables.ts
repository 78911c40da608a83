/**
 * The tables that a batch is applied to, in memory: reads go to the reader of the store, and writes are collected and
 * written once. A later write of a row replaces an earlier one.
 */

import { randomUUID } from 'node:crypto';
import type { Backlog, JobCount } from '../../domain/evaluations/backlog.ts';
import type { ActiveMonitors, EvaluationJob, JobKey, JobQueueOptions } from '../../domain/evaluations/jobs.ts';
import type { AppendTables, StoredSpan, TraceKey } from '../../domain/events/append-tables.ts';
import type { Span, SpanSummary } from '../../domain/traces/trace.ts';
import { summaryOf } from '../../domain/traces/trace-totals.ts';
import { countHours, type HourRow } from '../analytics/hour-changes.ts';
import { type BatchLog, createBatchLog, type LogHeads, type WrittenLog } from './batch-log.ts';
import {
  type EvaluationRow,
  NO_REQUESTS,
  type PartKey,
  type SpanRow,
  type TraceRow,
  toCounted,
  toPartKey,
  toSpanRow,
  toStoredSpan,
  toTraceRow,
  toWholeSpan,
  type UsageNodeRow,
} from './batch-rows.ts';
import type { Found, Reader } from './reader.ts';

/** A row to be written, and whether its key is new. */
type Entry<Row> = { readonly row: Row; readonly isNew: boolean };

export type Written = {
  /** Traces to remove with everything that belongs to them, before other writes. */
  readonly erased: readonly TraceKey[];
  readonly traces: ReadonlyMap<string, Entry<TraceRow>>;
  readonly spans: ReadonlyMap<string, Entry<SpanRow>>;
  readonly usageNodes: ReadonlyMap<string, UsageNodeRow>;
  readonly evaluations: ReadonlyMap<string, EvaluationRow>;
  /** By key; null: removed. */
  readonly jobs: ReadonlyMap<string, { readonly job: EvaluationJob | null; readonly key: JobKey }>;
  /** New jobs, by project. */
  readonly jobCounts: ReadonlyMap<number, JobCount>;
  /** By organization number. */
  readonly logs: ReadonlyMap<number, { readonly written: WrittenLog }>;
};

export type BatchTablesDeps = LogHeads & {
  readonly read: Reader;
  readonly activeMonitorsOf: (projectNumber: number) => ActiveMonitors;
  readonly jobQueue: JobQueueOptions;
  readonly backlog: Pick<Backlog, 'isFull'>;
  /** A unique sequence for a new trace. */
  readonly drawSequence: (insertedAtMs: number) => number;
};

export function createBatchTables(deps: BatchTablesDeps) {
  const { read, drawSequence, activeMonitorsOf, jobQueue, backlog } = deps;
  const erased: TraceKey[] = [];
  const traces = new Map<string, Entry<TraceRow>>();
  const stored = new Map<number, Found<'findTrace'>>();
  const summaries = new Map<number, readonly SpanSummary[]>();
  const erasedKeys = new Set<string>();
  const spans = new Map<string, Entry<SpanRow>>();
  const usageNodes = new Map<string, UsageNodeRow>();
  const evaluations = new Map<string, EvaluationRow>();
  // The keys of new root spans, by the sequence of their trace.
  const roots = new Map<number, Set<string>>();
  const jobs = new Map<string, { readonly job: EvaluationJob | null; readonly key: JobKey }>();
  const jobCounts = new Map<number, JobCount>();
  const logs = new Map<number, BatchLog>();

  function isNewTrace({ projectNumber, traceId }: TraceKey): boolean {
    return traces.get(mapKey(projectNumber, traceId))?.isNew === true;
  }

  function noteRoot({ sequence }: TraceKey, { parentId }: Span, key: string): void {
    if (parentId === null) roots.set(sequence, (roots.get(sequence) ?? new Set()).add(key));
  }

  function findStoredSpan(traceKey: TraceKey, spanId: string): StoredSpan | undefined {
    if (isNewTrace(traceKey)) return undefined;
    const [found] = read('findSpan', keyOfSpan(traceKey, spanId));
    return found === undefined ? undefined : toStoredSpan(found);
  }

  /** As they were before the batch. The totals and the hours of a trace read the same. */
  function storedSummaries(projectNumber: number, sequence: number): readonly SpanSummary[] {
    const known = summaries.get(sequence) ?? read('listSummaries', { projectNumber, sequence });
    summaries.set(sequence, known);
    return known;
  }

  const tables: AppendTables = {
    findTrace(projectNumber, traceId) {
      const key = mapKey(projectNumber, traceId);
      const entry = traces.get(key);
      if (entry !== undefined) return entry.row;
      const [found] = erasedKeys.has(key) ? [] : read('findTrace', { projectNumber, traceId });
      if (found !== undefined) stored.set(found.sequence, found);
      return found;
    },
    insertTrace(trace) {
      const { projectNumber, traceId } = trace;
      const traceKey = { projectNumber, traceId, sequence: drawSequence(trace.insertedAtMs) };
      traces.set(mapKey(projectNumber, traceId), { row: toTraceRow(traceKey, trace), isNew: true });
      return traceKey;
    },
    updateTrace(traceKey, trace) {
      // A later commit must have a later instant, whenever the trace was received: other processes find changes by it.
      const before = stored.get(traceKey.sequence)?.updatedAtMs ?? Number.NEGATIVE_INFINITY;
      const row = toTraceRow(traceKey, { ...trace, updatedAtMs: Math.max(trace.updatedAtMs, before + 1) });
      traces.set(mapKey(traceKey.projectNumber, traceKey.traceId), { row, isNew: isNewTrace(traceKey) });
    },
    eraseTrace(traceKey) {
      const key = mapKey(traceKey.projectNumber, traceKey.traceId);
      traces.delete(key);
      erasedKeys.add(key);
      erased.push(traceKey);
      for (const [id, { row }] of spans) if (row.traceSequence === traceKey.sequence) spans.delete(id);
      for (const [id, row] of usageNodes) if (row.traceSequence === traceKey.sequence) usageNodes.delete(id);
      for (const [id, row] of evaluations) if (row.traceSequence === traceKey.sequence) evaluations.delete(id);
      for (const [id, { key }] of jobs) if (key.traceSequence === traceKey.sequence) jobs.delete(id);
    },
    insertSpan(traceKey, span) {
      const key = partKey(traceKey, span.spanId);
      if (spans.has(key) || findStoredSpan(traceKey, span.spanId) !== undefined) return false;
      spans.set(key, { row: toSpanRow(traceKey, span, NO_REQUESTS), isNew: true });
      noteRoot(traceKey, span, key);
      return true;
    },
    replaceSpan(traceKey, span, requests) {
      const key = partKey(traceKey, span.spanId);
      spans.set(key, { row: toSpanRow(traceKey, span, requests), isNew: spans.get(key)?.isNew === true });
      noteRoot(traceKey, span, key);
    },
    hasSpan(traceKey, spanId) {
      if (spans.has(partKey(traceKey, spanId))) return true;
      return !isNewTrace(traceKey) && read('findSpanId', keyOfSpan(traceKey, spanId)).length > 0;
    },
    findSpan(traceKey, spanId) {
      const row = spans.get(partKey(traceKey, spanId))?.row;
      if (row === undefined) return findStoredSpan(traceKey, spanId);
      const { paramsJson, emittedRequestId, sharedRequestId } = row;
      return { summary: summaryOf(row), paramsJson, emittedRequestId, sharedRequestId };
    },
    findWholeSpan(traceKey, spanId) {
      const row = spans.get(partKey(traceKey, spanId))?.row;
      if (row !== undefined) return toWholeSpan(row);
      const [found] = isNewTrace(traceKey) ? [] : read('findWholeSpan', keyOfSpan(traceKey, spanId));
      return found === undefined ? undefined : toWholeSpan(found);
    },
    findUsageNode(traceKey, spanId) {
      const known = usageNodes.get(partKey(traceKey, spanId));
      if (known !== undefined) return known.nodeJson;
      return isNewTrace(traceKey) ? undefined : read('findUsageNode', keyOfSpan(traceKey, spanId))[0]?.nodeJson;
    },
    storeUsageNode(traceKey, spanId, nodeJson) {
      usageNodes.set(partKey(traceKey, spanId), { ...keyOfSpan(traceKey, spanId), nodeJson });
    },
    summaries(traceKey) {
      const { projectNumber, sequence } = traceKey;
      const stored = isNewTrace(traceKey) ? [] : storedSummaries(projectNumber, sequence);
      const found = new Map<string, SpanSummary>(stored.map((summary) => [summary.spanId, summary]));
      for (const { row } of spans.values()) {
        if (row.traceSequence === sequence) found.set(row.spanId, summaryOf(row));
      }
      return [...found.values()];
    },
    storeEvaluation(traceKey, evaluation) {
      const key = partKey(traceKey, evaluation.evaluationId);
      const insertedAtMs = evaluations.get(key)?.insertedAtMs ?? evaluation.insertedAtMs;
      evaluations.set(key, { ...evaluation, ...toPartKey(traceKey), insertedAtMs });
    },
    activeMonitorsOf,
    jobQueue,
    hasRoot(traceKey) {
      const { projectNumber, sequence } = traceKey;
      for (const key of roots.get(sequence) ?? []) if (spans.get(key)?.row.parentId === null) return true;
      return !isNewTrace(traceKey) && read('findRootSpan', { projectNumber, sequence }).length > 0;
    },
    hasRoomForJob(projectNumber) {
      const isFull = backlog.isFull(projectNumber);
      const count = jobCounts.get(projectNumber) ?? { made: 0, refused: 0 };
      jobCounts.set(projectNumber, count);
      count[isFull ? 'refused' : 'made'] += 1;
      return !isFull;
    },
    findJob(traceKey, sourceId) {
      const known = jobs.get(partKey(traceKey, sourceId));
      if (known !== undefined) return known.job ?? undefined;
      return traceKey.traceId !== '' && isNewTrace(traceKey)
        ? undefined
        : read('findJob', { ...toPartKey(traceKey), sourceId })[0];
    },
    storeJob(job) {
      jobs.set(jobKey(job), { job, key: job });
    },
    removeJob(key) {
      jobs.set(jobKey(key), { job: null, key });
    },
    overdueRequests: (admittedByMs, countMax) => read('listOverdue', { admittedByMs, countMax }),
    findOwner: (projectNumber) => read('findOwner', { projectNumber })[0],
    newChangeId: randomUUID,
    log(organizationNumber) {
      const known = logs.get(organizationNumber) ?? createBatchLog(organizationNumber, deps);
      logs.set(organizationNumber, known);
      return known.tables;
    },
  };
  const written: Written = { erased, traces, spans, usageNodes, evaluations, jobs, jobCounts, logs };
  return {
    tables,
    written,
    /** The changes of the hourly sums. Call it once the batch is applied; it may read, too. */
    countHours: (): readonly HourRow[] =>
      countHours(storedSummaries, {
        stored,
        erased: erased.map(({ sequence }) => sequence),
        now: [...traces.values()].map(({ row }) => row),
        spans: [...spans.values()].map(({ row }) => toCounted(row)),
      }),
  };
}

function mapKey(projectNumber: number, traceId: string): string {
  return `${projectNumber} ${traceId}`;
}

function jobKey({ projectNumber, traceSequence, sourceId }: JobKey): string {
  return `${projectNumber} ${traceSequence} ${sourceId}`;
}

/** The key of a span, an evaluation or a job. */
function partKey({ projectNumber, sequence }: TraceKey, id: string): string {
  return `${projectNumber} ${sequence} ${id}`;
}

function keyOfSpan(traceKey: TraceKey, spanId: string): PartKey & { readonly spanId: string } {
  return { ...toPartKey(traceKey), spanId };
}

/**
 * The traces that the search index must read again, in a fixed order, so that two batches never wait for each other.
 */
export function listIndexMarks({ erased, traces }: Written): readonly PartKey[] {
  const marked = [...traces.values()].map(({ row }) => toPartKey(row));
  for (const traceKey of erased) marked.push(toPartKey(traceKey));
  return marked.sort(
    (one, other) => one.projectNumber - other.projectNumber || one.traceSequence - other.traceSequence,
  );
}
