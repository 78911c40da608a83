/** The part of the time of a trace that the bars show. */

import type { SpanNode } from '../span-tree.ts';

/** Milliseconds since the epoch. */
export type TimeWindow = { readonly startMs: number; readonly endMs: number };

const LENGTH_MIN_MS = 1;

/** The whole time of a trace, which may have more spans than are loaded. */
export function wholeWindow(nodes: readonly SpanNode[], whole: TimeWindow): TimeWindow {
  let { startMs, endMs } = whole;
  for (const node of nodes) {
    startMs = Math.min(startMs, node.startMs);
    endMs = Math.max(endMs, node.endMs);
  }
  return { startMs, endMs: Math.max(startMs + LENGTH_MIN_MS, endMs) };
}

/** Keeps a window within the whole. */
export function clampWindow({ startMs, endMs }: TimeWindow, whole: TimeWindow): TimeWindow {
  const lengthMs = Math.min(Math.max(LENGTH_MIN_MS, endMs - startMs), whole.endMs - whole.startMs);
  const firstMs = Math.min(Math.max(startMs, whole.startMs), whole.endMs - lengthMs);
  return { startMs: firstMs, endMs: firstMs + lengthMs };
}

/** Zooms by a factor around the middle; null for the whole. */
export function zoomWindow(shown: TimeWindow, whole: TimeWindow, factor: number): TimeWindow | null {
  const middleMs = (shown.startMs + shown.endMs) / 2;
  const halfMs = (shown.endMs - shown.startMs) / 2 / factor;
  if (2 * halfMs >= whole.endMs - whole.startMs) return null;
  return clampWindow({ startMs: middleMs - halfMs, endMs: middleMs + halfMs }, whole);
}

/** Moves a window by a share of its length. */
export function panWindow(shown: TimeWindow, whole: TimeWindow, share: number): TimeWindow {
  const byMs = share * (shown.endMs - shown.startMs);
  return clampWindow({ startMs: shown.startMs + byMs, endMs: shown.endMs + byMs }, whole);
}

export type Placed = { readonly left: number; readonly width: number };

/** Where a range lies in a window, in percent; null outside of it. */
export function placeIn({ startMs, endMs }: TimeWindow, shown: TimeWindow): Placed | null {
  if (endMs < shown.startMs || startMs > shown.endMs) return null;
  const percent = (ms: number) => (100 * (ms - shown.startMs)) / (shown.endMs - shown.startMs);
  const left = Math.max(0, percent(startMs));
  return { left, width: Math.min(100, percent(endMs)) - left };
}

export type Tick = { readonly left: number; readonly label: string };

/** Round steps, about as many as asked for, counted from the start of the trace. */
export function ticksOf(shown: TimeWindow, originMs: number, wanted: number): readonly Tick[] {
  const lengthMs = shown.endMs - shown.startMs;
  const stepMs = roundStep(lengthMs / Math.max(1, wanted));
  const ticks: Tick[] = [];
  for (let at = Math.ceil((shown.startMs - originMs) / stepMs); ; at += 1) {
    const atMs = at * stepMs;
    const left = (100 * (originMs + atMs - shown.startMs)) / lengthMs;
    if (left > 100) return ticks;
    ticks.push({ left, label: formatOffset(atMs, stepMs) });
  }
}

const MINUTE_STEPS_MS = [60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 86_400_000];

function roundStep(ms: number): number {
  if (ms > 30_000) return MINUTE_STEPS_MS.find((each) => each >= ms) ?? 86_400_000 * Math.ceil(ms / 86_400_000);
  const power = 10 ** Math.floor(Math.log10(ms));
  const step = power * ([1, 2, 5].find((each) => each * power >= ms) ?? 10);
  return step;
}

function formatOffset(ms: number, stepMs: number): string {
  if (ms === 0) return '0';
  if (stepMs < 1) return `${ms.toFixed(2)} ms`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (stepMs >= 60_000) {
    const minutes = Math.round(ms / 60_000);
    return minutes < 60 ? `${minutes} m` : `${Math.floor(minutes / 60)} h ${minutes % 60} m`;
  }
  return `${(ms / 1_000).toFixed(stepMs >= 1_000 ? 0 : stepMs >= 100 ? 1 : 2)} s`;
}
