/** One trace: its spans over time on the left, the selected span on the right. */

import { timestampMs } from '@bufbuild/protobuf/wkt';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Trace, TraceSpan } from '../../../gen/spandrel/v1/traces_pb.js';
import { Badge, Button } from '../design/button.tsx';
import { type Fact, Facts } from '../design/facts.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { formatCost, formatCount, formatDuration, nameControls } from '../design/format.ts';
import { Instant } from '../design/instant.tsx';
import pageStyles from '../design/page.module.css';
import { Back, Heading, PendingPage } from '../design/page.tsx';
import type { ChangeOf } from '../layout/search.ts';
import { ThreadLink, UserLink } from '../traces/metadata-links.tsx';
import { metadataOf } from '../traces/trace-facts.ts';
import { ConversationZone } from './conversation-zone.tsx';
import { FactsZone } from './facts-zone.tsx';
import type { TraceSearch } from './search.ts';
import { costliestSpan, orderSpans } from './span-tree.ts';
import { TraceActions } from './trace-actions.tsx';
import styles from './trace-page.module.css';
import { useTrace } from './use-trace.ts';
import { type Range, Waterfall } from './waterfall.tsx';

const route = getRouteApi('/$slug/traces/$traceId');

export default function TracePage() {
  const { slug, traceId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { found, trace, spans } = useTrace(traceId);
  const nodes = useMemo(() => orderSpans(spans), [spans]);
  const whole = useMemo(() => wholeOf(trace), [trace]);
  const costliest = useMemo(() => costliestSpan(spans), [spans]);
  const chosen = useMemo(() => spans.find(({ spanId }) => spanId === search.span) ?? null, [spans, search.span]);
  const change = (part: ChangeOf<TraceSearch>) =>
    void navigate({ search: (now: TraceSearch) => ({ ...now, ...part }) as TraceSearch, replace: true });
  const choose = (span: TraceSpan | null) => change({ span: span?.spanId });
  const back = <Back to="/$slug/traces" params={{ slug }} label="Traces" />;
  if (!trace) return <PendingPage back={back} found={found} />;
  return (
    <div className={styles.page}>
      <div className={styles.head}>
        {back}
        <div className={`${pageStyles.row} ${styles.title}`}>
          <Heading>{nameControls(trace.name) || trace.traceId}</Heading>
          {trace.error && <Badge tone="bad">Failed</Badge>}
          <TraceActions trace={trace} />
        </div>
        {found.isError && <FailureNotice error={found.error} retry={found.refetch} />}
        <Figures trace={trace} onCostliest={costliest ? () => choose(costliest) : null} />
      </div>
      <div className={styles.split}>
        <Waterfall
          nodes={nodes}
          whole={whole}
          chosen={chosen?.spanId ?? null}
          onChoose={choose}
          bars={search.view !== 'tree'}
          onBars={(bars) => change({ view: bars ? undefined : 'tree' })}
          complete={!found.hasNextPage}
        />
        <section className={styles.detail} aria-label={chosen ? 'The chosen span' : 'The whole trace'}>
          <ConversationZone trace={trace} spans={spans} chosen={chosen} onChoose={choose} />
          <FactsZone trace={trace} spans={spans} chosen={chosen} onChoose={choose} />
        </section>
      </div>
    </div>
  );
}

function wholeOf(trace: Trace | null): Range {
  const startedAt = trace?.timestamps?.startedAt;
  return {
    startMs: startedAt ? timestampMs(startedAt) : Number.POSITIVE_INFINITY,
    lengthMs: Number(trace?.metrics?.totalTimeMs ?? 0n),
  };
}

function Figures({ trace, onCostliest }: { readonly trace: Trace; readonly onCostliest: (() => void) | null }) {
  const { metrics } = trace;
  const { user, thread } = metadataOf(trace);
  const shown: readonly Fact[] = [
    ['Started', <Instant key="started" at={trace.timestamps?.startedAt} as="short" />],
    ['Duration', formatDuration(metrics?.totalTimeMs)],
    ['First token', formatDuration(metrics?.firstTokenMs)],
    ['Input tokens', formatCount(metrics?.promptTokens)],
    ['Output tokens', formatCount(metrics?.completionTokens)],
    [
      'Cost',
      <span key="cost" className={pageStyles.row}>
        {formatCost(metrics?.totalCost)}
        {metrics && metrics.unpricedSpans > 0n && (
          <Badge tone="warn">{formatCount(metrics.unpricedSpans)} without a price</Badge>
        )}
        {onCostliest && (
          <Button small onClick={onCostliest}>
            Costliest span
          </Button>
        )}
      </span>,
    ],
    ['Spans', formatCount(trace.spanCount)],
    [
      'User',
      user !== undefined && (
        <UserLink key="user" user={user}>
          <Value text={user} />
        </UserLink>
      ),
    ],
    [
      'Thread',
      thread !== undefined && (
        <ThreadLink key="thread" thread={thread}>
          <Value text={thread} />
        </ThreadLink>
      ),
    ],
  ];
  return <Facts facts={shown} />;
}

function Value({ text }: { readonly text: string }) {
  return <bdi className={styles.value}>{nameControls(text)}</bdi>;
}
