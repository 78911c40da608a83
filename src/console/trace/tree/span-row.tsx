import { timestampMs } from '@bufbuild/protobuf/wkt';
import { memo } from 'react';
import type { TraceSpan } from '../../../../gen/spandrel/v1/traces_pb.js';
import { joined } from '../../design/button.tsx';
import { formatCost, formatCount, formatDuration, formatShare, nameControls } from '../../design/format.ts';
import { hueOf, SpanIcon } from '../span-icon.tsx';
import { DEPTH_MAX, type SpanNode } from '../span-tree.ts';
import { telemetryOf } from '../telemetry.ts';
import { spanTypeName } from '../trace-enums.ts';
import type { Measures } from './measures.ts';
import type { TreeRow } from './rows.ts';
import styles from './span-row.module.css';
import { placeIn, type TimeWindow } from './time-window.ts';

const NAME_CHARACTERS = 200;
const BARS_MAX = 200;
const EVENTS_MAX = 20;

type SpanRowProps = {
  readonly id: string;
  readonly row: TreeRow;
  readonly top: number;
  /** The time that the bars show; null in a view without bars. */
  readonly shown: TimeWindow | null;
  readonly measures: Measures;
  readonly chosen: boolean;
  readonly folded: boolean;
  readonly isDimmed: boolean;
  readonly onChoose: (span: TraceSpan) => void;
  readonly onFold: (row: TreeRow, isFolded: boolean) => void;
  readonly onZoom: (node: SpanNode) => void;
};

/** Memoized, so that scrolling does not render visible rows again. */
export const SpanRow = memo(function SpanRow(props: SpanRowProps) {
  const { id, row, top, shown, measures, chosen, folded, isDimmed, onChoose, onFold, onZoom } = props;
  const { node, run } = row;
  const { span, depth, descendants } = node;
  const members = run && !run.isOpen ? run.nodes : [node];
  const isFoldable = descendants > 0 || run !== null;
  const isClosed = run === null ? folded : !run.isOpen;
  const failures = members.filter((each) => each.span.error).length;
  const name = nameControls(span.name.slice(0, NAME_CHARACTERS));
  return (
    <div
      id={id}
      role="treeitem"
      aria-level={depth + 1}
      aria-selected={chosen}
      {...(isFoldable ? { 'aria-expanded': !isClosed } : {})}
      className={joined(styles.row, chosen && styles.chosen, isDimmed && styles.dimmed)}
      style={{ ...hueOf(span.type), transform: `translateY(${top}px)` }}
      title={describe(node, measures)}
      onClick={() => onChoose(span)}
      onDoubleClick={() => onZoom(node)}
    >
      <span className={styles.name} style={{ paddingLeft: 8 + Math.min(depth, DEPTH_MAX) * 12 }}>
        <span
          className={joined(styles.caret, isFoldable && styles.foldable, isClosed && styles.folded)}
          aria-hidden="true"
          onClick={(event) => {
            if (!isFoldable) return;
            event.stopPropagation();
            onFold(row, !isClosed);
          }}
        />
        <SpanIcon type={span.type} />
        <span className={styles.type}>{spanTypeName(span.type)}</span>
        <span className={styles.label} dir="auto">
          {name}
        </span>
        {run && <span className={styles.count}>×{formatCount(run.nodes.length)}</span>}
        {failures > 0 && <span className={styles.failed}>{members.length > 1 ? `${failures} failed` : 'failed'}</span>}
        {folded && descendants > 0 && <span className={styles.hidden}>+{formatCount(descendants)}</span>}
        {span.model !== undefined && (
          <span className={styles.chips}>
            <span className={styles.model}>{nameControls(span.model.slice(0, NAME_CHARACTERS))}</span>
          </span>
        )}
      </span>
      {shown && (
        <span className={styles.track} aria-hidden="true">
          {members.slice(0, BARS_MAX).map((each) => (
            <Bar key={each.index} node={each} shown={shown} isCritical={measures.isCritical[each.index] === 1} />
          ))}
        </span>
      )}
      <Share
        className={styles.tokens}
        {...sumOf(members, measures.tokens)}
        total={measures.totalTokens}
        write={formatCount}
      />
      <Share className={styles.cost} {...sumOf(members, measures.cost)} total={measures.totalCost} write={formatCost} />
      {!shown && (
        <span className={styles.self}>{formatDuration(sum(members, ({ index }) => measures.selfMs[index] ?? 0))}</span>
      )}
      <span className={styles.time}>{formatDuration(sum(members, ({ startMs, endMs }) => endMs - startMs))}</span>
    </div>
  );
});

