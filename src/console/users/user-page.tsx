/** One user: the sums of their traces, over time and by thread, and the traces. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { GetUserStatsResponse } from '../../../gen/spandrel/v1/analytics_pb.js';
import { ThreadService } from '../../../gen/spandrel/v1/threads_pb.js';
import { TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { Answer } from '../design/answer.tsx';
import { Skeleton } from '../design/button.tsx';
import { type Fact, Facts } from '../design/facts.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { formatCost, formatCount, nameControls } from '../design/format.ts';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { Back, More, Page, Pending } from '../design/page.tsx';
import { CHART_HEIGHT_PX, Chart } from '../overview/chart.tsx';
import type { GroupSearch } from '../overview/group-search.ts';
import { METRICS } from '../overview/metrics.ts';
import { rangeInput, seriesInput, seriesOf } from '../overview/series.ts';
import { useSession } from '../session/session.tsx';
import { InboxRows, rowsOf } from '../threads/inbox.tsx';
import { DeleteTraces } from '../traces/delete-traces.tsx';
import { NewestTraces } from '../traces/newest-traces.tsx';
import { writeQueryLine } from '../traces/query-line.ts';
import { type Bounds, readBounds, writeRange } from '../traces/range.ts';
import { RangePicker } from '../traces/range-picker.tsx';
import { useRangePages } from '../traces/range-query.ts';

const route = getRouteApi('/$slug/users/$userId');
const THREADS_AT_ONCE = 20;

export default function UserPage() {
  const { userId } = route.useParams();
  // Nothing of one user stays under the name of another.
  return <User key={userId} userId={userId} />;
}

function User({ userId }: { readonly userId: string }) {
  const { slug } = route.useParams();
  const search = route.useSearch();
  const { may } = useSession();
  const navigate = route.useNavigate();
  const bounds = useMemo(() => readBounds(search), [search]);
  const input = { userId, ...rangeInput(bounds) };
  const canSum = may('analytics:view');
  const stats = useQuery(TraceService.method.getUserStats, input, {
    placeholderData: keepPreviousData,
    enabled: canSum,
  });
  const ofUser = { name: 'metadata.user_id', values: [userId] };
  const line = writeQueryLine({ text: '', filters: [{ name: 'user', value: userId }] });
  return (
    <Page
      back={<Back to="/$slug/users" params={{ slug }} search={search} label="Users" />}
      title={<bdi>{nameControls(userId)}</bdi>}
      actions={
        <div className={page.row}>
          <RangePicker
            search={search}
            onChange={(part) => void navigate({ search: (now) => ({ ...now, ...part }) as GroupSearch, replace: true })}
          />
          {may('project:manage') && (
            <DeleteTraces label="Delete all traces of this user" conditions={() => ({ filters: [ofUser] })}>
              {() => (
                <p>
                  All traces whose metadata name the user <bdi>{nameControls(userId)}</bdi>, whenever they were
                  received.
                </p>
              )}
            </DeleteTraces>
          )}
        </div>
      }
    >
      {canSum && <Pending found={stats} />}
      {stats.data && (
        <Answer isOld={stats.isPlaceholderData}>
          <Sums stats={stats.data} />
        </Answer>
      )}
      {canSum && <OverTime userId={userId} bounds={bounds} />}
      {may('traces:view') && (
        <NewestTraces
          slug={slug}
          search={{ ...writeRange(search), q: line }}
          input={{
            filters: [ofUser],
            startDate: timestampFromMs(bounds.fromMs),
            endDate: timestampFromMs(bounds.toMs),
          }}
        />
      )}
      {may('traces:view') && <Threads userId={userId} search={search} />}
    </Page>
  );
}

function Sums({ stats }: { readonly stats: GetUserStatsResponse }) {
  const tokens = Number(stats.promptTokens ?? 0n) + Number(stats.completionTokens ?? 0n);
  const facts: readonly Fact[] = [
    ['Traces', formatCount(stats.traces)],
    ['Threads', formatCount(stats.threads)],
    ['Failed', formatCount(stats.errors)],
    ['Cost', formatCost(stats.totalCost)],
    ['Tokens', formatCount(tokens)],
    ['First seen', <Instant key="first" at={stats.firstSeenAt} />],
    ['Last seen', <Instant key="last" at={stats.lastSeenAt} />],
  ];
  return (
    <div className={`${page.card} ${page.padded}`}>
      <Facts facts={facts} />
    </div>
  );
}

type PartProps = { readonly userId: string; readonly bounds: Bounds };

function OverTime({ userId, bounds }: PartProps) {
  // Without the answer before: its points are not those of these bounds.
  const found = useQuery(TraceService.method.queryAnalytics, { userId, ...seriesInput(bounds) });
  const { data } = found;
  const series = useMemo(() => data && seriesOf(data.buckets, METRICS.cost, bounds), [data, bounds]);
  if (found.isError) return <FailureNotice error={found.error} retry={found.refetch} />;
  return (
    <section className={`${page.card} ${page.padded}`} aria-busy={series === undefined}>
      <h2>Cost over time</h2>
      {series ? <Chart series={series} metric={METRICS.cost} /> : <Skeleton height={CHART_HEIGHT_PX} />}
    </section>
  );
}

function Threads({ userId, search }: { readonly userId: string; readonly search: GroupSearch }) {
  const { slug } = route.useParams();
  const found = useRangePages({
    method: ThreadService.method.listThreads,
    range: search,
    input: { userId, pageSize: THREADS_AT_ONCE },
    toRangeInput: rangeInput,
    nextPageToken: ({ nextPageToken }) => nextPageToken,
  });
  const rows = useMemo(() => rowsOf(found.data?.pages.flatMap(({ answer }) => answer.threads) ?? []), [found.data]);
  if (found.isError) return <FailureNotice error={found.error} retry={found.refetch} />;
  if (rows.length === 0) return null;
  return (
    <Answer isOld={found.isPlaceholderData}>
      <InboxRows
        title="Threads"
        noun="thread"
        caption="Threads, the last activity first"
        rows={rows}
        linkOf={(threadId) => (
          <Link to="/$slug/threads/$threadId" params={{ slug, threadId }} preload={false}>
            <bdi>{nameControls(threadId)}</bdi>
          </Link>
        )}
      />
      <More found={found} />
    </Answer>
  );
}
