/** The tree of a trace: what it measures, folds and finds, and the colours of its types. */

import { readFileSync } from 'node:fs';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, it } from 'vitest';
import { SpanType, type TraceSpan, TraceSpanSchema } from '../../gen/spandrel/v1/traces_pb.js';
import { orderSpans } from '../../src/console/trace/span-tree.ts';
import { measureSpans, slowestSpan } from '../../src/console/trace/tree/measures.ts';
import { findRuns, findSpans, foldedRows, foundRows, revealing, UNFOLDED } from '../../src/console/trace/tree/rows.ts';
import { clampWindow, panWindow, placeIn, ticksOf, zoomWindow } from '../../src/console/trace/tree/time-window.ts';

type Sent = { readonly id: string; readonly parent?: string; readonly at: readonly [startMs: number, endMs: number] };
type More = Partial<Pick<TraceSpan, 'name' | 'type' | 'metrics'>>;

function span({ id, parent, at: [startMs, endMs] }: Sent, more: More = {}): TraceSpan {
  return create(TraceSpanSchema, {
    spanId: id,
    ...(parent !== undefined && { parentId: parent }),
    name: id,
    type: SpanType.TOOL,
    timestamps: { startedAt: timestampFromMs(startMs), finishedAt: timestampFromMs(endMs) },
    ...more,
  });
}

describe('a span', () => {
  it('has the time of its own during which no child ran, however its children overlap', () => {
    const nodes = orderSpans([
      span({ id: 'root', at: [0, 100] }),
      span({ id: 'one', parent: 'root', at: [10, 40] }),
      span({ id: 'two', parent: 'root', at: [20, 60] }),
      span({ id: 'late', parent: 'root', at: [90, 130] }),
      span({ id: 'inner', parent: 'two', at: [20, 60] }),
    ]);
    const { selfMs } = measureSpans(nodes);
    const own = Object.fromEntries(nodes.map(({ index, span: { spanId } }) => [spanId, selfMs[index]]));
    expect(own).toEqual({ root: 40, one: 30, two: 0, late: 40, inner: 40 });
  });

  it('is the slowest by the time of its own, of spans among which one can choose', () => {
    const root = span({ id: 'root', at: [0, 100] });
    const tool = span({ id: 'tool', parent: 'root', at: [10, 80] });
    expect(slowestSpan(orderSpans([root, tool, span({ id: 'late', parent: 'root', at: [80, 95] })]))).toBe(tool);
    expect(slowestSpan(orderSpans([root, span({ id: 'late', parent: 'root', at: [80, 95] })]))).toBe(root);
    expect(slowestSpan(orderSpans([root]))).toBeNull();
  });

  it('is on the critical path if the end of the trace had to wait for it', () => {
    const nodes = orderSpans([
      span({ id: 'root', at: [0, 100] }),
      span({ id: 'first', parent: 'root', at: [0, 30] }),
      span({ id: 'beside', parent: 'root', at: [30, 60] }),
      span({ id: 'slow', parent: 'root', at: [30, 90] }),
      span({ id: 'within', parent: 'slow', at: [40, 90] }),
    ]);
    const { isCritical } = measureSpans(nodes);
    const path = nodes.filter(({ index }) => isCritical[index]).map(({ span: { spanId } }) => spanId);
    expect(path).toEqual(['root', 'first', 'slow', 'within']);
  });

  it('counts for its own cost and tokens, else for those of the spans below it, and nothing counts twice', () => {
    const used = (cost: number) =>
      create(TraceSpanSchema, { metrics: { cost, promptTokens: 10n, completionTokens: 5n } }).metrics;
    const nodes = orderSpans([
      span({ id: 'root', at: [0, 100] }),
      span({ id: 'agent', parent: 'root', at: [0, 50] }, { metrics: used(3) }),
      span({ id: 'call', parent: 'agent', at: [0, 40] }, { metrics: used(3) }),
      span({ id: 'other', parent: 'root', at: [50, 90] }, { metrics: used(1) }),
      span({ id: 'free', parent: 'root', at: [90, 95] }),
    ]);
    expect(measureSpans(nodes)).toMatchObject({
      cost: [4, 3, 3, 1, null],
      tokens: [30, 15, 15, 15, null],
      totalCost: 4,
      totalTokens: 30,
    });
  });
});

