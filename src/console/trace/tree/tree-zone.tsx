/** The spans of a trace: as rows with or without bars over time, or as a flame graph. */

import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useCallback, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import type { SpanType, TraceSpan } from '../../../../gen/spandrel/v1/traces_pb.js';
import { useKeys } from '../../layout/keys.tsx';
import type { ChangeOf } from '../../layout/search.ts';
import { readTypes, type TraceSearch, writeTypes } from '../search.ts';
import type { SpanNode } from '../span-tree.ts';
import { Flame } from './flame.tsx';
import { measureSpans } from './measures.ts';
import { type Folding, findRuns, findSpans, foldedRows, foundRows, revealing, type TreeRow, UNFOLDED } from './rows.ts';
import { Ruler } from './ruler.tsx';
import { SpanRow } from './span-row.tsx';
import { clampWindow, panWindow, type TimeWindow, wholeWindow, zoomWindow } from './time-window.ts';
import styles from './tree.module.css';
import { TreeTools, type TreeView, ZoomButtons } from './tree-tools.tsx';

/** bench/rows/console.ts has the same height. */
const ROW_PX = 30;
/** Around a span that is zoomed to, as a share of its length. */
const MARGIN = 0.05;

type TreeZoneProps = {
  readonly nodes: readonly SpanNode[];
  /** The time of the whole trace, which may have more spans than are loaded. */
  readonly time: TimeWindow;
  readonly chosen: string | null;
  readonly onChoose: (span: TraceSpan | null) => void;
  readonly search: TraceSearch;
  readonly onSearch: (change: ChangeOf<TraceSearch>) => void;
  readonly isComplete: boolean;
};

