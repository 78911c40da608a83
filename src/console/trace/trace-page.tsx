/** One trace: its spans over time on one side, what is chosen among them on the other. */

import { useInfiniteQuery } from '@connectrpc/connect-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect, useMemo } from 'react';
import { type Trace, TraceService, type TraceSpan } from '../../../gen/spandrel/v1/traces_pb.js';
import { Badge, Button, Loading } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { formatCost, formatCount, formatDuration, nameControls } from '../design/format.ts';
import { Instant } from '../design/instant.tsx';
import pageStyles from '../design/page.module.css';
import { metadataOf } from '../traces/trace-facts.ts';
import type { TraceSearch } from './search.ts';
import { SpanDetail } from './span-detail.tsx';
import { costliestSpan, orderSpans } from './span-tree.ts';
import { TraceActions } from './trace-actions.tsx';
import { TraceDetail } from './trace-detail.tsx';
import styles from './trace-page.module.css';
import { Waterfall } from './waterfall.tsx';

const route = getRouteApi('/$slug/traces/$traceId');
const SPANS_PER_PAGE = 10_000;
/** As many as a trace may have unless the operator allows more. */
const PAGES_MAX = 10;

export function TracePage() {
  const { traceId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { found, trace, spans } = useTrace(traceId);
  const nodes = useMemo(() => orderSpans(spans), [spans]);
  const costliest = useMemo(() => costliestSpan(spans), [spans]);
  const chosen = useMemo(() => spans.find(({ spanId }) => spanId === search.span) ?? null, [spans, search.span]);
  const change = (part: { [name in keyof TraceSearch]: TraceSearch[name] | undefined }) =>
    void navigate({ search: (now: TraceSearch) => ({ ...now, ...part }) as TraceSearch, replace: true });
  const choose = (span: TraceSpan | null) => change({ span: span?.spanId });
  if (found.isError && !trace) {
    return (
      <div className={pageStyles.page}>
        <BackLink />
        <FailureNotice error={found.error} retry={found.refetch} />
      </div>
    );
  }
  if (!trace) return <Loading />;
  return (
    <div className={styles.page}>
      <div className={styles.head}>
        <BackLink />
        <div className={styles.title}>
          <h1>{nameControls(trace.name) || trace.traceId}</h1>
          {trace.error && <Badge tone="bad">Failed</Badge>}
          <TraceActions trace={trace} />
        </div>
        {found.isError && <FailureNotice error={found.error} retry={found.refetch} />}
        <Figures trace={trace} onCostliest={costliest ? () => choose(costliest) : null} />
      </div>
      <div className={styles.split}>
        <Waterfall
          nodes={nodes}
          chosen={chosen?.spanId ?? null}
          onChoose={choose}
          bars={search.view !== 'tree'}
          onBars={(bars) => change({ view: bars ? undefined : 'tree' })}
          complete={!found.hasNextPage}
        />
        <section className={styles.detail} aria-label={chosen ? 'The chosen span' : 'The whole trace'}>
          {chosen ? (
            <SpanDetail key={chosen.spanId} span={chosen} evaluations={trace.evaluations} />
          ) : (
            <TraceDetail trace={trace} />
          )}
        </section>
      </div>
    </div>
  );
}

/** Spans come in pages; the first one is shown while the others follow. */
function useTrace(traceId: string) {
  const input = useMemo(() => ({ traceId, pageSize: SPANS_PER_PAGE, pageToken: '' }), [traceId]);
  const found = useInfiniteQuery(TraceService.method.getTrace, input, {
    pageParamKey: 'pageToken',
    getNextPageParam: ({ view }, pages) =>
      view.case === 'trace' && view.value.nextPageToken !== '' && pages.length < PAGES_MAX
        ? view.value.nextPageToken
        : undefined,
    structuralSharing: false,
  });
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = found;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && !isFetchNextPageError) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage]);
  const pages = useMemo(
    () => found.data?.pages.flatMap(({ view }) => (view.case === 'trace' ? [view.value] : [])) ?? [],
    [found.data],
  );
  const spans = useMemo(() => pages.flatMap((each) => each.spans), [pages]);
  const trace = useMemo(() => withAllEvaluations(pages), [pages]);
  return { found, trace, spans };
}

/** A long trace gives evaluations on its first pages. */
function withAllEvaluations(pages: readonly Trace[]): Trace | null {
  const [first] = pages;
  if (!first) return null;
  return pages.length === 1 ? first : { ...first, evaluations: pages.flatMap(({ evaluations }) => evaluations) };
}

function BackLink() {
  const { slug } = route.useParams();
  return (
    <Link to="/$slug/traces" params={{ slug }} className={styles.back}>
      ‹ Traces
    </Link>
  );
}

function Figures({ trace, onCostliest }: { readonly trace: Trace; readonly onCostliest: (() => void) | null }) {
  const { slug } = route.useParams();
  const { metrics } = trace;
  const { user, thread } = metadataOf(trace);
  const shown: readonly (readonly [label: string, value: React.ReactNode])[] = [
    ['Started', <Instant key="started" at={trace.timestamps?.startedAt} as="short" />],
    ['Duration', formatDuration(metrics?.totalTimeMs)],
    ['First token', formatDuration(metrics?.firstTokenMs)],
    ['Tokens in', formatCount(metrics?.promptTokens)],
    ['Tokens out', formatCount(metrics?.completionTokens)],
    [
      'Cost',
      <span key="cost" className={styles.cost}>
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
    ...(user === undefined ? [] : [['User', <Value key="user" text={user} />] as const]),
    ...(thread === undefined
      ? []
      : [
          [
            'Thread',
            <Link key="thread" to="/$slug/threads/$threadId" params={{ slug, threadId: thread }}>
              <Value text={thread} />
            </Link>,
          ] as const,
        ]),
  ];
  return (
    <dl className={pageStyles.facts}>
      {shown.map(([label, value]) => (
        <div key={label} className={pageStyles.fact}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Value({ text }: { readonly text: string }) {
  return <bdi className={styles.value}>{nameControls(text)}</bdi>;
}
