/** The spans as a flame graph: time from left to right, each span below its parent, and beside what ran at the same time. */

import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEventHandler, useEffect, useMemo, useRef } from 'react';
import type { TraceSpan } from '../../../../gen/spandrel/v1/traces_pb.js';
import { joined } from '../../design/button.tsx';
import { nameControls } from '../../design/format.ts';
import { hueOf } from '../span-icon.tsx';
import type { SpanNode } from '../span-tree.ts';
import { spanTypeName } from '../trace-enums.ts';
import styles from './flame.module.css';
import type { Measures } from './measures.ts';
import { describe } from './span-row.tsx';
import { placeIn, type TimeWindow } from './time-window.ts';
import zone from './tree.module.css';

const LANE_PX = 22;
const LANES_MAX = 500;
/** In percent of the width: what begins nearer to the one before it is not drawn, because nobody could tell them apart. */
const DISTANCE_MIN = 0.3;
/** In percent: narrower blocks have no text. */
const TEXT_MIN = 4;
const NAME_CHARACTERS = 120;

type FlameProps = {
  readonly nodes: readonly SpanNode[];
  readonly shown: TimeWindow;
  readonly measures: Measures;
  /** Null if everything matches. */
  readonly found: ReadonlySet<number> | null;
  readonly onlyCritical: boolean;
  readonly chosen: string | null;
  readonly onChoose: (span: TraceSpan) => void;
  readonly onZoom: (node: SpanNode) => void;
  readonly onKeyDown: KeyboardEventHandler;
};

export function Flame({
  nodes,
  shown,
  measures,
  found,
  onlyCritical,
  chosen,
  onChoose,
  onZoom,
  onKeyDown,
}: FlameProps) {
  const lanes = useMemo(() => layOut(nodes), [nodes]);
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: lanes.length,
    getScrollElement: () => box.current,
    estimateSize: () => LANE_PX,
    overscan: 4,
  });
  const at = useMemo(() => nodes.find(({ span }) => span.spanId === chosen) ?? null, [nodes, chosen]);
  const lane = useMemo(() => (at === null ? -1 : lanes.findIndex((each) => each.includes(at))), [lanes, at]);
  useEffect(() => {
    if (lane >= 0) virtual.scrollToIndex(lane);
  }, [lane, virtual]);
  return (
    <div
      ref={box}
      className={zone.box}
      role="tree"
      aria-label="Spans as a flame graph; j and k move"
      tabIndex={0}
      aria-activedescendant={at === null ? undefined : idOf(at)}
      onKeyDown={onKeyDown}
    >
      <div role="presentation" className={zone.rows} style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) =>
          drawn(lanes[item.index] ?? [], shown, at).map(({ node, left, width }) => (
            <div
              key={node.span.spanId}
              id={idOf(node)}
              role="treeitem"
              aria-level={node.depth + 1}
              aria-selected={node === at}
              aria-label={`${spanTypeName(node.span.type)} ${nameControls(node.span.name.slice(0, NAME_CHARACTERS))}`}
              className={joined(
                styles.block,
                node === at && styles.chosenBlock,
                node.span.error && styles.failedBlock,
                ((found !== null && !found.has(node.index)) || (onlyCritical && !measures.isCritical[node.index])) &&
                  styles.dimmed,
              )}
              style={{ ...hueOf(node.span.type), top: item.start, left: `${left}%`, width: `${width}%` }}
              title={describe(node, measures)}
              onClick={() => onChoose(node.span)}
              onDoubleClick={() => onZoom(node)}
            >
              {width >= TEXT_MIN && nameControls(node.span.name.slice(0, NAME_CHARACTERS))}
            </div>
          )),
        )}
      </div>
    </div>
  );
}

function idOf({ index }: SpanNode): string {
  return `block-${index}`;
}

/** The blocks of a lane that are in view. The chosen one is always drawn. */
function drawn(lane: readonly SpanNode[], shown: TimeWindow, chosen: SpanNode | null) {
  const blocks: { readonly node: SpanNode; readonly left: number; readonly width: number }[] = [];
  let lastLeft = Number.NEGATIVE_INFINITY;
  for (const node of lane) {
    const placed = placeIn(node, shown);
    if (!placed || (placed.left - lastLeft < DISTANCE_MIN && node !== chosen)) continue;
    blocks.push({ node, ...placed });
    lastLeft = placed.left;
  }
  return blocks;
}

/** Each span goes into the first lane below its parent's in which nothing else runs. Beyond the limit lanes overlap. */
export function layOut(nodes: readonly SpanNode[]): readonly (readonly SpanNode[])[] {
  const lanes: SpanNode[][] = [];
  const endMs: number[] = [];
  const laneOf = new Int32Array(nodes.length).fill(-1);
  const byStart = nodes.toSorted((one, other) => one.startMs - other.startMs || one.index - other.index);
  for (const node of byStart) {
    let lane = Math.min(LANES_MAX - 1, (laneOf[node.parent] ?? -1) + 1);
    while (lane < LANES_MAX - 1 && (endMs[lane] ?? Number.NEGATIVE_INFINITY) > node.startMs) lane += 1;
    while (lanes.length <= lane) lanes.push([]);
    lanes[lane]?.push(node);
    endMs[lane] = Math.max(endMs[lane] ?? 0, node.endMs);
    laneOf[node.index] = lane;
  }
  return lanes;
}
