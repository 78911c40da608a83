/** Reads all of a stored trace. */

import type { StoredTrace, TraceStore } from '../../../src/domain/traces/telemetry-port.ts';
import type { Evaluation, Span } from '../../../src/domain/traces/trace.ts';
import { PROJECT } from './samples.ts';

const EVERYTHING = { after: null, limit: 1_000_000 };

/** Finds a trace; throws if missing. */
export async function findStored(
  traces: TraceStore,
  traceId: string,
  projectNumber: number = PROJECT.number,
): Promise<StoredTrace> {
  const record = await traces.find(projectNumber, traceId);
  if (record === null) throw new Error(`the trace ${traceId} is not there`);
  return { ...record, projectNumber };
}

/** Ordered by start, then id. */
export async function readSpanIds(traces: TraceStore, trace: StoredTrace): Promise<readonly string[]> {
  return (await traces.spanOrder(trace, EVERYTHING)).map(({ id }) => id);
}

export async function readAllSpans(traces: TraceStore, trace: StoredTrace): Promise<readonly Span[]> {
  return await traces.spans(trace, await readSpanIds(traces, trace));
}

/** Ordered by insertion, then id. */
export async function readAllEvaluations(traces: TraceStore, trace: StoredTrace): Promise<readonly Evaluation[]> {
  const positions = await traces.evaluationOrder(trace, EVERYTHING);
  return await traces.evaluations(
    trace,
    positions.map(({ id }) => id),
  );
}
