/** TimeseriesService: message <-> domain values. */

import { timestampMs } from '@bufbuild/protobuf/wkt';
import type {
  QueryTimeseriesRequest,
  TimeseriesSeries,
  TimeseriesService,
} from '../../../gen/spandrel/v1/timeseries_pb.js';
import type { TimeseriesPoint, TimeseriesQueries } from '../../domain/analytics/timeseries.ts';
import type { SentTimeseries } from '../../domain/analytics/timeseries-request.ts';
import type { Implementation } from '../method.ts';
import { readFilter } from '../traces/trace-search.ts';
import { callOf } from './analytics.ts';

export function createTimeseriesRpc(timeseries: TimeseriesQueries): Implementation<typeof TimeseriesService> {
  return {
    queryTimeseries: {
      check: (request) => timeseries.problems(toSent(request)),
      handle: async (request, context) => {
        const call = { ...callOf(context), checkConnected: () => context.countResponseBytes(0) };
        const { current, previous } = await timeseries.query(toSent(request), call);
        return { currentPeriod: current.map(pointMessage), previousPeriod: previous.map(pointMessage) };
      },
    },
  };
}

function toSent(request: QueryTimeseriesRequest): SentTimeseries {
  const { startDate, endDate, groupBy } = request;
  return {
    // The rules of the fields refuse a request without them.
    fromMs: startDate === undefined ? 0 : timestampMs(startDate),
    toMs: endDate === undefined ? 0 : timestampMs(endDate),
    series: request.series.map(toSeries),
    groupBy: groupBy ?? null,
    timeScaleJson: request.timeScaleJson ?? null,
    timeZone: request.timeZone || null,
    filters: request.filters.map(readFilter),
  };
}

function toSeries({ metric, aggregation, key }: TimeseriesSeries) {
  return { metric, aggregation, key: key || null };
}

function pointMessage({ date, values }: TimeseriesPoint) {
  return { date, valuesJson: JSON.stringify(values) };
}
