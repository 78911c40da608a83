/** A chart of one metric over time. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { joined } from '../design/button.tsx';
import { formatDay, formatInstant, formatTick, NONE } from '../design/format.ts';
import { watchTheme } from '../design/theme.ts';
import styles from './overview.module.css';
import type { Cut, Metric, Series } from './series.ts';

/** Of the plot, its legend, and the space between them. */
export const CHART_HEIGHT_PX = 250;
const HEIGHT_PX = 220;

type ShownMetric = Pick<Metric<never>, 'label' | 'format' | 'emptyValue' | 'isBad'>;

type ChartProps = {
  readonly series: Series;
  readonly metric: ShownMetric;
  /** Charts with the same one share their crosshair. */
  readonly group?: string;
  /** Called with the point that was clicked. Without it, dragging zooms. */
  readonly onPick?: ((index: number) => void) | undefined;
};

export function Chart({ series, metric, group, onPick }: ChartProps) {
  const picked = useRef(onPick);
  picked.current = onPick;
  const isPicked = onPick !== undefined;
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    let plot: uPlot | null = null;
    const draw = () => {
      plot?.destroy();
      const cursor = { ...(group && { sync: { key: group } }), ...(isPicked && { drag: { x: false, y: false } }) };
      plot = new uPlot(optionsOf(element, metric, series, cursor), [series.seconds, series.values], element);
      const { over } = plot;
      over.addEventListener('click', () => {
        const index = plot?.cursor.idx;
        if (index != null) picked.current?.(index);
      });
    };
    draw();
    const resized = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
    resized.observe(element);
    const stopTheme = watchTheme(draw);
    return () => {
      resized.disconnect();
      stopTheme();
      plot?.destroy();
    };
  }, [series, metric, group, isPicked]);
  return (
    <div
      ref={box}
      className={joined(styles.chart, isPicked && styles.picked)}
      role="img"
      aria-label={`${metric.label} over time; the totals are on this page as text`}
    />
  );
}

/** The value of a colour of the style sheet in the current theme, for a canvas. */
export function colorsOf(element: HTMLElement): (name: string) => string {
  return (name) => {
    element.style.color = `var(${name})`;
    const { color } = getComputedStyle(element);
    element.style.color = '';
    return color;
  };
}

function optionsOf(
  element: HTMLElement,
  { label, format, emptyValue, isBad }: ShownMetric,
  cut: Series,
  cursor: uPlot.Cursor,
): uPlot.Options {
  const color = colorsOf(element);
  const ink = color(isBad ? '--bad' : '--accent');
  const grid = { stroke: color('--line'), width: 1 };
  const axis = { stroke: color('--text-soft'), font: '12px system-ui', grid, ticks: { show: false } };
  return {
    width: element.clientWidth,
    height: HEIGHT_PX,
    ...(cut.zone === 'utc' && { tzDate: (second: number) => uPlot.tzDate(new Date(1_000 * second), 'Etc/UTC') }),
    legend: { show: true, live: true },
    cursor: { y: false, ...cursor },
    scales: { y: { range: (_, min, max) => [Math.min(0, min * 1.1), max > 0 ? max * 1.1 : Number(!(min < 0))] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        // Below the lowest label of the other axis.
        gap: 12,
        size: 36,
        space: 64,
        values: (_, ticks, _axis, _space, step) => ticks.map((tick) => formatTick(tick, step, cut.zone === 'utc')),
      },
      { ...axis, size: 72, ...(isWhole(cut) && { incrs: WHOLE_STEPS }), values: (_, ticks) => ticks.map(format) },
    ],
    series: [
      {
        label: 'Time',
        value: (_, second: number | null) => (second === null ? NONE : formatStart(second, cut)),
      },
      {
        label,
        stroke: ink,
        ...(emptyValue === 0 ? barsOf(ink) : lineOf(ink)),
        value: (_, value: number | null) => format(value),
      },
    ],
  };
}

/** Counts have no value between two whole numbers. */
const WHOLE_STEPS = Array.from({ length: 16 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

function isWhole({ values }: Series): boolean {
  return values.every((value) => value === null || Number.isInteger(value));
}

/** The start of an interval, as exact as it is. */
export function formatStart(second: number, { unit, zone }: Cut): string {
  if (unit === 'minute' || unit === 'hour') return formatInstant(timestampFromMs(1_000 * second));
  const day = formatDay(second, zone === 'utc');
  return unit === 'week' ? `week of ${day}` : day;
}

function barsOf(fill: string): Partial<uPlot.Series> {
  const paths = uPlot.paths.bars?.({ size: [0.7, 36] });
  return { fill, width: 0, ...(paths && { paths }), points: { show: false } };
}

/** Its points distinguish a value of 0 from none, and show a value without neighbours. */
function lineOf(fill: string): Partial<uPlot.Series> {
  return { width: 2, points: { show: true, size: 7, fill } };
}
