/** The points of graphs on dashboards, as the server makes them and the console draws them, in several time zones. */

import { create } from '@bufbuild/protobuf';
import { afterEach, describe, expect, it } from 'vitest';
import { TimeseriesPointSchema } from '../../gen/spandrel/v1/timeseries_pb.js';
import { bucketsOf, metricOf, scaleInput, seriesName } from '../../src/console/dashboards/graph-metrics.ts';
import { seriesOf } from '../../src/console/overview/series.ts';
import { planIntervals } from '../../src/domain/analytics/timeseries-intervals.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START_MS = Date.UTC(2026, 0, 5);
const NOON_MS = START_MS + 10 * DAY_MS + 12 * HOUR_MS;
const bounds = { fromMs: START_MS, toMs: START_MS + 30 * DAY_MS, isOpen: false };

const MEAN = { metric: 'performance.total_cost', aggregation: 'avg' };
const SUM = { metric: 'performance.total_cost', aggregation: 'sum' };
const PERCENTILE = { metric: 'performance.completion_time', aggregation: 'p95' };

/** The start of the point that shows what happened at noon of UTC, and the starts of its day here and in UTC. */
function drawn(series: typeof MEAN): { shownMs: number; localMs: number; utcMs: number } {
  const metric = metricOf(series, 'Value', false);
  const { timeScaleJson, timeZone } = scaleInput(bounds, metric);
  const mayBeLocal = series !== PERCENTILE;
  const { interval, startOf } = planIntervals({ ...bounds, scale: Number(timeScaleJson), timeZone, mayBeLocal });
  const lengthMs = interval === 'hour' ? HOUR_MS : DAY_MS;
  const startMs = startOf(Math.floor(NOON_MS / lengthMs) * lengthMs);
  const point = create(TimeseriesPointSchema, {
    date: new Date(startMs).toISOString(),
    valuesJson: JSON.stringify({ [seriesName(series)]: 7 }),
  });
  const { seconds, values } = seriesOf(bucketsOf([point], seriesName(series)), metric, bounds);
  const noon = new Date(NOON_MS);
  return {
    shownMs: 1_000 * (seconds[values.indexOf(7)] ?? 0),
    localMs: new Date(noon.getFullYear(), noon.getMonth(), noon.getDate()).getTime(),
    utcMs: START_MS + 10 * DAY_MS,
  };
}

describe.each(['Asia/Tokyo', 'America/Los_Angeles', 'Europe/Paris', 'Asia/Kolkata', 'UTC'])('in %s', (zone) => {
  const before = process.env.TZ;
  const inZone = (series: typeof MEAN) => {
    process.env.TZ = zone;
    return drawn(series);
  };
  afterEach(() => {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  });

  it.each([
    ['mean', MEAN],
    ['percentile', PERCENTILE],
  ])('a %s is drawn at its day of UTC', (_, series) => {
    const { shownMs, utcMs } = inZone(series);
    expect(shownMs).toBe(utcMs);
  });

  it('a sum is drawn at its day here, or of UTC where days here are not whole hours from it', () => {
    const { shownMs, localMs, utcMs } = inZone(SUM);
    expect(shownMs).toBe(zone === 'Asia/Kolkata' ? utcMs : localMs);
  });
});
