/** The spans in the tables of a batch; see batch-telemetry.ts. */

import type { SpanChange, StoredSpan, TelemetryTables, TraceKey } from '../../domain/events/append-tables.ts';
import type { Span, SpanSummary } from '../../domain/traces/trace.ts';
import { summaryOf } from '../../domain/traces/trace-totals.ts';
import { unpackTyped } from '../rows/codes.ts';
import { startOfStored } from '../rows/moved-text.ts';
import {
  type Entry,
  type PartKey,
  partKey,
  type SpanRow,
  toCounted,
  toPartKey,
  toSpanRow,
  toStoredSpan,
} from './batch-rows.ts';
import type { NoteReplaced } from './load-meter.ts';
import type { Reader } from './reader.ts';

/** The columns of a stored span that change while its texts stay. */
export type ChangedSpan = PartKey & { readonly spanId: string; readonly version: number } & SpanChange;

export type Changed = PartKey & StoredSpan & { readonly version: number };

type SpanTables = Pick<
  TelemetryTables,
  | 'insertSpan'
  | 'replaceSpan'
  | 'hasSpan'
  | 'findSpan'
  | 'versionOf'
  | 'findPricing'
  | 'findCallTexts'
  | 'changeSpan'
  | 'summaries'
  | 'hasRoot'
>;

type BatchSpansDeps = {
  readonly read: Reader;
  readonly isNewTrace: (traceKey: TraceKey) => boolean;
  /** How many spans a trace had before the batch, by its sequence. */
  readonly spanCountOf: (sequence: number) => number;
  readonly noteReplaced: NoteReplaced;
};

const SUMMARY_BYTES = 512;

