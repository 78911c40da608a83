/** The sums of the traces of a project over a range, and how they differ from the range before. */

import { getRouteApi } from '@tanstack/react-router';
import { type AnalyticsBucket, AnalyticsInterval } from '../../../gen/spandrel/v1/analytics_pb.js';
import { TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { PinButton } from '../dashboards/pin.tsx';
import { Answer, currentData } from '../design/answer.tsx';
import { Loading } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { formatCost, formatCount, formatDuration, formatPoints, formatShare } from '../design/format.ts';
import { Page } from '../design/page.tsx';
import type { ChangeOf } from '../layout/search.ts';
import { useSession } from '../session/session.tsx';
import { type Bounds, writeRange } from '../traces/range.ts';
import { RangePicker } from '../traces/range-picker.tsx';
import { useRangeQuery } from '../traces/range-query.ts';
import type { TraceListSearch } from '../traces/search.ts';
import { AlertOnThis } from '../triggers/alert-on-this.tsx';
import { ChartGrid } from './chart-grid.tsx';
import { type Figure, FigureCards } from './figure-cards.tsx';
import { GroupTable } from './group-table.tsx';
import {
  asChange,
  formatChange,
  GROUPINGS,
  METRICS,
  type MetricName,
  PERCENTILES,
  SUMS,
  type Sums,
  sumOf,
} from './metrics.ts';
import type { TraceCounts } from './query-keys.ts';
import type { OverviewSearch } from './search.ts';
import { meansInput, rangeBefore, rangeInput, seriesInput, seriesOf } from './series.ts';
import { WhatChanged } from './what-changed.tsx';

const route = getRouteApi('/$slug/overview');

const GROUPS_SHOWN = 50;
const CHARTS: readonly MetricName[] = ['traces', 'errors', 'cost', 'tokens', 'latency', 'first-token'];

export default function OverviewPage() {
  const { slug } = route.useParams();
  const search = route.useSearch();
  const { may } = useSession();
  const navigate = route.useNavigate();
  const change = (part: ChangeOf<OverviewSearch>) =>
    void navigate({ search: (now: OverviewSearch) => ({ ...now, ...part }) as OverviewSearch, replace: true });
  const { by = 'model' } = search;
  const range = writeRange(search);
  const figures = useFigures(search);
  const { timed, means, before, grouped } = figures;
  const all = Object.values(figures);
  const error = all.find((each) => each.error)?.error;
  const dataOf = (name: MetricName) => currentData(METRICS[name].emptyValue === 0 ? timed : means);
  return (
    <Page title="Overview" actions={<RangePicker search={search} onChange={change} />}>
      {error && (
        <FailureNotice
          error={error}
          retry={() => Promise.all(all.filter(({ isError }) => isError).map((each) => each.refetch()))}
        />
      )}
      {timed.isPending && !error && <Loading />}
      {timed.isSuccess && (
        <Answer isOld={timed.isPlaceholderData}>
          <Cards figures={figures} range={range} />
        </Answer>
      )}
      {timed.isSuccess && before.isSuccess && grouped.isSuccess && (
        <WhatChanged slug={slug} range={range} counts={countsOf(figures)} />
      )}
      {!timed.isError && (
        <ChartGrid
          slug={slug}
          name="overview"
          charts={CHARTS.filter((name) => METRICS[name].emptyValue === 0 || !means.isError).map((name) => ({
            key: name,
            metric: METRICS[name],
            data: dataOf(name),
            search: may('traces:view') ? SEARCHES[name] : null,
            actions: (
              <>
                <PinButton metric={name} />
                {may('triggers:create') && <AlertOnThis prefill={{ metric: name }} />}
              </>
            ),
          }))}
        />
      )}
      {grouped.isSuccess && (
        <GroupTable
          by={by}
          and={search.and === by ? undefined : search.and}
          range={range}
          found={currentData(grouped)?.answer}
          onChange={change}
        />
      )}
    </Page>
  );
}

/** What the traces of a point are found by, beside their range. */
const SEARCHES: Readonly<Record<MetricName, TraceListSearch>> = {
  traces: {},
  errors: { q: 'error:true' },
  cost: { sort: 'cost' },
  tokens: {},
  latency: { sort: 'duration' },
  'first-token': { sort: 'first-token' },
};

/** The sums come first; what needs every trace of the range follows, and holds up nothing. */
function useFigures(search: OverviewSearch) {
  const request = { method: TraceService.method.queryAnalytics, range: writeRange(search), toRangeInput: rangeInput };
  const total = AnalyticsInterval.TOTAL;
  const rangeOfBefore = (bounds: Bounds) => rangeInput(rangeBefore(bounds));
  const timed = useRangeQuery({ ...request, input: { metrics: SUMS }, toRangeInput: seriesInput });
  const earlier = { ...request, toRangeInput: rangeOfBefore, name: 'before' };
  const before = useRangeQuery({ ...earlier, input: { interval: total, metrics: SUMS } });
  const groupBy = GROUPINGS[search.by ?? 'model'];
  const grouped = useRangeQuery({
    ...request,
    input: { interval: total, groupBy, limit: GROUPS_SHOWN, metrics: SUMS },
  });
  const enabled = currentData(timed) !== undefined && currentData(before) !== undefined;
  const percentiles = useRangeQuery({ ...request, input: { interval: total, metrics: PERCENTILES }, enabled });
  const means = useRangeQuery({ ...request, input: { metrics: PERCENTILES }, toRangeInput: meansInput, enabled });
  const slower = useRangeQuery({ ...earlier, input: { interval: total, metrics: PERCENTILES }, enabled });
  return { timed, before, grouped, percentiles, means, slower };
}

type Figures = ReturnType<typeof useFigures>;

/** Null while those that are known are of another range. */
function countsOf({ timed, before }: Figures): TraceCounts | null {
  const [now, then] = [currentData(timed), currentData(before)];
  if (now === undefined || then === undefined) return null;
  return { traces: sumOf(now.answer.buckets).traces, tracesBefore: sumOf(then.answer.buckets).traces };
}

type CardsProps = { readonly figures: Figures; readonly range: TraceListSearch };

function Cards({ figures: { timed, before, percentiles, means, slower }, range }: CardsProps) {
  const { slug } = route.useParams();
  // The cards show one range, whichever: beside the sums of the new one, nothing of the one before is left.
  const dataOf = (found: Figures[keyof Figures]) => (timed.isPlaceholderData ? found.data : currentData(found));
  const bucketsOf = (found: Figures[keyof Figures]) => dataOf(found)?.answer.buckets;
  const sums = sumOf(bucketsOf(timed) ?? []);
  const allBefore = bucketsOf(before);
  const sumsBefore = allBefore && sumOf(allBefore);
  const [now] = bucketsOf(percentiles) ?? [];
  const [then] = bucketsOf(slower) ?? [];
  const courseOf = (name: MetricName) => {
    const data = dataOf(METRICS[name].emptyValue === 0 ? timed : means);
    return data && seriesOf(data.answer.buckets, METRICS[name], data.bounds).values;
  };
  const changeOf = (name: keyof Sums) => (sumsBefore ? formatChange(sums[name], sumsBefore[name]) : '');
  const read = (name: MetricName, bucket: AnalyticsBucket | undefined) => bucket && METRICS[name].read(bucket);
  const shareOf = ({ errors, traces }: Sums) => (traces > 0 ? errors / traces : null);
  const [share, shareBefore] = [shareOf(sums), sumsBefore ? shareOf(sumsBefore) : null];
  const shown: readonly Figure[] = [
    {
      label: 'Traces',
      value: formatCount(sums.traces),
      note: `${formatCount(sums.spans)} spans`,
      change: changeOf('traces'),
      course: courseOf('traces'),
      search: range,
    },
    {
      label: 'Failed traces',
      value: formatCount(sums.errors),
      note: share === null ? '' : `${formatShare(share)} of traces`,
      change: share === null || shareBefore === null ? '' : asChange(formatPoints(share - shareBefore)),
      course: courseOf('errors'),
      isBadCourse: true,
      search: { ...range, q: 'error:true' },
    },
    {
      label: 'Cost',
      value: formatCost(sums.cost),
      note: sums.traces > 0 ? `${formatCost(sums.cost / sums.traces)} a trace` : '',
      change: changeOf('cost'),
      course: courseOf('cost'),
      search: { ...range, sort: 'cost' },
    },
    {
      label: 'Tokens',
      value: formatCount(sums.tokens),
      note: `${formatCount(sums.outputTokens)} output tokens`,
      change: changeOf('tokens'),
      course: courseOf('tokens'),
      search: range,
    },
    {
      label: 'Duration, p95',
      value: formatDuration(now?.totalTimeMsP95?.value),
      note: `p50 ${formatDuration(now?.totalTimeMsP50?.value)}`,
      change: formatChange(read('latency', now), read('latency', then)),
      course: courseOf('latency'),
      search: { ...range, sort: 'duration' },
    },
    {
      label: 'First token of any call, p95',
      value: formatDuration(now?.firstTokenMsP95?.value),
      note: `p50 ${formatDuration(now?.firstTokenMsP50?.value)}`,
      change: formatChange(read('first-token', now), read('first-token', then)),
      course: courseOf('first-token'),
      search: { ...range, sort: 'first-token' },
    },
  ];
  return <FigureCards slug={slug} figures={shown} />;
}
