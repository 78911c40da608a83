/** Rows of traces. Only visible rows are rendered. */

import { Link, useLocation, useNavigate } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { Trace } from '../../../gen/spandrel/v1/traces_pb.js';
import { joined } from '../design/button.tsx';
import page from '../design/page.module.css';
import { useKeys } from '../layout/keys.tsx';
import { useProject } from '../session/session.tsx';
import { COLUMNS, type Column, shownColumns } from './columns.tsx';
import { findPlace, keepPlace, placeKey } from './place.ts';
import type { SortName, TraceListSearch } from './search.ts';
import { SELECT_WIDTH, SelectAll, SelectRow } from './selection/select-cells.tsx';
import type { Selection } from './selection/use-selection.ts';
import styles from './trace-table.module.css';

/** In pixels. */
const ROW = { dense: 32, roomy: 40 };
const AHEAD = 20;

type TraceTableProps = {
  readonly traces: readonly Trace[];
  readonly search: TraceListSearch;
  /** As the address lists them. */
  readonly columns: string | undefined;
  readonly isDense: boolean;
  /** Whether the rows are those of the search before, while the new one is read. */
  readonly isStale: boolean;
  readonly onSort: (sort: SortName | undefined, dir: 'asc' | undefined) => void;
  /** Loads the next page; null if there is none or it is loading. */
  readonly more: (() => void) | null;
  /** Somebody reads the rows: they are scrolled, or below the pointer. */
  readonly onReading: (isReading: boolean) => void;
  /** Changes when the table should go to its first row. */
  readonly toTop: number;
  readonly selection: Selection;
};

