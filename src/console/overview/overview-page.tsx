/** The sums of the traces of a project; each figure links to its traces. */

import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { type AnalyticsBucket, AnalyticsGrouping, AnalyticsInterval } from '../../../gen/spandrel/v1/analytics_pb.js';
import { TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { Loading } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { formatCost, formatCount, formatDuration, NONE } from '../design/format.ts';
import page from '../design/page.module.css';
import { type Bounds, writeRange } from '../traces/range.ts';
import { RangePicker } from '../traces/range-picker.tsx';
import { useRangeQuery } from '../traces/range-query.ts';
import type { TraceListSearch } from '../traces/search.ts';
import { Chart } from './chart.tsx';
import { GroupTable } from './group-table.tsx';
import styles from './overview.module.css';
import type { GroupName, MetricName, OverviewSearch } from './search.ts';
import { intervalOf, seriesOf, tokensOf } from './series.ts';

const route = getRouteApi('/$slug/overview');

const GROUPS: Readonly<Record<GroupName, AnalyticsGrouping>> = {
  model: AnalyticsGrouping.MODEL,
  user: AnalyticsGrouping.USER_ID,
  customer: AnalyticsGrouping.CUSTOMER_ID,
  label: AnalyticsGrouping.LABEL,
};
const METRICS: Readonly<
  Record<MetricName, { readonly label: string; readonly format: (value: number | null) => string }>
> = {
  cost: { label: 'Cost', format: formatCost },
  traces: { label: 'Traces', format: formatCount },
  tokens: { label: 'Tokens', format: formatCount },
  errors: { label: 'Failed traces', format: formatCount },
  latency: { label: 'Duration, p95', format: formatDuration },
};
const GROUPS_SHOWN = 50;

export function OverviewPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (part: { [name in keyof OverviewSearch]: OverviewSearch[name] | undefined }) =>
    void navigate({ search: (now: OverviewSearch) => ({ ...now, ...part }) as OverviewSearch, replace: true });
  const { metric = 'cost', by = 'model' } = search;
  const { total, timed, grouped } = useFigures(search, by);
  const series = useMemo(
    () => (timed.data ? seriesOf(timed.data.answer.buckets, metric, pointsOf(timed.data.bounds)) : null),
    [timed.data, metric],
  );
  const retry = () =>
    Promise.all([total, timed, grouped].filter(({ isError }) => isError).map((each) => each.refetch()));
  const error = total.error ?? timed.error ?? grouped.error;
  return (
    <div className={page.page}>
      <div className={page.head}>
        <h1>Overview</h1>
        <RangePicker search={search} onChange={change} />
      </div>
      {error && <FailureNotice error={error} retry={retry} />}
      {total.isPending && !error && <Loading />}
      {total.isSuccess && <Cards sum={total.data.answer.buckets[0]} range={writeRange(search)} />}
      {series && (
        <section className={`${page.card} ${page.padded}`}>
          <div className={page.head}>
            <h2>{METRICS[metric].label} over time</h2>
            <select
              className={styles.select}
              aria-label="Figure"
              value={metric}
              onChange={({ target: { value } }) =>
                change({ metric: value === 'cost' ? undefined : (value as Exclude<MetricName, 'cost'>) })
              }
            >
              {Object.entries(METRICS).map(([name, { label }]) => (
                <option key={name} value={name}>
                  {label}
                </option>
              ))}
            </select>
          </div>
          <Chart series={series} label={METRICS[metric].label} format={METRICS[metric].format} />
        </section>
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
    </div>
  );
}

function pointsOf({ fromMs, toMs }: Bounds) {
  return { fromMs, toMs, interval: intervalOf(toMs - fromMs) };
}

function useFigures(search: OverviewSearch, by: GroupName) {
  const request = {
    method: TraceService.method.queryAnalytics,
    range: writeRange(search),
    toRangeInput: ({ fromMs, toMs }: Bounds) => ({ from: BigInt(fromMs), to: BigInt(toMs) }),
  };
  const total = useRangeQuery({ ...request, input: { interval: AnalyticsInterval.TOTAL } });
  const timed = useRangeQuery({
    ...request,
    input: {},
    toRangeInput: (bounds) => ({ ...request.toRangeInput(bounds), interval: pointsOf(bounds).interval }),
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
  const cards: readonly (readonly [label: string, figure: string, note: string, search: TraceListSearch])[] = [
    ['Traces', formatCount(traces), `${formatCount(sum?.spans ?? 0n)} spans`, range],
    [
      'Cost',
      formatCost(sum?.totalCost?.value),
      traces > 0 ? `${formatCost((sum?.totalCost?.value ?? 0) / traces)} a trace` : '',
      { ...range, sort: 'cost' },
    ],
    ['Tokens', formatCount(sum ? tokensOf(sum) : 0), `${formatCount(sum?.completionTokens?.value)} of them out`, range],
    [
      'Failed',
      formatCount(errors),
      traces > 0 ? `${((100 * errors) / traces).toFixed(1)} % of traces` : '',
      { ...range, q: 'error:true' },
    ],
    [
      'Duration, p50',
      formatDuration(sum?.totalTimeMsP50?.value),
      `p95 ${formatDuration(sum?.totalTimeMsP95?.value)}`,
      { ...range, sort: 'duration' },
    ],
    [
      'First token, p50',
      formatDuration(sum?.firstTokenMsP50?.value),
      `p95 ${formatDuration(sum?.firstTokenMsP95?.value)}`,
      { ...range, sort: 'first-token' },
    ],
  ];
  return (
    <div className={styles.cards}>
      {cards.map(([label, figure, note, search]) => (
        <Link key={label} to="/$slug/traces" params={{ slug }} search={search} className={styles.card}>
          <span className={styles.label}>{label}</span>
          <span className={styles.figure}>{figure}</span>
          <span className={styles.note}>{note || NONE}</span>
        </Link>
      ))}
    </div>
  );
}
