/** The rows of a live list. While somebody reads them, new traces wait, so that no row moves away below the pointer. */

import { useCallback, useEffect, useMemo, useState } from 'react';
import type { Trace } from '../../../gen/spandrel/v1/traces_pb.js';
import { mergeLive } from './live-traces.ts';
import type { Bounds } from './range.ts';

type Arriving = {
  /** Those that the search found. */
  readonly rows: readonly Trace[];
  readonly live: ReadonlyMap<string, Trace>;
  /** The range that was searched; null before it was. */
  readonly bounds: Bounds | null;
  /** Whether the search has no further page. */
  readonly isComplete: boolean;
};

export type Arrivals = {
  readonly traces: readonly Trace[];
  /** The number of new traces that are not shown yet. */
  readonly waiting: number;
  readonly isPaused: boolean;
  readonly onPause: (isPaused: boolean) => void;
  readonly onReading: (isReading: boolean) => void;
  /** Shows what waits. */
  readonly release: () => void;
  /** Grows with each release. */
  readonly released: number;
};

const NONE: ReadonlySet<string> = new Set();

export function useArrivals({ rows, live, bounds, isComplete }: Arriving): Arrivals {
  const [isPaused, onPause] = useState(false);
  const [isReading, onReading] = useState(false);
  const [shownIds, setShownIds] = useState(NONE);
  const [released, setReleased] = useState(0);
  const isHeld = isPaused || isReading;
  useEffect(() => {
    if (!isHeld || live.size === 0) setShownIds(live.size === 0 ? NONE : new Set(live.keys()));
  }, [isHeld, live]);
  const merge = useCallback(
    (traces: ReadonlyMap<string, Trace>): readonly Trace[] => {
      if (traces.size === 0 || bounds === null) return rows;
      const toMs = bounds.isOpen ? Number.POSITIVE_INFINITY : bounds.toMs;
      return mergeLive(rows, traces, { fromMs: bounds.fromMs, toMs, isComplete });
    },
    [rows, bounds, isComplete],
  );
  const all = useMemo(() => merge(live), [merge, live]);
  const traces = useMemo(() => {
    if (!isHeld) return all;
    // What changes in a row that is shown is shown at once.
    const known = new Set(rows.map(({ traceId }) => traceId));
    return merge(new Map([...live].filter(([id]) => known.has(id) || shownIds.has(id))));
  }, [isHeld, all, rows, merge, live, shownIds]);
  const release = () => {
    setShownIds(new Set(live.keys()));
    setReleased((count) => count + 1);
  };
  return { traces, waiting: all.length - traces.length, isPaused, onPause, onReading, release, released };
}
