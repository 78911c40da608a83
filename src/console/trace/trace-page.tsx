/** One trace in three zones: its spans, the conversation, and the facts. Narrow windows show two of them, or one. */

import { timestampMs } from '@bufbuild/protobuf/wkt';
import { getRouteApi } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import type { Trace, TraceSpan } from '../../../gen/spandrel/v1/traces_pb.js';
import { FailureNotice } from '../design/failure.tsx';
import { PendingPage } from '../design/page.tsx';
import type { ChangeOf } from '../layout/search.ts';
import { ConversationZone } from './conversation-zone.tsx';
import { FactsZone } from './facts-zone.tsx';
import type { TraceSearch } from './search.ts';
import { SpanEvents } from './span-events.tsx';
import { costliestSpan, orderSpans } from './span-tree.ts';
import { BackToTraces, TraceHead } from './trace-head.tsx';
import styles from './trace-page.module.css';
import { TraceZones } from './trace-zones.tsx';
import { slowestSpan } from './tree/measures.ts';
import type { TimeWindow } from './tree/time-window.ts';
import { TreeZone } from './tree/tree-zone.tsx';
import { useTrace } from './use-trace.ts';

const route = getRouteApi('/$slug/traces/$traceId');

export default function TracePage() {
  const { traceId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { found, trace, spans } = useTrace(traceId);
  const nodes = useMemo(() => orderSpans(spans), [spans]);
  const time = useMemo(() => timeOf(trace), [trace]);
  const costliest = useMemo(() => costliestSpan(spans), [spans]);
  const slowest = useMemo(() => slowestSpan(nodes), [nodes]);
  const chosen = useMemo(() => spans.find(({ spanId }) => spanId === search.span) ?? null, [spans, search.span]);
  const change = useCallback(
    (part: ChangeOf<TraceSearch>) =>
      void navigate({ search: (now: TraceSearch) => ({ ...now, ...part }) as TraceSearch, replace: true }),
    [navigate],
  );
  const choose = useCallback((span: TraceSpan | null) => change({ span: span?.spanId }), [change]);
  if (!trace) return <PendingPage back={<BackToTraces search={search} />} found={found} />;
  const zone = { trace, spans, chosen, onChoose: choose };
  return (
    <div className={styles.page}>
      <TraceHead
        trace={trace}
        search={search}
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
            onSearch={change}
            isComplete={!found.hasNextPage}
          />
        }
        conversation={<ConversationZone {...zone} />}
        facts={
          <>
            <FactsZone {...zone} />
            {chosen && <SpanEvents key={chosen.spanId} span={chosen} />}
          </>
        }
      />
    </div>
  );
}

function timeOf(trace: Trace | null): TimeWindow {
  const startedAt = trace?.timestamps?.startedAt;
  const startMs = startedAt ? timestampMs(startedAt) : Number.POSITIVE_INFINITY;
  return { startMs, endMs: startedAt ? startMs + Number(trace.metrics?.totalTimeMs ?? 0n) : 0 };
}
