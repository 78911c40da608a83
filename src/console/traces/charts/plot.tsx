/** A small chart of several lines, a part of which is chosen by dragging or by keys. */

import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatTick, NONE, nameControls } from '../../design/format.ts';
import { watchTheme } from '../../design/theme.ts';
import { colorsOf, formatStart } from '../../overview/chart.tsx';
import styles from './charts.module.css';
import { type Figures, type Line, rangeOfPoints } from './figures.ts';

export const PLOT_HEIGHT_PX = 108;
/** A shorter drag is a click. */
const DRAG_PX = 6;

export type PlotProps = Pick<Figures, 'cut' | 'seconds' | 'endSecond'> & {
  readonly title: string;
  readonly lines: readonly Line[];
  /** The colours of the lines, as the style sheet names them. */
  readonly colors: readonly string[];
  /** `bars`: the lines are parts of a whole, above each other. `band`: the first and the last one bound an area. */
  readonly form: 'bars' | 'band';
  readonly format: (value: number | null) => string;
  readonly onZoom: (fromMs: number, toMs: number) => void;
};

/** The points from one to another, in whichever order. */
type Chosen = { readonly from: number; readonly to: number };

export function Plot(props: PlotProps) {
  const { title, lines, seconds, cut, format, onZoom } = props;
  const hintId = useId();
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const zoom = (first: number, last: number) => {
    const range = rangeOfPoints(props, first, last);
    if (range !== null) onZoom(range.fromMs, range.toMs);
  };
  const act = useRef(zoom);
  useEffect(() => {
    act.current = zoom;
  });
  const { colors, form } = props;
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const draw = () => {
      plot.current?.destroy();
      const options = optionsOf(element, { cut, colors, form, format, lines }, (first, last) =>
        act.current(first, last),
      );
      plot.current = new uPlot(options, [[...seconds], ...stackedOf(form, lines)] as uPlot.AlignedData, element);
    };
    draw();
    const resized = new ResizeObserver(() =>
      plot.current?.setSize({ width: element.clientWidth, height: PLOT_HEIGHT_PX }),
    );
    resized.observe(element);
    const stopTheme = watchTheme(draw);
    return () => {
      resized.disconnect();
      stopTheme();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [seconds, lines, cut, colors, form, format]);
  useEffect(() => showChosen(plot.current, seconds, chosen), [seconds, chosen]);
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const last = seconds.length - 1;
    const step = STEPS[event.key]?.(chosen?.to ?? (event.key === 'ArrowLeft' ? last + 1 : -1), last);
    if (step !== undefined) {
      const to = Math.max(0, Math.min(last, step));
      setChosen({ from: event.shiftKey ? (chosen?.from ?? to) : to, to });
    } else if (event.key === 'Enter' && chosen !== null) {
      zoom(chosen.from, chosen.to);
      setChosen(null);
    } else if (event.key === 'Escape' && chosen !== null) setChosen(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      <div
        ref={box}
        className={styles.plot}
        role="application"
        tabIndex={0}
        aria-label={`${title} over time`}
        aria-describedby={hintId}
        onKeyDown={press}
        onBlur={() => setChosen(null)}
      />
      <p id={hintId} className={styles.spoken}>
        Left and right choose an interval, with Shift several, Enter zooms to them.
      </p>
      <p className={styles.spoken} role="status">
        {chosen !== null && wordsOf(props, chosen)}
      </p>
    </>
  );
}

const STEPS: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowLeft: (at) => at - 1,
  ArrowRight: (at) => at + 1,
  Home: () => 0,
  End: (_, last) => last,
};

/** The values of the point that was chosen last. */
function wordsOf({ seconds, cut, lines, format }: PlotProps, { from, to }: Chosen): string {
  const nameOf = (point: number) => formatStart(seconds[point] ?? 0, cut);
  const values = lines.map(({ label, values: of }) => `${nameControls(label)} ${format(of[to] ?? null)}`);
  const several = from === to ? '' : ` (${Math.abs(to - from) + 1} chosen from ${nameOf(Math.min(from, to))} on)`;
  return `${nameOf(to)}: ${values.join(', ')}${several}`;
}

