/** Rows of traces. Only visible rows are rendered. */

import { Link, useNavigate } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import type { Trace } from '../../../gen/spandrel/v1/traces_pb.js';
import { joined } from '../design/button.tsx';
import page from '../design/page.module.css';
import { useProject } from '../session/session.tsx';
import { COLUMNS, type Column, shownColumns } from './columns.tsx';
import type { SortName, TraceListSearch } from './search.ts';
import styles from './trace-table.module.css';

const ROW_PX = 38;
const AHEAD = 20;

type TraceTableProps = {
  readonly traces: readonly Trace[];
  readonly search: TraceListSearch;
  readonly onSort: (sort: SortName | undefined, dir: 'asc' | undefined) => void;
  /** Loads the next page; null if there is none or it is loading. */
  readonly more: (() => void) | null;
};

export function TraceTable({ traces, search, onSort, more }: TraceTableProps) {
  const box = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState(0);
  const ids = shownColumns(search.columns);
  const columns = Object.entries(COLUMNS).filter(([id]) => ids.includes(id));
  const virtual = useVirtualizer({
    count: traces.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (more && last >= traces.length - AHEAD) more();
  }, [more, last, traces.length]);
  const open = useOpen();
  const move = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter') {
      const trace = traces[at];
      if (trace && event.target === event.currentTarget) open(trace);
      return;
    }
    if (step === undefined) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(traces.length - 1, at + step));
    setAt(next);
    virtual.scrollToIndex(next);
  };
  const template = { gridTemplateColumns: columns.map(([, { width }]) => width).join(' ') };
  return (
    <div
      ref={box}
      className={`${page.card} ${page.scroll} ${styles.box}`}
      role="table"
      aria-label="Traces"
      aria-rowcount={traces.length + 1}
      tabIndex={0}
      onKeyDown={move}
    >
      <div role="rowgroup" className={styles.headGroup}>
        <div role="row" aria-rowindex={1} className={styles.head} style={template}>
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
              className={joined(styles.row, item.index === at && styles.current)}
              style={{ ...template, transform: `translateY(${item.start}px)` }}
            >
              {columns.map(([id, { isNumber, cell }]) => (
                <div key={id} role="cell" className={joined(styles.cell, isNumber && styles.number)}>
                  {id === 'name' ? <TraceLink trace={trace}>{cell(trace)}</TraceLink> : cell(trace)}
                </div>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function useOpen(): (trace: Trace) => void {
  const { slug } = useProject();
  const navigate = useNavigate();
  return ({ traceId }) => void navigate({ to: '/$slug/traces/$traceId', params: { slug, traceId } });
}

function TraceLink({ trace, children }: { readonly trace: Trace; readonly children: React.ReactNode }) {
  const { slug } = useProject();
  return (
    <Link to="/$slug/traces/$traceId" params={{ slug, traceId: trace.traceId }} className={styles.link} preload={false}>
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
