/** Joins kept log records to the stored spans that they tell of. */

import type { Project } from '../../caller.ts';
import { unavailableFault } from '../../fault.ts';
import type { TraceStore } from '../telemetry-port.ts';
import type { Traces } from '../traces.ts';
import { LOG_RECORDS_KEPT_MS, type LogRecordStore, type NamedSpan } from './log-record-store.ts';
import { mergeRecords } from './merge-records.ts';
import { toOtlpSpan } from './stored-span.ts';

type JoinDeps = {
  readonly store: Pick<TraceStore, 'find' | 'versionedSpan'>;
  readonly records: LogRecordStore;
  readonly traces: Pick<Traces, 'replaceSpan'>;
};

export type JoinAt = { readonly project: Project; readonly nowMs: number };

/** Of one span; further ones are only kept. */
const RECORDS_MAX = 1_000;
/** How often a span may change while records join it. */
const ATTEMPTS_MAX = 50;
const RETRY_AFTER_SECONDS = 1;

/**
 * Stores the span anew with its records, until nothing is missing. Whoever stores a span or a record reads the other
 * afterwards, so that of two processes at least one sees both; and a span that changed meanwhile is read again, so that
 * none undoes what another stored. Returns whether records have joined of which that is not noted yet.
 */
export async function joinRecords({ store, records, traces }: JoinDeps, span: NamedSpan, at: JoinAt): Promise<boolean> {
  const { project, nowMs } = at;
  const { number } = project;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const trace = await store.find(number, span.traceId);
    const stored = trace && (await store.versionedSpan({ ...trace, projectNumber: number }, span.spanId));
    if (trace === null || stored === null) return false;
    const range = { sinceMs: nowMs - LOG_RECORDS_KEPT_MS, limit: RECORDS_MAX };
    const listed = await records.listOf(number, span, range);
    const { span: sent, isOfOpenTelemetry } = toOtlpSpan(span.traceId, stored.span);
    const merged = mergeRecords(sent, listed);
    if (merged === null) return listed.some(({ isJoined }) => !isJoined);
    const madeOf = { spanId: span.spanId, sequence: trace.sequence, version: stored.version };
    const replaced = { ...merged, isOfOpenTelemetry, stored: stored.span, madeOf };
    if ((await traces.replaceSpan(replaced, at)) === 'refused') return false;
  }
  throw unavailableFault('A span changes faster than log records can join it.', RETRY_AFTER_SECONDS);
}
