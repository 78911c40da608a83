/** The traces of the list that are selected. */

import { useEffect, useRef, useState } from 'react';
import type { Trace } from '../../../../gen/spandrel/v1/traces_pb.js';

/** As many as a request names. */
export const SELECTED_MAX = 1_000;

type Selected = ReadonlyMap<string, Trace>;

export type Selection = {
  readonly traces: Selected;
  /** Of the rows of the list: none, some or all. */
  readonly share: 'none' | 'some' | 'all';
  /** Selects a row or leaves it out; `isRange`: all rows from the one before it on, too. */
  toggle(index: number, isRange: boolean): void;
  /** Selects all rows, or leaves all of them out. */
  toggleAll(): void;
  clear(): void;
};

const NONE: Selected = new Map();

/** `key` names the search: another one begins with nothing selected. Traces that are selected stay so while the rows change. */
export function useSelection(rows: readonly Trace[], key: string): Selection {
  const [traces, setTraces] = useState(NONE);
  const anchor = useRef<string | null>(null);
  const before = useRef(key);
  useEffect(() => {
    if (before.current !== key) setTraces(NONE);
    before.current = key;
  }, [key]);
  const count = rows.reduce((sum, { traceId }) => sum + Number(traces.has(traceId)), 0);
  return {
    traces,
    share: shareOf(count, Math.min(rows.length, SELECTED_MAX)),
    toggle(index, isRange) {
      const row = rows[index];
      if (row === undefined) return;
      const start = isRange ? rows.findIndex(({ traceId }) => traceId === anchor.current) : -1;
      const range = start < 0 ? [row] : rows.slice(Math.min(start, index), Math.max(start, index) + 1);
      const isOn = start >= 0 || !traces.has(row.traceId);
      setTraces(isOn ? withTraces(traces, range) : withoutTraces(traces, range));
      anchor.current = row.traceId;
    },
    toggleAll: () => setTraces(count > 0 ? withoutTraces(traces, rows) : withTraces(traces, rows)),
    clear: () => setTraces(NONE),
  };
}

function shareOf(count: number, all: number): Selection['share'] {
  if (count === 0) return 'none';
  return count < all ? 'some' : 'all';
}

/** Up to SELECTED_MAX. */
export function withTraces(selected: Selected, more: readonly Trace[]): Selected {
  const added = more.filter(({ traceId }) => !selected.has(traceId)).slice(0, SELECTED_MAX - selected.size);
  return new Map([...selected, ...added.map((trace) => [trace.traceId, trace] as const)]);
}

function withoutTraces(selected: Selected, less: readonly Trace[]): Selected {
  const ids = new Set(less.map(({ traceId }) => traceId));
  return new Map([...selected].filter(([traceId]) => !ids.has(traceId)));
}