type BarProps = { readonly node: SpanNode; readonly shown: TimeWindow; readonly isCritical: boolean };

function Bar({ node, shown, isCritical }: BarProps) {
  const placed = placeIn(node, shown);
  if (!placed) return null;
  const { firstTokenAt } = node.span.timestamps ?? {};
  const marks = [...(firstTokenAt ? [timestampMs(firstTokenAt)] : [])];
  return (
    <>
      <span
        className={joined(styles.bar, isCritical && styles.criticalBar, node.span.error && styles.failedBar)}
        style={{ left: `${placed.left}%`, width: `${placed.width}%` }}
      />
      {marks.map((ms) => (
        <Mark key="token" ms={ms} shown={shown} className={styles.firstToken} />
      ))}
      {telemetryOf(node.span)
        .events.slice(0, EVENTS_MAX)
        .map(({ atMs }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two events may happen at once, and the order never changes.
          <Mark key={index} ms={atMs} shown={shown} className={styles.event} />
        ))}
    </>
  );
}

type MarkProps = { readonly ms: number; readonly shown: TimeWindow; readonly className: string | undefined };

function Mark({ ms, shown, className }: MarkProps) {
  const placed = placeIn({ startMs: ms, endMs: ms }, shown);
  return placed && <span className={className} style={{ left: `${placed.left}%` }} />;
}

type ShareProps = {
  readonly className: string | undefined;
  readonly value: number | null;
  readonly total: number;
  readonly write: (value: number) => string;
};

/** A figure, with its share of the trace as a bar behind it. */
function Share({ className, value, total, write }: ShareProps) {
  return (
    <span className={joined(styles.share, className)}>
      {value !== null && total > 0 && (
        <span className={styles.part} style={{ width: `${(100 * value) / total}%` }} aria-hidden="true" />
      )}
      {value === null ? '' : write(value)}
    </span>
  );
}

function sum(nodes: readonly SpanNode[], figure: (node: SpanNode) => number): number {
  return nodes.reduce((total, node) => total + figure(node), 0);
}

function sumOf(nodes: readonly SpanNode[], figures: readonly (number | null)[]): { readonly value: number | null } {
  const known = nodes.flatMap(({ index }) => figures[index] ?? []);
  return { value: known.length === 0 ? null : known.reduce((total, each) => total + each, 0) };
}

/** The tooltip. */
export function describe({ span, index, startMs, endMs }: SpanNode, measures: Measures): string {
  const { firstTokenAt } = span.timestamps ?? {};
  const [cost, tokens, selfMs] = [measures.cost[index], measures.tokens[index], measures.selfMs[index]];
  const events = telemetryOf(span).events.length;
  const shareOf = (value: number, total: number) => (total > 0 ? ` (${formatShare(value / total)} of the trace)` : '');
  return [
    `${nameControls(span.name.slice(0, NAME_CHARACTERS))} · ${spanTypeName(span.type)}`,
    span.model !== undefined && `Model ${nameControls(span.model.slice(0, NAME_CHARACTERS))}`,
    `Took ${formatDuration(endMs - startMs)}, ${formatDuration(selfMs)} of its own`,
    firstTokenAt && `First token after ${formatDuration(timestampMs(firstTokenAt) - startMs)}`,
    tokens != null && `${formatCount(tokens)} tokens${shareOf(tokens, measures.totalTokens)}`,
    cost != null && `${formatCost(cost)}${shareOf(cost, measures.totalCost)}`,
    events > 0 && `${formatCount(events)} ${events === 1 ? 'event' : 'events'}`,
    measures.isCritical[index] === 1 && 'On the critical path',
  ]
    .filter(Boolean)
    .join('\n');
}
