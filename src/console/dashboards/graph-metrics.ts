/** How graphs of dashboards name what the charts of the console show. The names are those of LangWatch. */

import { type Timestamp, timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Graph } from '../../../gen/spandrel/v1/dashboards_pb.js';
import type { TimeseriesPoint } from '../../../gen/spandrel/v1/timeseries_pb.js';
import { formatCost, formatCount, formatDuration, formatScore, formatShare } from '../design/format.ts';
import type { MetricName } from '../overview/metrics.ts';
import { cutOf, type Metric, type Unit } from '../overview/series.ts';
import type { Bounds } from '../traces/range.ts';

type NamedSeries = { readonly metric: string; readonly aggregation: string; readonly key?: string };

/** A graph as far as the console shows it. */
export type ShownGraph = {
  readonly series: readonly NamedSeries[];
  readonly groupBy: string | null;
  readonly filters: readonly { readonly name: string; readonly values: string[] }[];
};

const FAILED = { 'traces.error': ['true'] };

/** What a chart of the overview is on a dashboard. */
export const PINNED: Readonly<Record<MetricName, NamedSeries & { readonly filters?: object }>> = {
  traces: { metric: 'metadata.trace_id', aggregation: 'cardinality' },
  errors: { metric: 'metadata.trace_id', aggregation: 'cardinality', filters: FAILED },
  cost: { metric: 'performance.total_cost', aggregation: 'sum' },
  tokens: { metric: 'performance.total_tokens', aggregation: 'sum' },
  latency: { metric: 'performance.completion_time', aggregation: 'p95' },
  'first-token': { metric: 'performance.first_token', aggregation: 'p95' },
};

/** Null for a definition without a series. */
export function readGraph({ graphJson = '{}', filtersJson = '{}' }: Graph): ShownGraph | null {
  const graph = objectOf(JSON.parse(graphJson));
  const filters = objectOf(JSON.parse(filtersJson));
  const series = Array.isArray(graph.series) ? graph.series.map(readSeries).filter((each) => each !== null) : [];
  if (series.length === 0) return null;
  return {
    series,
    groupBy: typeof graph.groupBy === 'string' ? graph.groupBy : null,
    filters: Object.entries(filters).flatMap(([name, values]) =>
      Array.isArray(values) && values.length > 0 ? [{ name, values: values.map(String) }] : [],
    ),
  };
}

function readSeries(value: unknown): NamedSeries | null {
  const { metric, aggregation, key } = objectOf(value);
  if (typeof metric !== 'string' || typeof aggregation !== 'string') return null;
  return { metric, aggregation, ...(typeof key === 'string' && key !== '' && { key }) };
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

export type PointBucket = { readonly startsAt: Timestamp; readonly value: number | null };

/** The metric of a series, named like its graph. */
export function metricOf({ metric, aggregation }: NamedSeries, label: string, isBad: boolean): Metric<PointBucket> {
  const isSum = ['cardinality', 'terms', 'sum'].includes(aggregation) && !/\.(user|thread)_id$/.test(metric);
  return {
    label,
    format: formatOf(metric),
    read: ({ value }) => value,
    emptyValue: isSum ? 0 : null,
    ...(isBad && { isBad }),
  };
}

const MINUTES: Readonly<Record<Unit, number>> = { minute: 1, hour: 60, day: 1_440, week: 10_080 };

/**
 * How a query cuts its range into the points of a chart. The server makes days of the zone it is told also for means, and
 * charts of all that is not a sum have days of UTC, as those of percentiles must.
 */
export function scaleInput(bounds: Bounds, { emptyValue }: Pick<Metric<PointBucket>, 'emptyValue'>) {
  const { unit, zone } = cutOf(bounds, emptyValue === 0);
  const timeZone = zone === 'local' ? Intl.DateTimeFormat().resolvedOptions().timeZone : 'UTC';
  return { timeScaleJson: String(MINUTES[unit]), timeZone };
}

function formatOf(metric: string): (value: number | null) => string {
  if (metric.endsWith('_cost')) return formatCost;
  if (metric.endsWith('_time') || metric.endsWith('first_token')) return formatDuration;
  if (metric.endsWith('_rate')) return formatShare;
  return metric.endsWith('_score') ? formatScore : formatCount;
}

/** The points of one series without a grouping. */
export function bucketsOf(points: readonly TimeseriesPoint[], name: string): readonly PointBucket[] {
  return points.map(({ date, valuesJson }) => {
    const value = objectOf(JSON.parse(valuesJson))[name];
    return { startsAt: timestampFromMs(Date.parse(date)), value: typeof value === 'number' ? value : null };
  });
}

/** The values of a series by group, the greatest first. */
export function groupsOf(points: readonly TimeseriesPoint[], { name, groupBy }: { name: string; groupBy: string }) {
  const [whole] = points;
  const groups = objectOf(objectOf(JSON.parse(whole?.valuesJson ?? '{}'))[groupBy]);
  return Object.entries(groups)
    .map(([group, values]) => ({ group, value: Number(objectOf(values)[name] ?? 0) }))
    .sort((one, other) => other.value - one.value);
}

/** As answers name a series. */
export function seriesName({ metric, aggregation, key }: NamedSeries): string {
  return ['0', metric, aggregation === 'terms' ? 'cardinality' : aggregation, ...(key ? [key] : [])].join('/');
}

/** The query line for the traces of a graph; null if no search finds them. */
export function filtersOf({
  filters,
}: ShownGraph): readonly { readonly name: string; readonly value: string }[] | null {
  const names: { readonly [name: string]: string } = {
    'metadata.user_id': 'user',
    'metadata.thread_id': 'thread',
    'metadata.customer_id': 'customer',
    'metadata.labels': 'label',
    'spans.model': 'model',
    'prompt.id': 'prompt',
    'prompt.version': 'prompt-version',
    'traces.error': 'error',
  };
  const found = filters.map(({ name, values }) => ({ name: names[name] ?? '', value: values[0] ?? '' }));
  return found.every(({ name }) => name !== '') ? found : null;
}
