/** Reads what the charts above the list show, once the list has its rows. */

import { useMemo } from 'react';
import { AnalyticsGrouping } from '../../../../gen/spandrel/v1/analytics_pb.js';
import { SortDirection, TraceService, TraceSort } from '../../../../gen/spandrel/v1/traces_pb.js';
import { meansInput } from '../../overview/series.ts';
import { useRangeQuery } from '../range-query.ts';
import type { FinderSearch } from '../search.ts';
import { toFilterInput, toRangeInput } from '../search-input.ts';
import { conditionsOf, type Figures, figuresOf, readBuckets, readTraces } from './figures.ts';

/** Their inputs and outputs come with them. */
const SAMPLE_MAX = 500;
/** Groups of models that the server returns; those without their own line are summed up. */
const MODELS_MAX = 20;

export type ShownFigures = {
  /** Undefined while they are read. */
  readonly figures: Figures | undefined;
  /** The number of traces that they are of, where there may be more. */
  readonly sampled: number | null;
  readonly error: unknown;
  readonly retry: () => void;
};

export function useFigures({ q, not, range, from, to }: FinderSearch, isReady: boolean): ShownFigures {
  const search = { ...(q !== undefined && { q }), ...(not && { not }) };
  const conditions = conditionsOf(search);
  const isExact = conditions !== null;
  const request = { range: { range, from, to }, toRangeInput: meansInput, enabled: isReady && isExact };
  const sum = { ...request, method: TraceService.method.queryAnalytics };
  const of = conditions ?? {};
  const counts = useRangeQuery({ ...sum, input: { ...of, metrics: 'traces,errors' } });
  const percentiles = 'total_time_ms_p50,total_time_ms_p95,total_time_ms_p99';
  const durations = useRangeQuery({ ...sum, input: { ...of, metrics: percentiles } });
  const byModel = { groupBy: AnalyticsGrouping.MODEL, limit: MODELS_MAX };
  const costs = useRangeQuery({ ...sum, input: { ...of, ...byModel, metrics: 'total_cost' } });
  const newest = { sortBy: TraceSort.STARTED_AT, sortDirection: SortDirection.DESC, pageSize: SAMPLE_MAX };
  const found = useRangeQuery({
    ...request,
    method: TraceService.method.searchTraces,
    input: { ...toFilterInput(search), ...newest },
    toRangeInput,
    enabled: isReady && !isExact,
  });
  const exact = useMemo(() => {
    if (!counts.data || !durations.data || !costs.data) return undefined;
    const [{ answer }, { answer: timed }, { answer: spent }] = [counts.data, durations.data, costs.data];
    return figuresOf(counts.data.bounds, readBuckets(answer.buckets, timed.buckets, spent.buckets));
  }, [counts.data, durations.data, costs.data]);
  const sample = useMemo(() => {
    if (!found.data) return undefined;
    const { answer, bounds } = found.data;
    const traces = answer.traces.flatMap(({ view }) => (view.case === 'trace' ? [view.value] : []));
    const isWhole = !answer.pagination?.nextPageToken;
    return { figures: figuresOf(bounds, readTraces(traces, bounds)), sampled: isWhole ? null : traces.length };
  }, [found.data]);
  const queries = isExact ? [counts, durations, costs] : [found];
  const failed = queries.filter(({ isError }) => isError);
  // While another range is read, the answers before stay; those of another kind of query do not.
  return {
    ...(isExact ? { figures: exact, sampled: null } : { figures: sample?.figures, sampled: sample?.sampled ?? null }),
    error: failed[0]?.error ?? null,
    retry: () => void Promise.all(failed.map((query) => query.refetch())),
  };
}
