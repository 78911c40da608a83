/** Rows of traces. Only visible rows are rendered. */

import { Link, useNavigate } from '@tanstack/react-router';
import { useTable } from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react';
import type { Trace } from '../../../gen/spandrel/v1/traces_pb.js';
import { joined } from '../design/button.tsx';
import { useProject } from '../session/session.tsx';
import { shownColumns } from './column-picker.tsx';
import { columns, features, SIZES } from './columns.tsx';
import type { SortName, TraceListSearch } from './search.ts';
import styles from './trace-table.module.css';

const ROW_PX = 38;
const AHEAD = 20;

type TraceTableProps = {
  readonly traces: Trace[];
  readonly search: TraceListSearch;
  readonly onSort: (sort: SortName | undefined, dir: 'asc' | undefined) => void;
  /** Loads the next page; null if there is none or it is loading. */
  readonly more: (() => void) | null;
};

export function TraceTable({ traces, search, onSort, more }: TraceTableProps) {
  const box = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState(0);
  const shown = shownColumns(search.columns);
  const columnVisibility = useMemo(
    () => Object.fromEntries(Object.keys(SIZES).map((id) => [id, shown.includes(id)])),
    [shown],
  );
  const table = useTable({
    features,
    columns,
    data: traces,
    state: { columnVisibility },
    getRowId: ({ traceId }) => traceId,
  });
  const { rows } = table.getRowModel();
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (more && last >= rows.length - AHEAD) more();
  }, [more, last, rows.length]);
  const open = useOpen();
  const move = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter') {
      const row = rows[at];
      if (row && event.target === event.currentTarget) open(row.original);
      return;
    }
    if (step === undefined) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(rows.length - 1, at + step));
    setAt(next);
    virtual.scrollToIndex(next);
  };
  const template = {
    gridTemplateColumns: Object.keys(SIZES)
      .filter((id) => shown.includes(id))
      .map((id) => SIZES[id]?.width)
      .join(' '),
  };
  return (
    <div
      ref={box}
      className={styles.box}
      role="table"
      aria-label="Traces"
      aria-rowcount={rows.length + 1}
      tabIndex={0}
      onKeyDown={move}
    >
      <div role="rowgroup" className={styles.headGroup}>
        <div role="row" aria-rowindex={1} className={styles.head} style={template}>
          {table.getHeaderGroups()[0]?.headers.map((header) => (
            <Head
              key={header.id}
              id={header.id}
              label={String(header.column.columnDef.header)}
              search={search}
              onSort={onSort}
            />
          ))}
        </div>
      </div>
      <div role="rowgroup" className={styles.body} style={{ height: virtual.getTotalSize() }}>
        {items.map((item) => {
          const row = rows[item.index];
          if (!row) return null;
          return (
            <div
              key={row.id}
              role="row"
              aria-rowindex={item.index + 2}
              aria-current={item.index === at || undefined}
              className={joined(styles.row, item.index === at && styles.current)}
              style={{ ...template, transform: `translateY(${item.start}px)` }}
            >
              {row.getVisibleCells().map((cell) => (
                <div
                  key={cell.id}
                  role="cell"
                  className={joined(styles.cell, SIZES[cell.column.id]?.isNumber && styles.number)}
                >
                  {cell.column.id === 'name' ? (
                    <TraceLink trace={row.original}>
                      <table.FlexRender cell={cell} />
                    </TraceLink>
                  ) : (
                    <table.FlexRender cell={cell} />
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

type HeadProps = Pick<TraceTableProps, 'search' | 'onSort'> & { readonly id: string; readonly label: string };

/** A click sorts by the column, a second one reverses the order. */
function Head({ id, label, search, onSort }: HeadProps) {
  const size = SIZES[id];
  const isSorted = size?.sort !== undefined && size.sort === (search.sort ?? 'started');
  const order = search.dir === 'asc' ? 'ascending' : 'descending';
  const sort = () =>
    onSort(size?.sort === 'started' ? undefined : size?.sort, isSorted && search.dir !== 'asc' ? 'asc' : undefined);
  return (
    <div
      role="columnheader"
      className={joined(styles.cell, size?.isNumber && styles.number)}
      {...(isSorted ? { 'aria-sort': order } : {})}
    >
      {size?.sort ? (
        <button type="button" className={styles.sort} onClick={sort}>
          {label}
          {isSorted && <span className={joined(styles.arrow, order === 'ascending' && styles.up)} aria-hidden="true" />}
        </button>
      ) : (
        label
      )}
    </div>
  );
}
