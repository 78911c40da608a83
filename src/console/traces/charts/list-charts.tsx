/** Charts above the list of traces, of what it finds. */

import { useRef } from 'react';
import { Button, Skeleton } from '../../design/button.tsx';
import { FailureNotice } from '../../design/failure.tsx';
import { formatCost, formatCount, formatDuration, nameControls } from '../../design/format.ts';
import page from '../../design/page.module.css';
import { RANGE_CUSTOM, type Range, readBounds } from '../range.ts';
import type { FinderSearch } from '../search.ts';
import styles from './charts.module.css';
import type { Line } from './figures.ts';
import { PLOT_HEIGHT_PX, Plot, type PlotProps } from './plot.tsx';
import { type ShownFigures, useFigures } from './use-figures.ts';

type ListChartsProps = {
  readonly search: FinderSearch;
  /** Whether the list has its rows, which come first. */
  readonly isReady: boolean;
  readonly onZoom: (range: Range) => void;
};

const STATUS_COLORS = ['--good', '--bad'];
const LATENCY_COLORS = ['--hue-tool', '--hue-agent', '--accent'];
const MODEL_COLORS = ['--hue-llm', '--hue-tool', '--hue-rag', '--hue-evaluation', '--hue-plain'];
/** Nobody needs less. */
const SPAN_MIN_MS = 1_000;

export default function ListCharts({ search, isReady, onZoom }: ListChartsProps) {
  const shown = useFigures(search, isReady);
  const { figures, sampled, error, retry } = shown;
  const zoomTo = (fromMs: number, toMs: number) =>
    onZoom({
      range: RANGE_CUSTOM,
      from: new Date(fromMs).toISOString(),
      to: new Date(Math.max(toMs, fromMs + SPAN_MIN_MS)).toISOString(),
    });
  const zoomOut = () => {
    const { fromMs, toMs } = readBounds(search);
    const half = Math.max(SPAN_MIN_MS, toMs - fromMs) / 2;
    // The time to come has no traces.
    const end = Math.min(toMs + half, Math.max(toMs, Date.now()));
    zoomTo(end - 4 * half, end);
  };
  if (error != null) return <FailureNotice error={error} retry={retry} />;
  const common = { figures, onZoom: zoomTo };
  return (
    <section className={styles.charts} aria-label="Charts">
      <div className={styles.row}>
        <Chart
          {...common}
          title="Count by status"
          lines="status"
          form="bars"
          colors={STATUS_COLORS}
          format={formatCount}
        />
        <Chart
          {...common}
          title="Duration, p50–p99"
          lines="latency"
          form="band"
          colors={LATENCY_COLORS}
          format={formatDuration}
        />
        <Chart {...common} title="Cost by model" lines="costs" form="bars" colors={MODEL_COLORS} format={formatCost} />
      </div>
      <div className={page.row}>
        <span className={styles.note} role="status">
          {sampled !== null && `Of the newest ${formatCount(sampled)} traces that match. `}
          {figures && `Drag over a chart to zoom. ${noteOf(figures)}`}
        </span>
        <Button small onClick={zoomOut}>
          Zoom out
        </Button>
      </div>
    </section>
  );
}

function noteOf({ cut: { unit, zone } }: NonNullable<ShownFigures['figures']>): string {
  return `A point is ${unit === 'hour' ? 'an' : 'a'} ${unit}${zone === 'utc' ? ' in UTC' : ''}.`;
}

type ChartProps = Pick<PlotProps, 'title' | 'form' | 'colors' | 'format' | 'onZoom'> & {
  readonly figures: ShownFigures['figures'];
  readonly lines: 'status' | 'latency' | 'costs';
};

function Chart({ figures, lines: name, title, colors, ...rest }: ChartProps) {
  const format = useRef(rest.format);
  const lines = figures?.[name];
  return (
    <figure className={`${page.card} ${styles.card}`}>
      <figcaption className={styles.head}>
        <h2 className={styles.title}>{title}</h2>
        {lines && <Legend lines={lines} colors={colors} />}
      </figcaption>
      {figures && lines ? (
        <Plot
          {...{ title, lines, colors }}
          cut={figures.cut}
          seconds={figures.seconds}
          endSecond={figures.endSecond}
          form={rest.form}
          format={format.current}
          onZoom={rest.onZoom}
        />
      ) : (
        <Skeleton height={PLOT_HEIGHT_PX} />
      )}
    </figure>
  );
}

function Legend({ lines, colors }: { readonly lines: readonly Line[]; readonly colors: readonly string[] }) {
  return (
    <ul className={styles.legend}>
      {lines.map(({ label }, index) => (
        <li key={label} className={styles.entry}>
          <span className={styles.swatch} style={{ background: `var(${colors[index % colors.length]})` }} aria-hidden />
          <span className={styles.label} title={nameControls(label)}>
            {nameControls(label)}
          </span>
        </li>
      ))}
    </ul>
  );
}
