import { useMemo } from 'react';
import { Select } from '../design/form.tsx';
import page from '../design/page.module.css';
import type { Bounds } from '../traces/range.ts';
import { Chart } from './chart.tsx';
import { type Metric, seriesOf, type Timed } from './series.ts';

type ChartCardProps<Name extends string, Bucket> = {
  readonly metrics: Readonly<Record<Name, Metric<Bucket>>>;
  readonly shown: Name;
  readonly buckets: readonly Bucket[];
  readonly bounds: Bounds;
  readonly onShow: (name: Name) => void;
};

/** A chart of one metric, and a choice of others. */
export function ChartCard<Name extends string, Bucket extends Timed>({
  metrics,
  shown,
  buckets,
  bounds,
  onShow,
}: ChartCardProps<Name, Bucket>) {
  const metric = metrics[shown];
  const choices = Object.entries<Metric<Bucket>>(metrics);
  const series = useMemo(() => seriesOf(buckets, metric, bounds), [buckets, metric, bounds]);
  return (
    <section className={`${page.card} ${page.padded}`}>
      <div className={page.head}>
        <h2>{metric.label} over time</h2>
        <Select
          aria-label="Metric"
          value={shown}
          options={choices.map(([name, { label }]) => [name as Name, label] as const)}
          onChange={onShow}
        />
      </div>
      <Chart series={series} metric={metric} />
    </section>
  );
}
