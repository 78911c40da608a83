/** What the traces of a project come to; each figure leads to the traces behind it. */

import { useQuery } from '@connectrpc/connect-query';
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { type AnalyticsBucket, AnalyticsGrouping, AnalyticsInterval } from '../../../gen/spandrel/v1/analytics_pb.js';
import { TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { Loading } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { formatCost, formatCount, formatDuration, NONE } from '../design/format.ts';
import page from '../design/page.module.css';
import { RangePicker } from '../traces/range-picker.tsx';
import { boundsOf, type TraceListSearch } from '../traces/search.ts';
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
  const { bounds, total, timed, grouped } = useFigures(search, by);
  const series = useMemo(() => seriesOf(timed.data?.buckets ?? [], metric, bounds), [timed.data, metric, bounds]);
  const error = total.error ?? timed.error ?? grouped.error;
  return (
    <div className={page.page}>
      <div className={page.head}>
        <h1>Overview</h1>
        <RangePicker search={search} onChange={change} />
      </div>
      {error && <FailureNotice error={error} retry={total.refetch} />}
      {total.isPending && !error && <Loading />}
      {total.isSuccess && <Cards sum={total.data.buckets[0]} range={rangeOf(search)} />}
      {timed.isSuccess && (
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
          range={rangeOf(search)}
          buckets={grouped.data.buckets}
          truncated={grouped.data.truncated}
          onBy={(next) => change({ by: next === 'model' ? undefined : next })}
        />
      )}
    </div>
  );
}

function useFigures({ range, from, to }: OverviewSearch, by: GroupName) {
  const bounds = useMemo(() => {
    const nowMs = Date.now();
    const { fromMs, toMs } = boundsOf({ ...(range && { range }), ...(from && { from }), ...(to && { to }) }, nowMs);
    return { fromMs, toMs: toMs ?? nowMs, interval: intervalOf((toMs ?? nowMs) - fromMs) };
  }, [range, from, to]);
  const asked = { from: BigInt(bounds.fromMs), to: BigInt(Math.max(bounds.fromMs, bounds.toMs)) };
  const options = { placeholderData: keepPreviousData };
  const { queryAnalytics } = TraceService.method;
  const total = useQuery(queryAnalytics, { ...asked, interval: AnalyticsInterval.TOTAL }, options);
  const timed = useQuery(queryAnalytics, { ...asked, interval: bounds.interval }, options);
  const grouped = useQuery(
    queryAnalytics,
    { ...asked, interval: AnalyticsInterval.TOTAL, groupBy: GROUPS[by], limit: GROUPS_SHOWN },
    options,
  );
  return { bounds, total, timed, grouped };
}

function rangeOf({ range, from, to }: OverviewSearch): TraceListSearch {
  return { ...(range && { range }), ...(from && { from }), ...(to && { to }) };
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