function showChosen(plot: uPlot | null, seconds: readonly number[], chosen: Chosen | null): void {
  if (!plot) return;
  if (chosen === null) {
    plot.setSelect(NO_SELECTION, false);
    return;
  }
  const at = (point: number) => plot.valToPos(seconds[point] ?? 0, 'x');
  const half = seconds.length > 1 ? Math.abs(at(1) - at(0)) / 2 : plot.over.clientWidth / 2;
  const left = Math.max(0, at(Math.min(chosen.from, chosen.to)) - half);
  const right = Math.min(plot.over.clientWidth, at(Math.max(chosen.from, chosen.to)) + half);
  plot.setSelect({ left, width: right - left, top: 0, height: plot.over.clientHeight }, false);
}

const NO_SELECTION = { left: 0, width: 0, top: 0, height: 0 };

/** Bars are drawn from the whole down to its first part, each before the next. */
function stackedOf(form: PlotProps['form'], lines: readonly Line[]): (number | null)[][] {
  if (form === 'band') return lines.map(({ values }) => [...values]);
  const sums = lines.map((_, index) => {
    const parts = lines.slice(0, index + 1);
    return (
      parts[0]?.values.map((_value, place) => parts.reduce((sum, part) => sum + (part.values[place] ?? 0), 0)) ?? []
    );
  });
  return sums.toReversed();
}

type Drawn = Pick<PlotProps, 'cut' | 'colors' | 'form' | 'format' | 'lines'>;

function optionsOf(
  element: HTMLElement,
  { cut, colors, form, format, lines }: Drawn,
  onChoose: (first: number, last: number) => void,
): uPlot.Options {
  const color = colorsOf(element);
  const isUtc = cut.zone === 'utc';
  const grid = { stroke: color('--line'), width: 1 };
  const axis = { stroke: color('--text-soft'), font: '11px system-ui', grid, ticks: { show: false } };
  const ordered = form === 'bars' ? lines.toReversed() : lines;
  const inks = lines.map((_, index) => color(colors[index % colors.length] ?? '--accent'));
  const inOrder = form === 'bars' ? inks.toReversed() : inks;
  return {
    width: element.clientWidth,
    height: PLOT_HEIGHT_PX,
    ...(isUtc && { tzDate: (second: number) => uPlot.tzDate(new Date(1_000 * second), 'Etc/UTC') }),
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: true, y: false, setScale: false, dist: DRAG_PX },
      points: { show: form === 'band' },
    },
    scales: { y: { range: (_, __, max) => [0, max > 0 ? max * 1.08 : 1] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        gap: 4,
        size: 24,
        space: 64,
        values: (_, ticks, _axis, _space, step) => ticks.map((tick) => formatTick(tick, step, isUtc)),
      },
      { ...axis, size: 58, space: 32, gap: 4, values: (_, ticks) => ticks.map(format) },
    ],
    ...(form === 'band' &&
      lines.length > 1 && { bands: [{ series: [1, lines.length], fill: color('--accent-soft') }] }),
    series: [
      { value: (_, second: number | null) => (second === null ? NONE : formatStart(second, cut)) },
      ...ordered.map(({ label }, index) => ({
        label: nameControls(label),
        ...(form === 'bars' ? barsOf(inOrder[index] ?? '') : lineOf(inOrder[index] ?? '')),
      })),
    ],
    hooks: {
      setSelect: [
        (plot) => {
          const { left, width } = plot.select;
          if (width < DRAG_PX) return;
          onChoose(plot.posToIdx(left), plot.posToIdx(left + width));
          plot.setSelect(NO_SELECTION, false);
        },
      ],
    },
  };
}

function barsOf(fill: string): Partial<uPlot.Series> {
  const paths = uPlot.paths.bars?.({ size: [0.8, 24] });
  return { fill, width: 0, ...(paths && { paths }), points: { show: false } };
}

/** The points show a value without neighbours. */
function lineOf(stroke: string): Partial<uPlot.Series> {
  return { stroke, width: 1.5, points: { show: true, size: 4, fill: stroke } };
}
