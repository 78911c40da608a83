/** One trace in three zones: its spans, the conversation, and the facts. Narrow windows show two of them, or one. */

import { timestampMs } from '@bufbuild/protobuf/wkt';
import { type ReactNode, useCallback, useMemo } from 'react';
import type { Trace, TraceSpan } from '../../../gen/spandrel/v1/traces_pb.js';
import { PeopleZone } from '../annotations/people-zone.tsx';
import { FailureNotice } from '../design/failure.tsx';
import type { ChangeOf } from '../layout/search.ts';
import { ConversationZone } from './conversation-zone.tsx';
import { FactsZone } from './facts-zone.tsx';
import type { TraceSearch } from './search.ts';
import { SpanEvents } from './span-events.tsx';
import { costliestSpan, orderSpans } from './span-tree.ts';
import { TraceHead } from './trace-head.tsx';
import styles from './trace-page.module.css';
import { TraceZones } from './trace-zones.tsx';
import { slowestSpan } from './tree/measures.ts';
import type { TimeWindow } from './tree/time-window.ts';
import { TreeZone } from './tree/tree-zone.tsx';
import type { TracePages } from './use-trace.ts';

type TraceViewProps = {
  readonly found: TracePages['found'];
  readonly trace: Trace;
  readonly spans: readonly TraceSpan[];
  readonly search: TraceSearch;
  readonly onSearch: (change: ChangeOf<TraceSearch>) => void;
  /** The ends of the line above the zones. */
  readonly before: ReactNode;
  readonly after: ReactNode;
};

export function TraceView({ found, trace, spans, search, onSearch, before, after }: TraceViewProps) {
  const nodes = useMemo(() => orderSpans(spans), [spans]);
  const time = useMemo(() => timeOf(trace), [trace]);
  const costliest = useMemo(() => costliestSpan(spans), [spans]);
  const slowest = useMemo(() => slowestSpan(nodes), [nodes]);
  const chosen = useMemo(() => spans.find(({ spanId }) => spanId === search.span) ?? null, [spans, search.span]);
  const choose = useCallback((span: TraceSpan | null) => onSearch({ span: span?.spanId }), [onSearch]);
  const zone = { trace, spans, chosen, onChoose: choose };
  return (
    <div className={styles.page}>
      <TraceHead
        {...{ trace, before, after }}
        onSlowest={slowest ? () => choose(slowest) : null}
        onCostliest={costliest ? () => choose(costliest) : null}
      />
      {found.isError && <FailureNotice error={found.error} retry={found.refetch} />}
      <TraceZones
        chosen={chosen?.spanId ?? null}
        tree={
          <TreeZone
            nodes={nodes}
            time={time}
            chosen={chosen?.spanId ?? null}
            onChoose={choose}
            search={search}
            onSearch={onSearch}
            isComplete={!found.hasNextPage}
          />
        }
        conversation={<ConversationZone {...zone} />}
        facts={
          <>
            <FactsZone {...zone} />
            <PeopleZone trace={trace} chosen={chosen} />
            {chosen && <SpanEvents key={chosen.spanId} span={chosen} />}
          </>
        }
      />
    </div>
  );
}

function timeOf({ timestamps, metrics }: Trace): TimeWindow {
  const startedAt = timestamps?.startedAt;
  const startMs = startedAt ? timestampMs(startedAt) : Number.POSITIVE_INFINITY;
  return { startMs, endMs: startedAt ? startMs + Number(metrics?.totalTimeMs ?? 0n) : 0 };
}
