/** The turns of two runs in two columns. Only the rows in view are elements. */

import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useMemo, useRef } from 'react';
import { joined } from '../design/button.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { useScroller } from '../trace/conversation-list.tsx';
import type { Turn } from '../trace/conversation-turns.ts';
import { LongText } from '../trace/long-text.tsx';
import { kindOf, type Row, textOfTurn } from './align-turns.ts';
import styles from './compare.module.css';
import { diffWords, type Run } from './diff.ts';
import { Words } from './words.tsx';

const ROW_PX = 140;
const GAP_PX = 10;

export function ComparedTurns({ rows }: { readonly rows: readonly Row[] }) {
  const list = useRef<HTMLOListElement>(null);
  const { scroller, marginPx } = useScroller(list);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller,
    estimateSize: () => ROW_PX,
    gap: GAP_PX,
    overscan: 3,
    scrollMargin: marginPx,
  });
  return (
    <ol
      ref={list}
      className={styles.list}
      aria-label="Messages side by side"
      style={{ height: virtual.getTotalSize() }}
    >
      {virtual.getVirtualItems().map(({ index, start }) => {
        const row = rows[index];
        if (!row) return null;
        return (
          <li
            key={index}
            ref={virtual.measureElement}
            data-index={index}
            aria-setsize={rows.length}
            aria-posinset={index + 1}
            style={{ transform: `translateY(${start - marginPx}px)` }}
          >
            <RowView row={row} />
          </li>
        );
      })}
    </ol>
  );
}

const RowView = memo(function RowView({ row: { first, second, isSame } }: { readonly row: Row }) {
  const runs = useMemo(
    () => (first && second && !isSame ? diffWords(textOfTurn(first), textOfTurn(second)) : null),
    [first, second, isSame],
  );
  return (
    <div className={styles.row}>
      <Cell turn={first} runs={runs} side="removed" isSame={isSame} />
      <Cell turn={second} runs={runs} side="added" isSame={isSame} />
    </div>
  );
});

type CellProps = {
  readonly turn: Turn | null;
  /** Null for turns that are the same, or that only one run has. */
  readonly runs: readonly Run[] | null;
  readonly side: 'removed' | 'added';
  readonly isSame: boolean;
};

const NAMES = { removed: 'First', added: 'Second' } as const;

function Cell({ turn, runs, side, isSame }: CellProps) {
  if (turn === null) return <div className={joined(styles.cell, styles.none)}>{NAMES[side]}: no such message</div>;
  const kind = nameControls(kindOf(turn));
  return (
    <article className={joined(styles.cell, isSame && styles.same)} aria-label={`${NAMES[side]}, ${kind}`}>
      <span className={page.soft}>
        {kind}
        {isSame && ', the same'}
        {!isSame && runs === null && `, only in the ${NAMES[side].toLowerCase()}`}
      </span>
      {runs === null ? <LongText text={textOfTurn(turn)} /> : <Words runs={runs} side={side} />}
    </article>
  );
}
