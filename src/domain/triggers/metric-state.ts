/**
 * The states of a trigger on a metric, as a pure function of its rule, its state and what a window shows. A state is
 * announced once when it begins, again only where the rule says so, and its end once. Values that go up and down around a
 * threshold announce nothing until enough windows in a row were good.
 */

import type { MetricRule, Operator, TriggerState, TriggerStatus } from './trigger.ts';

/** What an evaluation of a window found. */
export type Observation =
  | { readonly kind: 'value'; readonly value: number; readonly group: string | null }
  | { readonly kind: 'no_data' }
  /** The metric could not be computed. */
  | { readonly kind: 'refused'; readonly reason: string };

/** What happened: `changed` is in the history only. */
export type Notice = { readonly kind: 'fired' | 'resolved' | 'changed' };

export type MetricStep = { readonly next: TriggerState; readonly notice: Notice | null };

type Level = Exclude<TriggerStatus, 'PAUSED'>;

const MINUTE_MS = 60_000;
/** Time that senders have until a window is evaluated after its end. */
export const LAG_MS = 10_000;
const DAY_MINUTES = 1_440;
const STEP_MINUTES = 1;
/** A day is too long to be summed up every minute. */
const STEP_OF_DAY_MINUTES = 15;

const COMPARE: { readonly [O in Operator]: (value: number, threshold: number) => boolean } = {
  GT: (value, threshold) => value > threshold,
  LT: (value, threshold) => value < threshold,
  GTE: (value, threshold) => value >= threshold,
  LTE: (value, threshold) => value <= threshold,
};

/** Of two values, the one that is worse. */
export function isWorse(operator: Operator, value: number, than: number): boolean {
  return operator === 'GT' || operator === 'GTE' ? value > than : value < than;
}

/** The window to evaluate at an instant, both ends included. */
export function windowAt({ windowMinutes }: Pick<MetricRule, 'windowMinutes'>, nowMs: number) {
  const stepMs = stepOf(windowMinutes);
  const endMs = Math.floor((nowMs - LAG_MS) / stepMs) * stepMs;
  return { fromMs: endMs - windowMinutes * MINUTE_MS, toMs: endMs - 1 };
}

/** When the next window has ended and is evaluated. */
export function nextEvaluationMs({ windowMinutes }: Pick<MetricRule, 'windowMinutes'>, nowMs: number): number {
  const stepMs = stepOf(windowMinutes);
  return (Math.floor((nowMs - LAG_MS) / stepMs) + 1) * stepMs + LAG_MS;
}

function stepOf(windowMinutes: number): number {
  return (windowMinutes === DAY_MINUTES ? STEP_OF_DAY_MINUTES : STEP_MINUTES) * MINUTE_MS;
}

/** The state after an evaluation, and what to tell of it. */
export function stepMetric(
  rule: MetricRule,
  state: TriggerState,
  { observation, nowMs }: { readonly observation: Observation; readonly nowMs: number },
): MetricStep {
  const seen: TriggerState = {
    ...state,
    value: observation.kind === 'value' ? observation.value : null,
    group: observation.kind === 'value' ? observation.group : null,
    reason: observation.kind === 'refused' ? observation.reason : null,
    evaluatedAtMs: nowMs,
    dueAtMs: nextEvaluationMs(rule, nowMs),
  };
  const level = levelOf(rule, observation);
  const to = { rule, seen, nowMs };
  if (level === 'keep') return goOn(to, state.status === 'ERROR' ? (seen.announced ?? 'NO_DATA') : state.status);
  if (level === 'ERROR') return change({ ...seen, goodWindows: 0 }, 'ERROR', nowMs);
  if (level === 'OK') return recover(to);
  const bad = { ...seen, goodWindows: 0 };
  if (isWorseThanAnnounced(level, seen.announced)) return fire({ ...bad, announced: level }, level, nowMs);
  return goOn({ ...to, seen: bad }, level);
}

function levelOf(rule: MetricRule, observation: Observation): Level | 'keep' {
  if (observation.kind === 'refused') return 'ERROR';
  if (observation.kind === 'no_data') return ({ KEEP: 'keep', ALERT: 'NO_DATA', OK: 'OK' } as const)[rule.noData];
  const isCrossed = (threshold: number) => COMPARE[rule.operator](observation.value, threshold);
  if (isCrossed(rule.alert)) return 'ALERT';
  return rule.warning !== null && isCrossed(rule.warning) ? 'WARNING' : 'OK';
}

/** An alert after missing data, and missing data after an alert, are news. */
function isWorseThanAnnounced(level: 'WARNING' | 'ALERT' | 'NO_DATA', announced: TriggerState['announced']): boolean {
  if (announced === null || level === announced) return announced === null;
  return level !== 'WARNING';
}

type Seen = { readonly rule: MetricRule; readonly seen: TriggerState; readonly nowMs: number };

/** Announces what is announced already only once it is time to, which does not end a row of good windows. */
function goOn({ rule, seen, nowMs }: Seen, status: TriggerStatus): MetricStep {
  const { renotifyMinutes } = rule;
  const lastMs = seen.notifiedAtMs ?? seen.sinceMs;
  const isTime = renotifyMinutes !== null && nowMs - lastMs >= renotifyMinutes * MINUTE_MS;
  return seen.announced !== null && isTime ? fire(seen, status, nowMs) : change(seen, status, nowMs);
}

function fire(seen: TriggerState, status: TriggerStatus, nowMs: number): MetricStep {
  const { next } = change({ ...seen, notifiedAtMs: nowMs }, status, nowMs);
  return { next, notice: { kind: 'fired' } };
}

function recover({ rule, seen, nowMs }: Seen): MetricStep {
  if (seen.announced === null) return change({ ...seen, goodWindows: 0 }, 'OK', nowMs);
  const goodWindows = seen.goodWindows + 1;
  // Still announced: a state of error or without data has ended, the alert has not.
  if (goodWindows < rule.recoveryWindows) {
    const { status } = seen;
    const shown = status === 'ERROR' ? seen.announced : status;
    return goOn({ rule, seen: { ...seen, goodWindows }, nowMs }, shown);
  }
  const { next } = change({ ...seen, announced: null, goodWindows: 0, notifiedAtMs: nowMs }, 'OK', nowMs);
  return { next, notice: { kind: 'resolved' } };
}

function change(seen: TriggerState, status: TriggerStatus, nowMs: number): MetricStep {
  if (seen.status === status) return { next: seen, notice: null };
  return { next: { ...seen, status, sinceMs: nowMs }, notice: { kind: 'changed' } };
}
