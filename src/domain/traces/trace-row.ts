/** Reads traces that were found a moment ago: they may be erased by now. */

import type { Project } from '../caller.ts';
import { Fault } from '../fault.ts';
import { LISTED_TEXTS_MAX_BYTES } from './shown-inputs.ts';
import type { Traces, TraceView } from './traces.ts';

/** A trace and its approximate size in bytes. */
export type Row = { readonly view: TraceView; readonly bytes: number };

type FoundTrace = {
  readonly project: Project;
  readonly traceId: string;
  readonly spansLimit: number;
  readonly nowMs: number;
};

/** Null when the trace is erased. */
export async function readRow(
  traces: Pick<Traces, 'get'>,
  { project, nowMs, ...found }: FoundTrace,
): Promise<Row | null> {
  let bytes = 0;
  const countResponseBytes = (more: number) => {
    bytes += more;
  };
  const request = { ...found, spansCursor: '', shownTextsMaxBytes: LISTED_TEXTS_MAX_BYTES, countResponseBytes };
  const view = await unlessErased(traces.get(project, request, nowMs));
  return view === null ? null : { view, bytes };
}

export async function unlessErased<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Fault && error.code === 'trace_not_found') return null;
    throw error;
  }
}
