/** Spans as rows with bars over time. Only visible rows are rendered, so that ten thousand scroll smoothly. */

import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, memo, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { SpanType, type TraceSpan } from '../../../gen/spandrel/v1/traces_pb.js';
import { Button, joined } from '../design/button.tsx';
import { formatCost, formatDuration, nameControls } from '../design/format.ts';
import { DEPTH_MAX, type SpanNode, visibleNodes } from './span-tree.ts';
import { spanTypeName } from './trace-enums.ts';
import styles from './waterfall.module.css';

const ROW_PX = 30;
const NAME_CHARACTERS = 200;

type WaterfallProps = {
  readonly nodes: readonly SpanNode[];
  /** The range of the whole trace, which may have more spans than are loaded. */
  readonly whole: Range;
  readonly chosen: string | null;
  readonly onChoose: (span: TraceSpan | null) => void;
  readonly bars: boolean;
  readonly onBars: (bars: boolean) => void;
  readonly complete: boolean;
};

export function Waterfall({ nodes, whole, chosen, onChoose, bars, onBars, complete }: WaterfallProps) {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const visible = useMemo(() => visibleNodes(nodes, folded), [nodes, folded]);
  const range = useMemo(() => rangeOf(nodes, whole), [nodes, whole]);
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: visible.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
  });
  const at = useMemo(() => visible.findIndex(({ span }) => span.spanId === chosen), [visible, chosen]);
  const shown = useRef<{ readonly spanId: string | null; readonly at: number } | null>(null);
  useEffect(() => {
    if (at < 0) return;
    const before = shown.current;
    shown.current = { spanId: chosen, at };
    // Spans that load later move the rows: the selected span stays in view, unless somebody has scrolled away from it.
    if (before?.spanId === chosen && (before.at === at || !isInView(virtual.range, before.at))) return;
    virtual.scrollToIndex(at);
  }, [at, chosen, virtual]);
  const fold = useCallback((id: string, isFolded: boolean) => {
    setFolded((now) => {
      const next = new Set(now);
      if (isFolded) next.add(id);
      else next.delete(id);
      return next;
    });
  }, []);
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const node = visible[at];
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
    if (step !== undefined) onChoose(visible[Math.max(0, Math.min(visible.length - 1, at + step))]?.span ?? null);
    else if (event.key === 'ArrowLeft' && node) fold(node.span.spanId, node.descendants > 0);
    else if (event.key === 'ArrowRight' && node) fold(node.span.spanId, false);
    else if (event.key === 'Escape') onChoose(null);
    else return;
    event.preventDefault();
  };
  return (
    <div className={styles.side}>
      <div className={styles.tools}>
        <Button small aria-pressed={chosen === null} onClick={() => onChoose(null)}>
          Whole trace
        </Button>
        <span className={styles.spread}>
          <Button small onClick={() => setFolded(folded.size > 0 ? new Set() : foldable(nodes))}>
            {folded.size > 0 ? 'Unfold all' : 'Fold all'}
          </Button>
          <Button small aria-pressed={bars} onClick={() => onBars(!bars)}>
            Bars
          </Button>
        </span>
      </div>
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
            const node = visible[item.index];
            if (!node) return null;
            return (
              <Row
                key={node.span.spanId}
                id={rowId(item.index)}
                node={node}
                top={item.start}
                range={bars ? range : null}
                chosen={item.index === at}
                folded={folded.has(node.span.spanId)}
                onChoose={onChoose}
                onFold={fold}
              />
            );
          })}
        </div>
      </div>
      {!complete && (
        <p role="status" className={styles.tools}>
          Loading more spans…
        </p>
      )}
    </div>
  );
}

function rowId(index: number): string {
  return `span-${index}`;
}

export type Range = { readonly startMs: number; readonly lengthMs: number };

function rangeOf(nodes: readonly SpanNode[], whole: Range): Range {
  let { startMs } = whole;
  let endMs = startMs + whole.lengthMs;
  for (const node of nodes) {
    startMs = Math.min(startMs, node.startMs);
    endMs = Math.max(endMs, node.endMs);
  }
  return { startMs, lengthMs: Math.max(1, endMs - startMs) };
}

function foldable(nodes: readonly SpanNode[]): ReadonlySet<string> {
  return new Set(nodes.filter(({ descendants }) => descendants > 0).map(({ span }) => span.spanId));
}

type RowProps = {
  readonly id: string;
  readonly node: SpanNode;
  readonly top: number;
  /** Null in a view without bars. */
  readonly range: Range | null;
  readonly chosen: boolean;
  readonly folded: boolean;
  readonly onChoose: (span: TraceSpan) => void;
  readonly onFold: (id: string, isFolded: boolean) => void;
};

function isInView(range: { readonly startIndex: number; readonly endIndex: number } | null, index: number): boolean {
  return range !== null && range.startIndex <= index && index <= range.endIndex;
}

/** Memoized, so that scrolling does not render visible rows again. */
const Row = memo(function Row({ id, node, top, range, chosen, folded, onChoose, onFold }: RowProps) {
  const { span, depth, descendants } = node;
  const indent = { paddingLeft: 10 + Math.min(depth, DEPTH_MAX) * 14 };
  const isFoldable = descendants > 0;
  return (
    <div
      id={id}
      role="treeitem"
      aria-level={depth + 1}
      aria-selected={chosen}
      {...(isFoldable ? { 'aria-expanded': !folded } : {})}
      className={joined(styles.row, chosen && styles.chosen)}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => onChoose(span)}
    >
      <span className={styles.name} style={indent}>
        <span
          className={joined(styles.caret, isFoldable && styles.foldable, folded && styles.folded)}
          aria-hidden="true"
          onClick={(event) => {
            if (!isFoldable) return;
            event.stopPropagation();
            onFold(span.spanId, !folded);
          }}
        />
        <span className={joined(styles.type, span.type === SpanType.LLM && styles.llm)}>{spanTypeName(span.type)}</span>
        <span className={styles.label}>{nameControls(span.name.slice(0, NAME_CHARACTERS))}</span>
        {span.error && <span className={styles.failed}>failed</span>}
        {folded && <span className={styles.hidden}>+{descendants}</span>}
      </span>
      {range && (
        <span className={styles.track} aria-hidden="true">
          <span
            className={joined(styles.bar, span.type === SpanType.LLM && styles.llmBar, span.error && styles.failedBar)}
            style={barOf(node, range)}
          />
        </span>
      )}
      <span className={styles.cost}>{span.metrics?.cost === undefined ? '' : formatCost(span.metrics.cost)}</span>
      <span className={styles.time}>{formatDuration(node.endMs - node.startMs)}</span>
    </div>
  );
});

function barOf({ startMs, endMs }: SpanNode, { startMs: firstMs, lengthMs }: Range) {
  return { left: `${(100 * (startMs - firstMs)) / lengthMs}%`, width: `${(100 * (endMs - startMs)) / lengthMs}%` };
}