export function TreeZone({ nodes, time, chosen, onChoose, search, onSearch, isComplete }: TreeZoneProps) {
  const view: TreeView = search.view ?? 'timeline';
  const [onlyCritical, setCritical] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const measures = useMemo(() => measureSpans(nodes), [nodes]);
  const { rows, found, folding, setFolding, runs, types } = useRows(nodes, search);
  useReveal({ nodes, runs, chosen, setFolding });
  const { whole, shown, zoom, show } = useZoom(nodes, time);
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
  });
  const at = useMemo(() => rows.findIndex(({ node }) => node.span.spanId === chosen), [rows, chosen]);
  useFollow(virtual, at, chosen);
  const fold = useCallback(
    (row: TreeRow, isFolded: boolean) => setFolding((now) => foldRow(now, row, isFolded)),
    [setFolding],
  );
  const move = (step: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, at + step));
    onChoose(rows[next]?.node.span ?? null);
  };
  const heads = useMemo(() => nodes.flatMap(({ index, span }) => (runs[index] ? [span.spanId] : [])), [nodes, runs]);
  const isFolded = folding.folded.size > 0 || heads.some((id) => !folding.opened.has(id));
  const toggleAll = () => setFolding(isFolded ? { folded: new Set(), opened: new Set(heads) } : foldAll(nodes));
  const setView = (next: TreeView) => onSearch({ view: next === 'timeline' ? undefined : next });
  useKeys('Spans of the trace', [
    { keys: ['j'], label: 'Next span', act: () => move(1) },
    { keys: ['k'], label: 'Previous span', act: () => move(-1) },
    { keys: ['Escape'], label: 'Whole trace', act: () => onChoose(null) },
    { keys: ['/'], label: 'Find spans', act: () => field.current?.focus() },
    { keys: ['1'], label: 'Timeline', act: () => setView('timeline') },
    { keys: ['2'], label: 'Tree', act: () => setView('tree') },
    { keys: ['3'], label: 'Flame graph', act: () => setView('flame') },
    { keys: ['x'], label: 'Fold or unfold all', act: toggleAll },
    { keys: ['c'], label: 'Critical path', act: () => setCritical((now) => !now) },
    { keys: ['+'], label: 'Zoom in', act: () => zoom.by(2) },
    { keys: ['-'], label: 'Zoom out', act: () => zoom.by(0.5) },
    { keys: ['0'], label: 'Whole time', act: zoom.reset },
    { keys: ['<'], label: 'Earlier', act: () => zoom.pan(-0.25) },
    { keys: ['>'], label: 'Later', act: () => zoom.pan(0.25) },
  ]);
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = rows[at];
    if (event.key === 'ArrowDown') move(1);
    else if (event.key === 'ArrowUp') move(-1);
    else if (event.key === 'ArrowRight' && row) {
      const below = nodes[row.node.index + 1];
      if (view !== 'flame') fold(row, false);
      else if (below?.parent === row.node.index) onChoose(below.span);
    } else if (event.key === 'ArrowLeft' && row) {
      const above = nodes[row.node.parent];
      if (view !== 'flame' && isOpen(row, folding)) fold(row, true);
      else if (above) onChoose(above.span);
    } else return;
    event.preventDefault();
  };
  const zoomTo = useCallback(
    ({ startMs, endMs }: SpanNode) => {
      const marginMs = MARGIN * (endMs - startMs);
      show({ startMs: startMs - marginMs, endMs: endMs + marginMs });
    },
    [show],
  );
  const counts = useMemo(() => countTypes(nodes), [nodes]);
  return (
    <div className={styles.zone} data-view={view}>
      <TreeTools
        field={field}
        find={search.find ?? ''}
        onFind={(text) => onSearch({ find: text || undefined })}
        found={found === null ? null : found.size}
        counts={counts}
        types={types}
        onTypes={(next) => onSearch({ types: writeTypes(next) })}
        view={view}
        onView={setView}
        isWhole={chosen === null}
        onWhole={() => onChoose(null)}
        onlyCritical={onlyCritical}
        onCritical={setCritical}
        folding={view === 'flame' || found !== null ? null : { isFolded, toggle: toggleAll }}
        zoom={zoom}
      />
      <div className={styles.scale}>
        {view !== 'flame' && <span>Span{view === 'timeline' && <ZoomButtons {...zoom} />}</span>}
        {view !== 'tree' && <Ruler whole={whole} shown={shown} onZoom={show} />}
        {view !== 'flame' && (
          <>
            <span className={styles.tokens}>Tokens</span>
            <span className={styles.cost}>Cost</span>
            {view === 'tree' && <span>Own time</span>}
            <span>Time</span>
          </>
        )}
      </div>
      {view === 'flame' ? (
        <Flame
          nodes={nodes}
          shown={shown}
          measures={measures}
          found={found}
          onlyCritical={onlyCritical}
          chosen={chosen}
          onChoose={onChoose}
          onZoom={zoomTo}
          onKeyDown={press}
        />
      ) : (
        <div
          ref={box}
          className={styles.box}
          role="tree"
          aria-label="Spans; j and k move"
          tabIndex={0}
          aria-activedescendant={at >= 0 ? rowId(at) : undefined}
          onKeyDown={press}
        >
          <div role="presentation" className={styles.rows} style={{ height: virtual.getTotalSize() }}>
            {virtual.getVirtualItems().map((item) => {
              const row = rows[item.index];
              if (!row) return null;
              const { index, span } = row.node;
              return (
                <SpanRow
                  key={span.spanId}
                  id={rowId(item.index)}
                  row={row}
                  top={item.start}
                  shown={view === 'timeline' ? shown : null}
                  measures={measures}
                  chosen={item.index === at}
                  folded={folding.folded.has(span.spanId)}
                  isDimmed={(found !== null && !found.has(index)) || (onlyCritical && measures.isCritical[index] !== 1)}
                  onChoose={onChoose}
                  onFold={fold}
                  onZoom={zoomTo}
                />
              );
            })}
          </div>
        </div>
      )}
      {!isComplete && (
        <p role="status" className={styles.foot}>
          Loading more spans…
        </p>
      )}
    </div>
  );
}

function rowId(index: number): string {
  return `span-${index}`;
}

