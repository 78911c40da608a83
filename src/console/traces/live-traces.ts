/** A bounded buffer of live traces, and their merge with the traces of a search. */

import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Trace } from '../../../gen/spandrel/v1/traces_pb.js';

const LIVE_MAX = 500;

type LiveSnapshot = { readonly traces: ReadonlyMap<string, Trace>; readonly leftOut: number };

export function createLiveTraces(max = LIVE_MAX) {
  const traces = new Map<string, Trace>();
  let leftOut = 0;
  let hasChanged = false;
  return {
    /** Replaces the trace. Beyond the limit it drops the trace with the oldest change. */
    add(trace: Trace): void {
      hasChanged = true;
      traces.delete(trace.traceId);
      traces.set(trace.traceId, trace);
      const [first] = traces.keys();
      if (traces.size <= max || first === undefined) return;
      traces.delete(first);
      leftOut += 1;
    },
    leaveOut(count: number): void {
      hasChanged = true;
      leftOut += count;
    },
    /** Null if nothing changed since the last call. */
    readChanged(): LiveSnapshot | null {
      if (!hasChanged) return null;
      hasChanged = false;
      return { traces: new Map(traces), leftOut };
    },
  };
}

type SearchedRange = {
  /** Milliseconds since the epoch. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Whether the search has no further page. If it has, traces older than the found ones belong to that page. */
  readonly isComplete: boolean;
};

/** Newest first, with the live version of each trace. */
export function mergeLive(
  found: readonly Trace[],
  live: ReadonlyMap<string, Trace>,
  { fromMs, toMs, isComplete }: SearchedRange,
): Trace[] {
  const known = new Set(found.map(({ traceId }) => traceId));
  const oldest = found.at(-1);
  const endMs = isComplete || !oldest ? fromMs : Math.max(fromMs, startOf(oldest));
  const fresh = [...live.values()].filter(
    (trace) => !known.has(trace.traceId) && startOf(trace) >= endMs && startOf(trace) <= toMs,
  );
  const current = found.map((trace) => live.get(trace.traceId) ?? trace);
  return fresh.length === 0 ? current : [...fresh, ...current].sort((one, other) => startOf(other) - startOf(one));
}

function startOf({ timestamps }: Trace): number {
  return timestamps?.startedAt ? timestampMs(timestamps.startedAt) : 0;
}
