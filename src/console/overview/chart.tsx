/** A chart of one metric over time. */

import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import styles from './overview.module.css';
import type { Series } from './series.ts';

const HEIGHT_PX = 220;

type ChartProps = {
  readonly series: Series;
  readonly label: string;
  readonly format: (value: number | null) => string;
};

export function Chart({ series, label, format }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const dark = window.matchMedia('(prefers-color-scheme: dark)');
    let plot: uPlot | null = null;
    const draw = () => {
      plot?.destroy();
      plot = new uPlot(optionsOf(element, label, format), [series.seconds, series.values], element);
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
  }, [series, label, format]);
  return (
    <div
      ref={box}
      className={styles.chart}
      role="img"
      aria-label={`${label} over time; the table below has the sums`}
    />
  );
}

function optionsOf(element: HTMLElement, label: string, format: (value: number | null) => string): uPlot.Options {
  const style = getComputedStyle(element);
  const color = (name: string) => style.getPropertyValue(name);
  const bars = uPlot.paths.bars?.({ size: [0.7, 36] });
  const grid = { stroke: color('--line'), width: 1 };
  const axis = { stroke: color('--text-soft'), font: '12px system-ui', grid, ticks: { show: false } };
  return {
    width: element.clientWidth,
    height: HEIGHT_PX,
    legend: { show: true, live: true },
    cursor: { y: false },
    scales: { y: { range: (_, _min, max) => [0, max > 0 ? max * 1.1 : 1] } },
    axes: [
      { ...axis, grid: { show: false } },
      { ...axis, size: 72, values: (_, ticks) => ticks.map(format) },
    ],
    series: [
      {},
      {
        label,
        stroke: color('--accent'),
        fill: color('--accent'),
        width: 0,
        // Bars show a single bucket; a line would need two.
        ...(bars && { paths: bars }),
        points: { show: false },
        value: (_, value: number | null) => format(value),
      },
    ],
  };
}
