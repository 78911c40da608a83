/** Reads log records: those that describe calls become spans, and those that tell of a span become its events. */

import type { RunCooperatively } from '../../steps.ts';
import { type BatchDraft, isUnreadable } from '../collector/collector-draft.ts';
import type { CollectorLimits } from '../collector/collector-reading.ts';
import { toBatchDraft } from '../otlp/batch.ts';
import type { OtlpLogs } from '../otlp/log-record.ts';
import type { TraceStore } from '../telemetry-port.ts';
import { normaliseSpanId, normaliseTraceId } from '../trace-ids.ts';
import type { Traces } from '../traces.ts';
import { type JoinAt, joinRecords } from './join-records.ts';
import { toKeepable } from './keepable.ts';
import { LOG_RECORDS_KEPT_MS, type LogRecordStore, type NamedSpan } from './log-record-store.ts';
import { sortRecords } from './sort-records.ts';

type TraceLogsDeps = {
  readonly store: Pick<TraceStore, 'find' | 'versionedSpan'>;
  readonly records: LogRecordStore;
  readonly traces: Pick<Traces, 'collectBatch' | 'replaceSpan'>;
  readonly runCooperatively: RunCooperatively;
  readonly limits: CollectorLimits;
  /** Called with the number of records that were not read. */
  readonly onUnread: (records: number) => void;
};

export type LogsReport = { readonly rejectedRecords: number; readonly errorMessage: string };

export type TraceLogs = {
  /** Resolves once what the records tell is stored. After a failure the sender repeats the request, which is safe. */
  collect(logs: OtlpLogs, at: JoinAt): Promise<LogsReport>;
  /** Joins the records that waited for the spans of a batch. Call it once those are stored. */
  join(batch: Pick<BatchDraft, 'traces'>, at: JoinAt): Promise<void>;
};

/** What the records of a project may take while they are kept. */
const PROJECT_BYTES_MAX = 64 * 1024 * 1024;
/** Appends of the same moment share a commit; each holds a span in memory. */
const JOINED_AT_ONCE = 32;
const EMPTY_KNOWN_MS = 5_000;
const EMPTY_KNOWN_MAX = 10_000;

export function createTraceLogs(deps: TraceLogsDeps): TraceLogs {
  const { traces, records, runCooperatively, limits, onUnread } = deps;
  const knownEmpty = createKnownEmpty(records);

  async function joinEach(spans: readonly NamedSpan[], at: JoinAt): Promise<void> {
    for (let start = 0; start < spans.length; start += JOINED_AT_ONCE) {
      const some = spans.slice(start, start + JOINED_AT_ONCE);
      const joined = await Promise.all(some.map((span) => joinRecords(deps, span, at)));
      const unnoted = some.filter((_, index) => joined[index] === true);
      if (unnoted.length > 0) await records.noteJoined(at.project.number, unnoted);
    }
  }

  async function join({ traces: drafts }: Pick<BatchDraft, 'traces'>, at: JoinAt): Promise<void> {
    const sinceMs = at.nowMs - LOG_RECORDS_KEPT_MS;
    const traceIds = drafts.map(({ traceId }) => normaliseTraceId(traceId));
    if (traceIds.length === 0 || (await knownEmpty.isEmpty(at))) return;
    const waiting = await records.spansOf(at.project.number, traceIds, sinceMs);
    if (waiting.length === 0) return;
    const sent = new Set(drafts.flatMap((draft) => namesIn(draft)));
    await joinEach(
      waiting.filter((span) => sent.has(nameOf(span))),
      at,
    );
  }

  return {
    async collect(logs, at) {
      const { calls, events, refused, unread } = await runCooperatively(sortRecords(logs, at.project));
      const { records: kept, ...read } = await runCooperatively(toKeepable(events, { limits, logs, nowMs: at.nowMs }));
      const batch = await runCooperatively(toBatchDraft(calls));
      const report = await traces.collectBatch(
        { ...batch, refused: [...refused, ...read.refused, ...batch.refused] },
        at,
      );
      if (kept.length > 0) {
        const keeping = { projectNumber: at.project.number, records: kept, receivedAtMs: at.nowMs };
        // Also where it fails: whether they were committed is unknown then.
        await records
          .keep({ ...keeping, bytesMax: PROJECT_BYTES_MAX })
          .finally(() => knownEmpty.forget(at.project.number));
      }
      await joinEach([...new Map(kept.map((record) => [nameOf(record), record])).values()], at);
      await join(batch, at);
      onUnread(unread);
      const errorMessage = [report.errorMessage, ...read.notes].filter((each) => each !== '').join('; ');
      return { rejectedRecords: report.rejectedSpans, errorMessage };
    },
    join,
  };
}

/**
 * Remembers which projects have no record, as most have none: a read for each request would take a third of the ingest on
 * PostgreSQL. What this process keeps is seen at once, the first record that another one keeps within a few seconds.
 */
function createKnownEmpty(records: Pick<LogRecordStore, 'isEmpty'>) {
  const known = new Map<number, { readonly atMs: number; readonly isEmpty: Promise<boolean> }>();
  return {
    async isEmpty({ project: { number }, nowMs }: JoinAt): Promise<boolean> {
      const found = known.get(number);
      if (found !== undefined && Math.abs(nowMs - found.atMs) < EMPTY_KNOWN_MS) return await found.isEmpty;
      if (known.size >= EMPTY_KNOWN_MAX) known.clear();
      const isEmpty = records.isEmpty(number);
      known.set(number, { atMs: nowMs, isEmpty });
      // A failure is that of the request that asked.
      isEmpty.catch(() => known.delete(number));
      return await isEmpty;
    },
    forget: (projectNumber: number) => void known.delete(projectNumber),
  };
}

function namesIn({ traceId: sent, spans }: BatchDraft['traces'][number]): readonly string[] {
  if (spans === undefined || isUnreadable(spans)) return [];
  const traceId = normaliseTraceId(sent);
  return Array.from({ length: spans.length }, (_, index) => {
    const span = spans.at(index);
    const spanId = span === undefined || isUnreadable(span) ? undefined : span.spanId;
    return typeof spanId === 'string' ? nameOf({ traceId, spanId: normaliseSpanId(spanId) }) : '';
  });
}

function nameOf({ traceId, spanId }: NamedSpan): string {
  return `${traceId} ${spanId}`;
}
