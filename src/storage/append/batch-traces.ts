/** The traces and their texts in the tables of a batch; see batch-telemetry.ts. */

import type { TelemetryTables, TraceKey } from '../../domain/events/append-tables.ts';
import type { TraceHead, TraceTexts } from '../../domain/traces/trace.ts';
import { placeText, type TextName } from '../traces/trace-texts.ts';
import {
  type Entry,
  mapKey,
  type PartKey,
  partKey,
  type TextColumns,
  type TraceRow,
  toTraceRow,
} from './batch-rows.ts';
import type { NoteReplaced } from './load-meter.ts';
import type { Found, Reader } from './reader.ts';

/** A text that lies apart; null: none does any more. */
export type TextEntry = PartKey & { readonly name: TextName; readonly text: string | null };

type TraceTables = Pick<TelemetryTables, 'findTrace' | 'metadataOf' | 'insertTrace' | 'updateTrace'>;

export type BatchTracesDeps = {
  readonly read: Reader;
  readonly noteReplaced: NoteReplaced;
  /** A unique sequence for a new trace. */
  readonly drawSequence: (insertedAtMs: number) => number;
};

const NO_TEXTS: TextColumns = {
  metadataJson: '{}',
  metadataBytes: null,
  expectedOutput: null,
  expectedOutputIsApart: null,
};

export function createBatchTraces({ read, noteReplaced, drawSequence }: BatchTracesDeps) {
  const traces = new Map<string, Entry<TraceRow>>();
  const texts = new Map<string, TextEntry>();
  // The rows as they were before the batch, by sequence.
  const stored = new Map<number, Found<'findTrace'>>();
  const erasedKeys = new Set<string>();
  const erased: TraceKey[] = [];

  function isNew({ projectNumber, traceId }: TraceKey): boolean {
    return traces.get(mapKey(projectNumber, traceId))?.isNew === true;
  }

  function rowOf({ projectNumber, traceId, sequence }: TraceKey): (TraceHead & TextColumns) | undefined {
    return traces.get(mapKey(projectNumber, traceId))?.row ?? stored.get(sequence);
  }

  function keepText(traceKey: TraceKey, name: TextName, text: string | null): void {
    const { projectNumber, sequence } = traceKey;
    texts.set(partKey(traceKey, name), { projectNumber, traceSequence: sequence, name, text });
  }

  /** Notes the texts that lie apart, and returns the columns of the row. */
  function place(traceKey: TraceKey, { metadataJson, expectedOutput }: Partial<TraceTexts>): TextColumns {
    const before = rowOf(traceKey) ?? NO_TEXTS;
    let columns = pickTexts(before);
    if (metadataJson !== undefined) {
      const { inline, apartBytes } = placeText(metadataJson);
      if ((apartBytes ?? before.metadataBytes) !== null) {
        keepText(traceKey, 'metadata', apartBytes === null ? null : metadataJson);
      }
      columns = { ...columns, metadataJson: inline ?? '', metadataBytes: apartBytes };
    }
    if (expectedOutput !== undefined) {
      const { inline, apartBytes } = expectedOutput === null ? NO_PLACE : placeText(expectedOutput);
      if ((apartBytes ?? before.expectedOutputIsApart) !== null) {
        keepText(traceKey, 'expected_output', apartBytes === null ? null : expectedOutput);
        noteReplaced(stored.get(traceKey.sequence)?.expectedOutputBytesApart ?? 0);
      }
      columns = { ...columns, expectedOutput: inline, expectedOutputIsApart: apartBytes === null ? null : true };
    }
    return columns;
  }

  /** Large texts that the stored row has itself: writing the row moves them, unless they change anyway. */
  function textsToMove(traceKey: TraceKey, changed: Partial<TraceTexts>): Partial<TraceTexts> {
    const { projectNumber, traceId, sequence } = traceKey;
    const bytes = stored.get(sequence)?.largeInlineBytes ?? 0;
    if (bytes === 0 || traces.has(mapKey(projectNumber, traceId))) return changed;
    const [found] = read('findLargeTexts', { projectNumber, traceId }, bytes);
    return {
      ...(found?.metadataJson == null ? {} : { metadataJson: found.metadataJson }),
      ...(found?.expectedOutput == null ? {} : { expectedOutput: found.expectedOutput }),
      ...changed,
    };
  }

  const tables: TraceTables = {
    findTrace(projectNumber, traceId) {
      const key = mapKey(projectNumber, traceId);
      const entry = traces.get(key);
      if (entry !== undefined) return entry.row;
      const [found] = erasedKeys.has(key) ? [] : read('findTrace', { projectNumber, traceId });
      if (found !== undefined) stored.set(found.sequence, found);
      return found;
    },
    metadataOf(traceKey) {
      const { projectNumber, traceId } = traceKey;
      const row = rowOf(traceKey);
      if (row?.metadataBytes === null) return row.metadataJson;
      const known = texts.get(partKey(traceKey, 'metadata'))?.text;
      return known ?? read('findMetadata', { projectNumber, traceId }, row?.metadataBytes)[0]?.metadataJson ?? '{}';
    },
    insertTrace({ totals, ...trace }) {
      const { projectNumber, traceId } = trace;
      const traceKey = { projectNumber, traceId, sequence: drawSequence(trace.insertedAtMs) };
      traces.set(mapKey(projectNumber, traceId), {
        row: toTraceRow(traceKey, { ...totals, ...trace }, place(traceKey, trace)),
        isNew: true,
      });
      return traceKey;
    },
    updateTrace(traceKey, { totals, ...change }) {
      const known = rowOf(traceKey);
      if (known === undefined) throw new Error('a trace is found before it is changed');
      // A later commit must have a later instant, whenever the trace was received: other processes find changes by it.
      const before = stored.get(traceKey.sequence)?.updatedAtMs ?? Number.NEGATIVE_INFINITY;
      const state = { ...known, ...totals, ...change, updatedAtMs: Math.max(change.updatedAtMs, before + 1) };
      const row = toTraceRow(traceKey, state, place(traceKey, textsToMove(traceKey, change)));
      traces.set(mapKey(traceKey.projectNumber, traceKey.traceId), { row, isNew: isNew(traceKey) });
    },
  };
  return {
    tables,
    isNew,
    erase(traceKey: TraceKey): void {
      const key = mapKey(traceKey.projectNumber, traceKey.traceId);
      traces.delete(key);
      for (const [id, { traceSequence }] of texts) if (traceSequence === traceKey.sequence) texts.delete(id);
      erasedKeys.add(key);
      erased.push(traceKey);
    },
    spanCountOf: (sequence: number): number => stored.get(sequence)?.spanCount ?? 0,
    stored,
    written: { traces, texts, erased },
  };
}

const NO_PLACE = { inline: null, apartBytes: null };

function pickTexts({ metadataJson, metadataBytes, expectedOutput, expectedOutputIsApart }: TextColumns): TextColumns {
  return { metadataJson, metadataBytes, expectedOutput, expectedOutputIsApart };
}