function useRows(nodes: readonly SpanNode[], search: TraceSearch) {
  const [folding, setFolding] = useState(UNFOLDED);
  const runs = useMemo(() => findRuns(nodes), [nodes]);
  const types = useMemo(() => readTypes(search.types), [search.types]);
  // Typing stays fast while ten thousand spans are searched.
  const text = useDeferredValue(search.find ?? '');
  const found = useMemo(() => findSpans(nodes, { text, types }), [nodes, text, types]);
  const rows = useMemo(
    () => (found === null ? foldedRows(nodes, runs, folding) : foundRows(nodes, found)),
    [nodes, runs, folding, found],
  );
  return { rows, found, folding, setFolding, runs, types };
}

type Reveal = {
  readonly nodes: readonly SpanNode[];
  readonly runs: Int32Array;
  readonly chosen: string | null;
  readonly setFolding: (change: (now: Folding) => Folding) => void;
};

/** A span that is chosen elsewhere, or by the address, is unfolded once; then it can be folded away again. */
function useReveal({ nodes, runs, chosen, setFolding }: Reveal): void {
  const revealed = useRef<string | null>(null);
  useEffect(() => {
    if (chosen === null) revealed.current = null;
    if (chosen === null || revealed.current === chosen || !nodes.some(({ span }) => span.spanId === chosen)) return;
    revealed.current = chosen;
    setFolding((now) => revealing(nodes, runs, now, chosen));
  }, [nodes, runs, chosen, setFolding]);
}

type Virtual = {
  readonly range: { readonly startIndex: number; readonly endIndex: number } | null;
  scrollToIndex(index: number): void;
};

/** Spans that load later move the rows: the chosen span stays in view, unless somebody has scrolled away from it. */
function useFollow(virtual: Virtual, at: number, chosen: string | null): void {
  const shown = useRef<{ readonly spanId: string | null; readonly at: number } | null>(null);
  useEffect(() => {
    if (at < 0) return;
    const before = shown.current;
    shown.current = { spanId: chosen, at };
    const { range } = virtual;
    const wasInView = before !== null && range !== null && range.startIndex <= before.at && before.at <= range.endIndex;
    if (before?.spanId === chosen && (before.at === at || !wasInView)) return;
    virtual.scrollToIndex(at);
  }, [at, chosen, virtual]);
}

function useZoom(nodes: readonly SpanNode[], time: TimeWindow) {
  const [wanted, setWanted] = useState<TimeWindow | null>(null);
  const whole = useMemo(() => wholeWindow(nodes, time), [nodes, time]);
  const shown = useMemo(() => (wanted === null ? whole : clampWindow(wanted, whole)), [wanted, whole]);
  const zoom = {
    isZoomed: wanted !== null,
    by: (factor: number) => setWanted(zoomWindow(shown, whole, factor)),
    pan: (share: number) => setWanted((now) => now && panWindow(shown, whole, share)),
    reset: () => setWanted(null),
  };
  return { whole, shown, zoom, show: setWanted };
}

function isOpen({ node, run }: TreeRow, { folded }: Folding): boolean {
  return run === null ? node.descendants > 0 && !folded.has(node.span.spanId) : run.isOpen;
}

function foldRow({ folded, opened }: Folding, { node, run }: TreeRow, isFolded: boolean): Folding {
  const id = node.span.spanId;
  if (run === null) {
    if (node.descendants === 0) return { folded, opened };
    return { folded: isFolded ? new Set([...folded, id]) : new Set([...folded].filter((each) => each !== id)), opened };
  }
  return { folded, opened: isFolded ? new Set([...opened].filter((each) => each !== id)) : new Set([...opened, id]) };
}

function foldAll(nodes: readonly SpanNode[]): Folding {
  const foldable = nodes.filter(({ descendants }) => descendants > 0);
  return { folded: new Set(foldable.map(({ span }) => span.spanId)), opened: new Set() };
}

function countTypes(nodes: readonly SpanNode[]): readonly (readonly [SpanType, number])[] {
  const counts = new Map<SpanType, number>();
  for (const { span } of nodes) counts.set(span.type, (counts.get(span.type) ?? 0) + 1);
  return [...counts].sort(([, one], [, other]) => other - one);
}