export function TraceTable(props: TraceTableProps) {
  const { traces, search, isDense, isStale, onSort, more, toTop, selection } = props;
  const box = useRef<HTMLDivElement>(null);
  const ids = shownColumns(props.columns);
  const columns = Object.entries(COLUMNS).filter(([id]) => ids.includes(id));
  const rowPx = isDense ? ROW.dense : ROW.roomy;
  const { start, keep } = usePlace(search);
  const virtual = useVirtualizer({
    count: traces.length,
    getScrollElement: () => box.current,
    estimateSize: () => rowPx,
    overscan: 12,
    initialOffset: start.scrollTop,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows of another height are measured again.
  useEffect(() => virtual.measure(), [rowPx, virtual]);
  const { at, setAt } = useCurrentRow({ traces, search, start, box, toTop, virtual });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (more && last >= traces.length - AHEAD) more();
  }, [more, last, traces.length]);
  const open = useOpen(search, keep);
  const move = (step: number) => {
    const next = Math.max(0, Math.min(traces.length - 1, at + step));
    setAt(next);
    virtual.scrollToIndex(next);
  };
  useKeys('Traces', [
    { keys: ['j'], label: 'Next row', act: () => move(1) },
    { keys: ['k'], label: 'Previous row', act: () => move(-1) },
    { keys: ['Enter'], label: 'Open the row', act: () => open(traces[at], at) },
    { keys: ['x'], label: 'Select the row', act: () => selection.toggle(at, false) },
    { keys: ['X'], label: 'Select from the row before to this one', act: () => selection.toggle(at, true) },
  ]);
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    move(step);
  };
  const reading = useReading(props.onReading);
  const template = { gridTemplateColumns: [SELECT_WIDTH, ...columns.map(([, { width }]) => width)].join(' ') };
  return (
    <div
      ref={box}
      className={joined(page.card, page.scroll, styles.box, isDense && styles.dense, isStale && styles.stale)}
      role="table"
      aria-label="Traces"
      aria-rowcount={traces.length + 1}
      aria-busy={isStale}
      tabIndex={0}
      onKeyDown={press}
      onScroll={({ currentTarget: { scrollTop } }) => {
        keep({ scrollTop });
        reading({ isScrolled: scrollTop > 0 });
      }}
      onPointerEnter={({ pointerType }) => reading({ isPointed: pointerType === 'mouse' })}
      onPointerLeave={() => reading({ isPointed: false })}
    >
      <div role="rowgroup" className={styles.headGroup}>
        <div role="row" aria-rowindex={1} className={styles.head} style={template}>
          <SelectAll selection={selection} />
          {columns.map(([id, column]) => (
            <Head key={id} column={column} search={search} onSort={onSort} />
          ))}
        </div>
      </div>
      <div role="rowgroup" className={styles.body} style={{ height: virtual.getTotalSize() }}>
        {items.map((item) => {
          const trace = traces[item.index];
          if (!trace) return null;
          return (
            <div
              key={trace.traceId}
              role="row"
              aria-rowindex={item.index + 2}
              aria-current={item.index === at || undefined}
              className={joined(
                styles.row,
                item.index === at && styles.current,
                selection.traces.has(trace.traceId) && styles.selected,
              )}
              style={{ ...template, height: rowPx, transform: `translateY(${item.start}px)` }}
            >
              <SelectRow selection={selection} index={item.index} traceId={trace.traceId} />
              {columns.map(([id, { isNumber, cell, tip }]) => (
                <div
                  key={id}
                  role="cell"
                  className={joined(styles.cell, isNumber && styles.number)}
                  // A text in Arabic begins at the right, and is cut at its end.
                  dir={isNumber ? undefined : 'auto'}
                  title={tip?.(trace)}
                >
                  {id === 'name' ? (
                    <TraceLink trace={trace} search={{ ...search, at: item.index + 1 }} onOpen={keep}>
                      {cell(trace)}
                    </TraceLink>
                  ) : (
                    cell(trace)
                  )}
                </div>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** Where one was in the list of this search, if one comes back to it. */
function usePlace(search: TraceListSearch) {
  const { slug } = useProject();
  const isReturn = useLocation({ select: ({ state }) => state.isReturn === true });
  const key = placeKey(slug, search);
  const [start] = useState(() => findPlace(key, isReturn));
  return { start, keep: (change: Parameters<typeof keepPlace>[1]) => keepPlace(key, change) };
}

type CurrentRow = Pick<TraceTableProps, 'traces' | 'search' | 'toTop'> & {
  readonly start: ReturnType<typeof findPlace>;
  readonly box: React.RefObject<HTMLDivElement | null>;
  readonly virtual: { scrollToIndex(index: number): void };
};

/** The row that keys move from. A new search begins at the first one. */
function useCurrentRow({ traces, search, toTop, start, box, virtual }: CurrentRow) {
  const [at, setAt] = useState(() =>
    Math.max(
      0,
      traces.findIndex(({ traceId }) => traceId === start.traceId),
    ),
  );
  const key = `${placeKey('', search)} ${toTop}`;
  const before = useRef<string | null>(null);
  useLayoutEffect(() => {
    if (before.current === null) {
      box.current?.scrollTo(0, start.scrollTop);
      // The trace that was read last may be another one than that which was opened.
      if (at > 0) requestAnimationFrame(() => virtual.scrollToIndex(at));
    } else if (before.current !== key) {
      box.current?.scrollTo(0, 0);
      setAt(0);
    }
    before.current = key;
  }, [key, at, start, box, virtual]);
  return { at, setAt };
}

type Reading = { readonly isScrolled?: boolean; readonly isPointed?: boolean };

function useReading(onReading: (isReading: boolean) => void) {
  const state = useRef({ isScrolled: false, isPointed: false });
  return (change: Reading) => {
    state.current = { ...state.current, ...change };
    onReading(state.current.isScrolled || state.current.isPointed);
  };
}

type Keep = ReturnType<typeof usePlace>['keep'];

function useOpen(search: TraceListSearch, keep: Keep) {
  const { slug } = useProject();
  const navigate = useNavigate();
  return (trace: Trace | undefined, index: number) => {
    if (!trace) return;
    const { traceId } = trace;
    keep({ traceId });
    void navigate({ to: '/$slug/traces/$traceId', params: { slug, traceId }, search: { ...search, at: index + 1 } });
  };
}

type TraceLinkProps = {
  readonly trace: Trace;
  readonly search: TraceListSearch & { readonly at: number };
  readonly onOpen: Keep;
  readonly children: React.ReactNode;
};

function TraceLink({ trace: { traceId }, search, onOpen, children }: TraceLinkProps) {
  const { slug } = useProject();
  return (
    <Link
      to="/$slug/traces/$traceId"
      params={{ slug, traceId }}
      search={search}
      className={styles.link}
      preload={false}
      onClick={() => onOpen({ traceId })}
    >
      {children}
    </Link>
  );
}

type HeadProps = Pick<TraceTableProps, 'search' | 'onSort'> & { readonly column: Column };

/** A click sorts by the column, a second one reverses the order. */
function Head({ column: { label, isNumber, sort }, search, onSort }: HeadProps) {
  const isSorted = sort !== undefined && sort === (search.sort ?? 'started');
  const order = search.dir === 'asc' ? 'ascending' : 'descending';
  const act = () => onSort(sort === 'started' ? undefined : sort, isSorted && search.dir !== 'asc' ? 'asc' : undefined);
  return (
    <div
      role="columnheader"
      className={joined(styles.cell, isNumber && styles.number)}
      {...(isSorted ? { 'aria-sort': order } : {})}
    >
      {sort ? (
        <button type="button" className={styles.sort} onClick={act}>
          {label}
          {isSorted && <span className={joined(styles.arrow, order === 'ascending' && styles.up)} aria-hidden="true" />}
        </button>
      ) : (
        label
      )}
    </div>
  );
}