export function createBatchSpans({ read, isNewTrace, spanCountOf, noteReplaced }: BatchSpansDeps) {
  const spans = new Map<string, Entry<SpanRow>>();
  const changed = new Map<string, Changed>();
  const summaries = new Map<number, readonly SpanSummary[]>();
  // The keys of new root spans, by the sequence of their trace.
  const roots = new Map<number, Set<string>>();
  // Of the spans that were read, before the batch.
  const versions = new Map<string, number>();
  const ownBytes = new Map<string, number>();

  function noteRoot({ sequence }: TraceKey, { parentId }: Span, key: string): void {
    if (parentId === null) roots.set(sequence, (roots.get(sequence) ?? new Set()).add(key));
  }

  function findStored(traceKey: TraceKey, spanId: string): StoredSpan | undefined {
    const key = partKey(traceKey, spanId);
    const known = changed.get(key);
    if (known !== undefined || isNewTrace(traceKey)) return known;
    const [found] = read('findSpan', keyOfSpan(traceKey, spanId));
    if (found === undefined) return undefined;
    versions.set(key, found.version ?? 0);
    ownBytes.set(key, found.ownBytes);
    return toStoredSpan(found);
  }

  /** Notes that a stored span is written anew, and returns its version after the batch. */
  function nextVersion(key: string): number {
    noteReplaced(ownBytes.get(key) ?? 0);
    ownBytes.delete(key);
    return (versions.get(key) ?? 0) + 1;
  }

  /** As they were before the batch. The totals and the hours of a trace read the same. */
  function storedSummaries(projectNumber: number, sequence: number): readonly SpanSummary[] {
    const bytes = spanCountOf(sequence) * SUMMARY_BYTES;
    const known = summaries.get(sequence) ?? read('listSummaries', { projectNumber, sequence }, bytes);
    summaries.set(sequence, known);
    return known;
  }

  const tables: SpanTables = {
    insertSpan(traceKey, span, requests) {
      const key = partKey(traceKey, span.spanId);
      if (spans.has(key) || findStored(traceKey, span.spanId) !== undefined) return false;
      spans.set(key, { row: toSpanRow(traceKey, span, { requests, version: null }), isNew: true });
      noteRoot(traceKey, span, key);
      return true;
    },
    replaceSpan(traceKey, span, requests) {
      const key = partKey(traceKey, span.spanId);
      const isNew = spans.get(key)?.isNew === true;
      const version = isNew ? null : nextVersion(key);
      spans.set(key, { row: toSpanRow(traceKey, span, { requests, version }), isNew });
      changed.delete(key);
      noteRoot(traceKey, span, key);
    },
    hasSpan(traceKey, spanId) {
      if (spans.has(partKey(traceKey, spanId))) return true;
      return !isNewTrace(traceKey) && read('findSpanId', keyOfSpan(traceKey, spanId)).length > 0;
    },
    findSpan(traceKey, spanId) {
      const row = spans.get(partKey(traceKey, spanId))?.row;
      if (row === undefined) return findStored(traceKey, spanId);
      const { paramsJson, emittedRequestId, sharedRequestId } = row;
      return { summary: summaryOf(row), paramsJson, emittedRequestId, sharedRequestId };
    },
    versionOf(traceKey, spanId) {
      const key = partKey(traceKey, spanId);
      const row = spans.get(key)?.row;
      if (row !== undefined) return row.version ?? 0;
      if (findStored(traceKey, spanId) === undefined) return undefined;
      return changed.get(key)?.version ?? versions.get(key);
    },
    findPricing(traceKey, spanId) {
      const row = spans.get(partKey(traceKey, spanId))?.row;
      if (row !== undefined) return row;
      return isNewTrace(traceKey) ? undefined : read('findPricedSpan', keyOfSpan(traceKey, spanId))[0];
    },
    findCallTexts(traceKey, spanId) {
      const row = spans.get(partKey(traceKey, spanId))?.row;
      if (row !== undefined) return { telemetryJson: row.telemetryJson, inputStart: row.inputJson };
      const [found] = isNewTrace(traceKey) ? [] : read('findCallTexts', keyOfSpan(traceKey, spanId));
      if (found === undefined) return undefined;
      const { inputStart } = found;
      return { ...found, inputStart: inputStart === null ? null : unpackTyped(startOfStored(inputStart)) };
    },
    changeSpan(traceKey, { summary, ...requests }, change) {
      const {
        emittedRequestId = requests.emittedRequestId,
        sharedRequestId = requests.sharedRequestId,
        ...usage
      } = change;
      const key = partKey(traceKey, summary.spanId);
      const entry = spans.get(key);
      const next = { emittedRequestId, sharedRequestId };
      if (entry !== undefined) spans.set(key, { ...entry, row: { ...entry.row, ...usage, ...next } });
      else {
        const version = nextVersion(key);
        changed.set(key, { ...toPartKey(traceKey), ...requests, ...next, version, summary: { ...summary, ...usage } });
      }
    },
    summaries(traceKey) {
      const { projectNumber, sequence } = traceKey;
      const stored = isNewTrace(traceKey) ? [] : storedSummaries(projectNumber, sequence);
      const found = new Map<string, SpanSummary>(stored.map((summary) => [summary.spanId, summary]));
      for (const { traceSequence, summary } of changed.values()) {
        if (traceSequence === sequence) found.set(summary.spanId, summary);
      }
      for (const { row } of spans.values()) {
        if (row.traceSequence === sequence) found.set(row.spanId, summaryOf(row));
      }
      return [...found.values()];
    },
    hasRoot(traceKey) {
      const { projectNumber, sequence } = traceKey;
      for (const key of roots.get(sequence) ?? []) if (spans.get(key)?.row.parentId === null) return true;
      return !isNewTrace(traceKey) && read('findRootSpan', { projectNumber, sequence }).length > 0;
    },
  };
  return {
    tables,
    storedSummaries,
    erase({ sequence }: TraceKey): void {
      for (const [id, { row }] of spans) if (row.traceSequence === sequence) spans.delete(id);
      for (const [id, { traceSequence }] of changed) if (traceSequence === sequence) changed.delete(id);
    },
    /** Of all spans that the batch stores or changes. */
    counted: () => [
      ...[...spans.values()].map(({ row }) => toCounted(row)),
      ...[...changed.values()].map(({ traceSequence, summary }) => ({ ...summary, traceSequence })),
    ],
    written: { spans, changedSpans: changed },
  };
}

export function toChangedSpan({ summary, ...stored }: Changed): ChangedSpan {
  const { projectNumber, traceSequence, emittedRequestId, sharedRequestId, version } = stored;
  const { spanId, costNanoUsd, costSource, callRow, totalInput, totalOutput, shareRates } = summary;
  const requests = { emittedRequestId, sharedRequestId };
  const usage = { costNanoUsd, costSource, callRow, totalInput, totalOutput, shareRates };
  return { projectNumber, traceSequence, spanId, version, ...requests, ...usage };
}

export function keyOfSpan(traceKey: TraceKey, spanId: string): PartKey & { readonly spanId: string } {
  return { ...toPartKey(traceKey), spanId };
}
