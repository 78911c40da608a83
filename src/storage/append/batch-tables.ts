/**
 * The tables that a batch is applied to, in memory: reads go to the reader of the store, and writes are collected and
 * written once. A later write of a row replaces an earlier one.
 */

import { randomUUID } from 'node:crypto';
import type { Backlog, JobCount } from '../../domain/evaluations/backlog.ts';
import type { ActiveMonitors, EvaluationJob, JobKey, JobQueueOptions } from '../../domain/evaluations/jobs.ts';
import type { AppendTables, TraceKey } from '../../domain/events/append-tables.ts';
import { countHours, type HourRow } from '../analytics/hour-changes.ts';
import { type BatchLog, createBatchLog, type LogHeads, type WrittenLog } from './batch-log.ts';
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

export type Written = {
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
  /** By key; null: removed. */
  readonly jobs: ReadonlyMap<string, { readonly job: EvaluationJob | null; readonly key: JobKey }>;
  /** New jobs, by project. */
  readonly jobCounts: ReadonlyMap<number, JobCount>;
  /** By organization number. */
  readonly logs: ReadonlyMap<number, { readonly written: WrittenLog }>;
};

export type BatchTablesDeps = LogHeads &
  BatchTracesDeps & {
    readonly activeMonitorsOf: (projectNumber: number) => ActiveMonitors;
    readonly jobQueue: JobQueueOptions;
    readonly backlog: Pick<Backlog, 'isFull'>;
  };

export function createBatchTables(deps: BatchTablesDeps) {
  const { read, noteReplaced, activeMonitorsOf, jobQueue, backlog } = deps;
  const traces = createBatchTraces(deps);
  const { isNew: isNewTrace, spanCountOf } = traces;
  const spans = createBatchSpans({ read, isNewTrace, spanCountOf, noteReplaced });
  const usageNodes = new Map<string, UsageNodeRow>();
  const evaluations = new Map<string, EvaluationRow>();
  const jobs = new Map<string, { readonly job: EvaluationJob | null; readonly key: JobKey }>();
  const jobCounts = new Map<number, JobCount>();
  const logs = new Map<number, BatchLog>();

  const tables: AppendTables = {
    ...traces.tables,
    ...spans.tables,
    eraseTrace(traceKey) {
      traces.erase(traceKey);
      spans.erase(traceKey);
      for (const [id, row] of usageNodes) if (row.traceSequence === traceKey.sequence) usageNodes.delete(id);
      for (const [id, row] of evaluations) if (row.traceSequence === traceKey.sequence) evaluations.delete(id);
      for (const [id, { key }] of jobs) if (key.traceSequence === traceKey.sequence) jobs.delete(id);
    },
    findUsageNode(traceKey, spanId) {
      const known = usageNodes.get(partKey(traceKey, spanId));
      if (known !== undefined) return known.nodeJson;
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
    activeMonitorsOf,
    jobQueue,
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
  const written: Written = { ...traces.written, ...spans.written, usageNodes, evaluations, jobs, jobCounts, logs };
  return {
    tables,
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

function jobKey({ projectNumber, traceSequence, sourceId }: JobKey): string {
  return `${projectNumber} ${traceSequence} ${sourceId}`;
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
