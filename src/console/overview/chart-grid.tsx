/** Charts of several metrics over one range, with one crosshair. A point leads to its traces. */

import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { Skeleton } from '../design/button.tsx';
import controls from '../design/controls.module.css';
import page from '../design/page.module.css';
import { BareTable } from '../design/table.tsx';
import type { Bounds } from '../traces/range.ts';
import type { TraceListSearch } from '../traces/search.ts';
import { CHART_HEIGHT_PX, Chart, formatStart } from './chart.tsx';
import { cutNote } from './chart-card.tsx';
import styles from './overview.module.css';
import { type Metric, pointRange, type Series, seriesOf, type Timed } from './series.ts';

export type GridChart<Bucket extends Timed> = {
  readonly metric: Metric<Bucket>;
  /** Absent while it is loading. */
  readonly data:
    | { readonly answer: { readonly buckets: readonly Bucket[] }; readonly bounds: Bounds }
    | null
    | undefined;
  /** Finds the traces of a point, together with its range; null if no search finds them. */
  readonly search: TraceListSearch | null;
  readonly actions?: ReactNode;
  readonly isWide?: boolean;
};

type ChartGridProps<Bucket extends Timed> = {
  readonly slug: string;
  /** Charts with the same name share their crosshair. */
  readonly name: string;
  readonly charts: readonly (GridChart<Bucket> & { readonly key: string; readonly title?: string })[];
};

export function ChartGrid<Bucket extends Timed>({ slug, name, charts }: ChartGridProps<Bucket>) {
  return (
    <div className={styles.grid}>
      {charts.map(({ key, ...chart }) => (
        <GridCard key={key} slug={slug} name={name} {...chart} />
      ))}
    </div>
  );
}

type GridCardProps<Bucket extends Timed> = GridChart<Bucket> & {
  readonly slug: string;
  readonly name: string;
  readonly title?: string;
};

export function GridCard<Bucket extends Timed>(props: GridCardProps<Bucket>) {
  const { slug, name, metric, data, search, title = metric.label, actions, isWide } = props;
  const navigate = useNavigate();
  const series = useMemo(() => data && seriesOf(data.answer.buckets, metric, data.bounds), [data, metric]);
  const searchOf = (index: number) => ({ ...search, ...(series && data && pointRange(series, index, data.bounds)) });
  const pick = (index: number) => void navigate({ to: '/$slug/traces', params: { slug }, search: searchOf(index) });
  return (
    <section className={`${page.card} ${page.padded} ${isWide ? styles.wide : ''}`} aria-label={title}>
      <div className={`${page.head} ${styles.chartHead}`}>
        <div>
          <h2>{title}</h2>
          <p className={controls.hint}>{series && cutNote(series)}</p>
        </div>
        {actions}
      </div>
      {series ? (
        <>
          <Chart series={series} metric={metric} group={name} onPick={search === null ? undefined : pick} />
          <Values series={series} metric={metric} slug={slug} searchOf={search === null ? null : searchOf} />
        </>
      ) : (
        <Skeleton height={CHART_HEIGHT_PX} />
      )}
    </section>
  );
}

type ValuesProps = {
  readonly series: Series;
  readonly metric: Pick<Metric<never>, 'label' | 'format'>;
  readonly slug: string;
  readonly searchOf: ((index: number) => TraceListSearch) | null;
};

/** The points as text, for keyboards and screen readers. Points without a value are left out. */
function Values({ series, metric, slug, searchOf }: ValuesProps) {
  const points = series.values.flatMap((value, index) => (value === null || value === 0 ? [] : [{ value, index }]));
  return (
    <details className={styles.values}>
      <summary>Values</summary>
      {/* A box that scrolls must be reachable by keyboard. */}
      <div className={styles.valueList} tabIndex={0} role="group" aria-label={`Values of ${metric.label}`}>
        <BareTable columns={['From', { number: metric.label }]}>
          {points.map(({ value, index }) => {
            const start = formatStart(series.seconds[index] ?? 0, series);
            return (
              <tr key={index}>
                <td>
                  {searchOf === null ? (
                    start
                  ) : (
                    <Link to="/$slug/traces" params={{ slug }} search={searchOf(index)}>
                      {start}
                    </Link>
                  )}
                </td>
                <td className={page.number}>{metric.format(value)}</td>
              </tr>
            );
          })}
        </BareTable>
      </div>
    </details>
  );
}
