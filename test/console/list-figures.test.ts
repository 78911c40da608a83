/** What the charts above the list of traces draw, and the file that selected rows make. */

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, it } from 'vitest';
import { AnalyticsBucketSchema } from '../../gen/spandrel/v1/analytics_pb.js';
import { TraceSchema, TraceTimestampsSchema } from '../../gen/spandrel/v1/traces_pb.js';
import {
  conditionsOf,
  figuresOf,
  MODELS_SHOWN,
  rangeOfPoints,
  readBuckets,
  readTraces,
} from '../../src/console/traces/charts/figures.ts';
import { csvOf } from '../../src/console/traces/selection/csv.ts';

const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 0, 5);
const BOUNDS = { fromMs: START_MS + 60_000, toMs: START_MS + 3 * HOUR_MS - 1, isOpen: false };

const bucket = (hour: number, values: MessageInitShape<typeof AnalyticsBucketSchema>) =>
  create(AnalyticsBucketSchema, { startsAt: timestampFromMs(START_MS + hour * HOUR_MS), ...values });

function trace(atMs: number, values: MessageInitShape<typeof TraceSchema> = {}) {
  const made = create(TraceSchema, { traceId: `t${atMs}`, ...values });
  made.timestamps = create(TraceTimestampsSchema, { startedAt: timestampFromMs(START_MS + atMs) });
  return made;
}

describe('the charts of a list', () => {
  it('have a point for each interval, from the sums of the server', () => {
    const counts = [bucket(0, { traces: 5n, errors: 2n }), bucket(2, { traces: 1n, errors: 0n })];
    const value = (ms: bigint) => ({ value: ms });
    const durations = [bucket(2, { totalTimeMsP50: value(1n), totalTimeMsP95: value(9n), totalTimeMsP99: value(10n) })];
    const costs = [
      bucket(0, { group: 'cheap', totalCost: { value: 0.5 } }),
      bucket(0, { group: 'dear', totalCost: { value: 2 } }),
      bucket(2, { totalCost: { value: 1 } }),
      bucket(2, { group: 'free', totalCost: {} }),
    ];
    const figures = figuresOf(BOUNDS, readBuckets(counts, durations, costs));
    expect(figures.seconds).toEqual([0, 1, 2].map((hour) => (START_MS + hour * HOUR_MS) / 1_000));
    expect(figures.status).toEqual([
      { label: 'Not failed', values: [3, 0, 1] },
      { label: 'Failed', values: [2, 0, 0] },
    ]);
    expect(figures.latency.map(({ values }) => values)).toEqual([
      [null, null, 10],
      [null, null, 9],
      [null, null, 1],
    ]);
    expect(figures.costs).toEqual([
      { label: 'dear', values: [2, 0, 0] },
      { label: 'No model', values: [0, 0, 1] },
      { label: 'cheap', values: [0.5, 0, 0] },
    ]);
  });

  it('have the same from traces that were found', () => {
    const spent = (totalTimeMs: bigint, totalCost: number) => ({ metrics: { totalTimeMs, totalCost } });
    const traces = [
      trace(90_000, { ...spent(100n, 1), models: ['a', 'b'] }),
      trace(120_000, { ...spent(300n, 2), models: ['c'], error: { message: 'no' } }),
      trace(HOUR_MS, { models: ['c'] }),
    ];
    const figures = figuresOf(BOUNDS, readTraces(traces, BOUNDS));
    expect(figures.status.map(({ values }) => values)).toEqual([
      [1, 1, 0],
      [1, 0, 0],
    ]);
    expect(figures.latency.map(({ label, values }) => [label, values])).toEqual([
      ['p99', [300, null, null]],
      ['p95', [300, null, null]],
      ['p50', [100, null, null]],
    ]);
    expect(figures.costs.map(({ label }) => label)).toEqual(['c', 'a, b']);
  });

  it('sum up the models that have no colour of their own', () => {
    const costs = Array.from({ length: MODELS_SHOWN + 2 }, (_, index) =>
      bucket(0, { group: `m${index}`, totalCost: { value: index + 1 } }),
    );
    const lines = figuresOf(BOUNDS, readBuckets([], [], costs)).costs;
    expect(lines.map(({ label }) => label)).toEqual(['m6', 'm5', 'm4', 'm3', 'Other models']);
    expect(lines.at(-1)?.values).toEqual([6, 0, 0]);
  });

  it('zoom to whole intervals, in whichever direction they were chosen', () => {
    const figures = figuresOf(BOUNDS, readBuckets([], [], []));
    const hours = (from: number, to: number) => ({
      fromMs: START_MS + from * HOUR_MS,
      toMs: START_MS + to * HOUR_MS - 1,
    });
    expect(rangeOfPoints(figures, 0, 1)).toEqual(hours(0, 2));
    expect(rangeOfPoints(figures, 2, 1)).toEqual(hours(1, 3));
    expect(rangeOfPoints({ seconds: [], endSecond: 0 }, 0, 0)).toBeNull();
  });

  it.each([
    ['nothing', {}, {}],
    ['a user', { q: 'user:u1' }, { userId: 'u1' }],
    ['a user and a label', { q: 'user:u1 label:"a b"' }, { userId: 'u1', label: 'a b' }],
    ['two users', { q: 'user:u1 user:u2' }, null],
    ['another filter', { q: 'user:u1 error:true' }, null],
    ['a model, of which sums count the spans alone', { q: 'model:m' }, null],
    ['words', { q: 'refund' }, null],
    ['a filter that is negated', { q: 'user:u1', not: true as const }, null],
  ])('know whether the server sums up a search for %s', (_what, search, conditions) => {
    expect(conditionsOf(search)).toEqual(conditions);
  });
});

describe('a file of selected traces', () => {
  it('quotes what has commas, quotes and lines, and leaves nothing for a spreadsheet to compute', () => {
    const rows = csvOf([
      trace(0, {
        name: '=1+1',
        input: { value: 'a "b",\nc' },
        metadataJson: '{"user_id":"-u","labels":["x","y"]}',
        models: ['m1', 'm2'],
        metrics: { promptTokens: 3n, totalCost: -0.5 },
      }),
    ]);
    const [head, ...lines] = rows.split('\r\n');
    expect(head?.split(',').slice(0, 5)).toEqual(['trace_id', 'started_at', 'name', 'error', 'input']);
    const fields = `"t0","2026-01-05T00:00:00.000Z","'=1+1",,"a ""b"",\nc",,,"'-u",,"x; y","m1; m2",3,,-0.5,,`;
    expect(lines).toEqual([fields, '']);
  });

  it.each([' =1', '\u00a0@x', '＝1', '＋1', '\n-1', '\tx', ' － 1'])('keeps %j from being computed', (name) => {
    expect(csvOf([trace(0, { name })])).toContain(`,"'${name}",`);
  });

  it('leaves no part of a text to a spreadsheet that divides by semicolons or tabs', () => {
    expect(csvOf([trace(0, { name: 'a;=1+1\t=2' })])).toContain(',"a;=1+1\t=2",');
  });
});