describe('rows', () => {
  const nodes = orderSpans([
    span({ id: 'root', at: [0, 100] }),
    ...Array.from({ length: 6 }, (_, index) =>
      span({ id: `call-${index}`, parent: 'root', at: [index, index + 1] }, { name: 'search' }),
    ),
    span({ id: 'agent', parent: 'root', at: [10, 20] }, { name: 'search', type: SpanType.AGENT }),
    span({ id: 'deep', parent: 'agent', at: [11, 12] }),
  ]);
  const runs = findRuns(nodes);
  const shown = (rows: ReturnType<typeof foldedRows>) => rows.map(({ node }) => node.span.spanId);

  it('stand for identical siblings until they are unfolded', () => {
    expect(shown(foldedRows(nodes, runs, UNFOLDED))).toEqual(['root', 'call-0', 'agent', 'deep']);
    const opened = { ...UNFOLDED, opened: new Set(['call-0']) };
    expect(shown(foldedRows(nodes, runs, opened))).toHaveLength(nodes.length);
  });

  it('unfold for a span that is chosen elsewhere', () => {
    const folding = { folded: new Set(['root', 'agent']), opened: new Set<string>() };
    expect(shown(foldedRows(nodes, runs, folding))).toEqual(['root']);
    expect(shown(foldedRows(nodes, runs, revealing(nodes, runs, folding, 'deep')))).toContain('deep');
    expect(shown(foldedRows(nodes, runs, revealing(nodes, runs, folding, 'call-3')))).toContain('call-3');
    // The first of a run is its row.
    expect(revealing(nodes, runs, UNFOLDED, 'call-0')).toBe(UNFOLDED);
  });

  it('are those that match, below what they belong to', () => {
    const found = findSpans(nodes, { text: 'DEEP', types: null });
    expect(found && shown(foundRows(nodes, found))).toEqual(['root', 'agent', 'deep']);
    expect(findSpans(nodes, { text: 'search', types: new Set([SpanType.AGENT]) })).toEqual(new Set([7]));
    expect(findSpans(nodes, { text: ' ', types: null })).toBeNull();
  });
});

describe('the time that bars show', () => {
  const whole = { startMs: 1_000, endMs: 2_000 };

  it('is zoomed around its middle, moved, and never leaves the trace', () => {
    expect(zoomWindow(whole, whole, 2)).toEqual({ startMs: 1_250, endMs: 1_750 });
    expect(zoomWindow({ startMs: 1_000, endMs: 1_600 }, whole, 0.5)).toBeNull();
    expect(panWindow({ startMs: 1_700, endMs: 1_900 }, whole, 1)).toEqual({ startMs: 1_800, endMs: 2_000 });
    expect(clampWindow({ startMs: 900, endMs: 900 }, whole)).toEqual({ startMs: 1_000, endMs: 1_001 });
  });

  it('has ticks at round steps from the start of the trace', () => {
    expect(ticksOf({ startMs: 1_100, endMs: 1_500 }, 1_000, 4)).toEqual([
      { left: 0, label: '100 ms' },
      { left: 25, label: '200 ms' },
      { left: 50, label: '300 ms' },
      { left: 75, label: '400 ms' },
      { left: 100, label: '500 ms' },
    ]);
    expect(ticksOf({ startMs: 0, endMs: 600_000 }, 0, 5).map(({ label }) => label)).toEqual([
      '0',
      '2 m',
      '4 m',
      '6 m',
      '8 m',
      '10 m',
    ]);
  });

  it('cuts bars at its edges', () => {
    const shown = { startMs: 100, endMs: 200 };
    expect(placeIn({ startMs: 50, endMs: 150 }, shown)).toEqual({ left: 0, width: 50 });
    expect(placeIn({ startMs: 150, endMs: 900 }, shown)).toEqual({ left: 50, width: 50 });
    expect(placeIn({ startMs: 201, endMs: 900 }, shown)).toBeNull();
  });
});

describe('hues of types', () => {
  const css = readFileSync(new URL('../../src/console/design/base.css', import.meta.url), 'utf8');
  const hues = [...css.matchAll(/--hue-(\w+): light-dark\((#\w{6}), (#\w{6})\)/g)];

  it.each(hues.map(([, name, light, dark]) => ({ name, light, dark })))(
    '$name can be told from the rows it stands on, in both themes',
    ({ light = '', dark = '' }) => {
      // The surface, and the row that is chosen.
      for (const ground of ['#ffffff', '#eaeefd']) expect(contrast(light, ground)).toBeGreaterThanOrEqual(4.5);
      for (const ground of ['#16191e', '#1f2747']) expect(contrast(dark, ground)).toBeGreaterThanOrEqual(4.5);
    },
  );

  it('are eight, all different', () => {
    expect(new Set(hues.map(([, , light]) => light)).size).toBe(8);
    expect(new Set(hues.map(([, , , dark]) => dark)).size).toBe(8);
  });
});

/** As WCAG 2 defines it. */
function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.040_45 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
