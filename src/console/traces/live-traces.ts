/** What live told, within a bound, and how it stands among the traces that a search found. */

import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Trace } from '../../../gen/spandrel/v1/traces_pb.js';

export const LIVE_MAX = 500;

export type LiveNews = { readonly traces: ReadonlyMap<string, Trace>; readonly leftOut: number };

export function createLiveTraces(max = LIVE_MAX) {
  const traces = new Map<string, Trace>();
  let leftOut = 0;
  let hasNews = false;
  return {
    /** The trace as it is now; beyond the bound the one that changed longest ago is left out. */
    add(trace: Trace): void {
      hasNews = true;
      traces.delete(trace.traceId);
      traces.set(trace.traceId, trace);
      const [first] = traces.keys();
      if (traces.size <= max || first === undefined) return;
      traces.delete(first);
      leftOut += 1;
    },
    leaveOut(count: number): void {
      hasNews = true;
      leftOut += count;
    },
    /** Null where nothing is new since the last time. */
    take(): LiveNews | null {
      if (!hasNews) return null;
      hasNews = false;
      return { traces: new Map(traces), leftOut };
    },
  };
}

type Place = {
  /** Milliseconds since the epoch. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Whether the search found all there is: then older traces stand at its end, else a later page has them. */
  readonly isComplete: boolean;
};

/** Newest first, as the search found them; each as it is now. */
export function mergeLive(
  found: readonly Trace[],
  live: ReadonlyMap<string, Trace>,
  { fromMs, toMs, isComplete }: Place,
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
