/** The sums of the traces of a project; each figure links to its traces. */

import { getRouteApi } from '@tanstack/react-router';
import { type AnalyticsBucket, AnalyticsGrouping, AnalyticsInterval } from '../../../gen/spandrel/v1/analytics_pb.js';
import { TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { Loading } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { formatCost, formatCount, formatDuration, formatShare } from '../design/format.ts';
import { Page } from '../design/page.tsx';
import type { ChangeOf } from '../layout/search.ts';
import { useSession } from '../session/session.tsx';
import { writeRange } from '../traces/range.ts';
import { RangePicker } from '../traces/range-picker.tsx';
import { useRangeQuery } from '../traces/range-query.ts';
import type { TraceListSearch } from '../traces/search.ts';
import { AlertOnThis } from '../triggers/alert-on-this.tsx';
import { ChartCard } from './chart-card.tsx';
import { type Figure, FigureCards } from './figure-cards.tsx';
import { GroupTable } from './group-table.tsx';
import { METRICS, tokensOf } from './metrics.ts';
import type { GroupName, MetricName, OverviewSearch } from './search.ts';
import { meansInput, rangeInput, seriesInput } from './series.ts';

const route = getRouteApi('/$slug/overview');

const GROUPS: Readonly<Record<GroupName, AnalyticsGrouping>> = {
  model: AnalyticsGrouping.MODEL,
  user: AnalyticsGrouping.USER_ID,
  customer: AnalyticsGrouping.CUSTOMER_ID,
  label: AnalyticsGrouping.LABEL,
};
const GROUPS_SHOWN = 50;
/** The metrics of the chart, asked for apart: percentiles of hours do not give those of days. */
const SUMS = 'traces,errors,total_cost,prompt_tokens,completion_tokens';
const PERCENTILES = 'total_time_ms';

export default function OverviewPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (part: ChangeOf<OverviewSearch>) =>
    void navigate({ search: (now: OverviewSearch) => ({ ...now, ...part }) as OverviewSearch, replace: true });
  const { may } = useSession();
  const { metric = 'cost', by = 'model' } = search;
  const { total, timed, grouped } = useFigures(search, by, metric);
  const retry = () =>
    Promise.all([total, timed, grouped].filter(({ isError }) => isError).map((each) => each.refetch()));
  const error = total.error ?? timed.error ?? grouped.error;
  return (
    <Page title="Overview" actions={<RangePicker search={search} onChange={change} />}>
      {error && <FailureNotice error={error} retry={retry} />}
      {total.isPending && !error && <Loading />}
      {total.isSuccess && <Cards sum={total.data.answer.buckets[0]} range={writeRange(search)} />}
      {!error && (
        <ChartCard
          metrics={METRICS}
          shown={metric}
          data={timed.isPlaceholderData ? null : timed.data}
          action={may('triggers:create') && <AlertOnThis prefill={{ metric }} />}
          onShow={(next) => change({ metric: next === 'cost' ? undefined : next })}
        />
      )}
      {grouped.isSuccess && (
        <GroupTable
          by={by}
          range={writeRange(search)}
          buckets={grouped.data.answer.buckets}
          truncated={grouped.data.answer.truncated}
          onBy={(next) => change({ by: next === 'model' ? undefined : next })}
        />
      )}
    </Page>
  );
}

function useFigures(search: OverviewSearch, by: GroupName, metric: MetricName) {
  const request = { method: TraceService.method.queryAnalytics, range: writeRange(search), toRangeInput: rangeInput };
  const total = useRangeQuery({ ...request, input: { interval: AnalyticsInterval.TOTAL } });
  const isSum = METRICS[metric].emptyValue === 0;
  const timed = useRangeQuery({
    ...request,
    input: { metrics: isSum ? SUMS : PERCENTILES },
    toRangeInput: isSum ? seriesInput : meansInput,
  });
  const grouped = useRangeQuery({
    ...request,
    input: { interval: AnalyticsInterval.TOTAL, groupBy: GROUPS[by], limit: GROUPS_SHOWN },
  });
  return { total, timed, grouped };
}

function Cards({ sum, range }: { readonly sum: AnalyticsBucket | undefined; readonly range: TraceListSearch }) {
  const { slug } = route.useParams();
  const traces = Number(sum?.traces ?? 0n);
  const errors = Number(sum?.errors ?? 0n);
  const figures: readonly Figure[] = [
    { label: 'Traces', value: formatCount(traces), note: `${formatCount(sum?.spans ?? 0n)} spans`, search: range },
    {
      label: 'Cost',
      value: formatCost(sum?.totalCost?.value),
      note: traces > 0 ? `${formatCost((sum?.totalCost?.value ?? 0) / traces)} a trace` : '',
      search: { ...range, sort: 'cost' },
    },
    {
      label: 'Tokens',
      value: formatCount(sum ? tokensOf(sum) : 0),
      note: `${formatCount(sum?.completionTokens?.value)} output tokens`,
      search: range,
    },
    {
      label: 'Failed traces',
      value: formatCount(errors),
      note: traces > 0 ? `${formatShare(errors / traces)} of traces` : '',
      search: { ...range, q: 'error:true' },
    },
    {
      label: 'Duration, p50',
      value: formatDuration(sum?.totalTimeMsP50?.value),
      note: `p95 ${formatDuration(sum?.totalTimeMsP95?.value)}`,
      search: { ...range, sort: 'duration' },
    },
    {
      label: 'First token of any call, p50',
      value: formatDuration(sum?.firstTokenMsP50?.value),
      note: `p95 ${formatDuration(sum?.firstTokenMsP95?.value)}`,
      search: { ...range, sort: 'first-token' },
    },
  ];
  return <FigureCards slug={slug} figures={figures} />;
}
