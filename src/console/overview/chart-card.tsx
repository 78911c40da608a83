import { type ReactNode, useMemo } from 'react';
import { Skeleton } from '../design/button.tsx';
import controls from '../design/controls.module.css';
import { Select } from '../design/form.tsx';
import page from '../design/page.module.css';
import type { Bounds } from '../traces/range.ts';
import { CHART_HEIGHT_PX, Chart } from './chart.tsx';
import { type Metric, type Series, seriesOf, type Timed } from './series.ts';

type ChartCardProps<Name extends string, Bucket> = {
  readonly metrics: Readonly<Record<Name, Metric<Bucket>>>;
  readonly shown: Name;
  /** Absent while it is loading. */
  readonly data:
    | { readonly answer: { readonly buckets: readonly Bucket[] }; readonly bounds: Bounds }
    | null
    | undefined;
  /** What its values mean, where the name does not say it. */
  readonly hint?: ReactNode;
  /** Beside the choice of the metric. */
  readonly action?: ReactNode;
  readonly onShow: (name: Name) => void;
};

/** A chart of one metric, and a choice of others. */
export function ChartCard<Name extends string, Bucket extends Timed>({
  metrics,
  shown,
  data,
  hint,
  action,
  onShow,
}: ChartCardProps<Name, Bucket>) {
  const metric = metrics[shown];
  const choices = Object.entries<Metric<Bucket>>(metrics);
  const series = useMemo(() => data && seriesOf(data.answer.buckets, metric, data.bounds), [data, metric]);
  return (
    <section className={`${page.card} ${page.padded}`}>
      <div className={page.head}>
        <div>
          <h2>{metric.label} over time</h2>
          <p className={controls.hint}>
            {hint} {series && cutNote(series)}
          </p>
        </div>
        <div className={page.row}>
          {action}
          <Select
            aria-label="Metric"
            value={shown}
            options={choices.map(([name, { label }]) => [name as Name, label] as const)}
            onChange={onShow}
          />
        </div>
      </div>
      {series ? <Chart series={series} metric={metric} /> : <Skeleton height={CHART_HEIGHT_PX} />}
    </section>
  );
}

/** Says where a chart's days begin, and that its ends are cut off by the range. */
export function cutNote({ unit, zone }: Series): string {
  if (unit === 'minute' || unit === 'hour') return `One point per ${unit}, in your time zone.`;
  const where = zone === 'utc' ? 'in UTC' : 'in your time zone';
  return `One point per ${unit}, ${where}. The first and the last ${unit} are incomplete.`;
}
