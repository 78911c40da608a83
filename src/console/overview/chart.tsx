/** A chart of one metric over time. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatInstant, formatTick } from '../design/format.ts';
import styles from './overview.module.css';
import type { Metric, Series } from './series.ts';

const HEIGHT_PX = 220;

type ShownMetric = Pick<Metric<never>, 'label' | 'format' | 'emptyValue'>;

export function Chart({ series, metric }: { readonly series: Series; readonly metric: ShownMetric }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const dark = window.matchMedia('(prefers-color-scheme: dark)');
    let plot: uPlot | null = null;
    const draw = () => {
      plot?.destroy();
      plot = new uPlot(optionsOf(element, metric), [series.seconds, series.values], element);
    };
    draw();
    const resized = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
    resized.observe(element);
    dark.addEventListener('change', draw);
    return () => {
      resized.disconnect();
      dark.removeEventListener('change', draw);
      plot?.destroy();
    };
  }, [series, metric]);
  return (
    <div
      ref={box}
      className={styles.chart}
      role="img"
      aria-label={`${metric.label} over time; the totals are on this page as text`}
    />
  );
}

function optionsOf(element: HTMLElement, { label, format, emptyValue }: ShownMetric): uPlot.Options {
  const style = getComputedStyle(element);
  const color = (name: string) => style.getPropertyValue(name);
  const grid = { stroke: color('--line'), width: 1 };
  const axis = { stroke: color('--text-soft'), font: '12px system-ui', grid, ticks: { show: false } };
  return {
    width: element.clientWidth,
    height: HEIGHT_PX,
    legend: { show: true, live: true },
    cursor: { y: false },
    scales: { y: { range: (_, min, max) => [Math.min(0, min * 1.1), max > 0 ? max * 1.1 : Number(!(min < 0))] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        // Below the lowest label of the other axis.
        gap: 12,
        size: 36,
        space: 64,
        values: (_, ticks, _axis, _space, step) => ticks.map((tick) => formatTick(tick, step)),
      },
      { ...axis, size: 72, values: (_, ticks) => ticks.map(format) },
    ],
    series: [
      {
        label: 'Time',
        value: (_, second: number | null) => formatInstant(second === null ? null : timestampFromMs(1_000 * second)),
      },
      {
        label,
        stroke: color('--accent'),
        ...(emptyValue === 0 ? barsOf(color('--accent')) : lineOf(color('--accent'))),
        value: (_, value: number | null) => format(value),
      },
    ],
  };
}

function barsOf(fill: string): Partial<uPlot.Series> {
  const paths = uPlot.paths.bars?.({ size: [0.7, 36] });
  return { fill, width: 0, ...(paths && { paths }), points: { show: false } };
}

/** Its points distinguish a value of 0 from none, and show a value without neighbours. */
function lineOf(fill: string): Partial<uPlot.Series> {
  return { width: 2, points: { show: true, size: 7, fill } };
}
