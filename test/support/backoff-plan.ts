/**
 * The events of one endpoint over several days: failures of its receivers and of the sender, and actions of its owner.
 */

import type { Verdict } from '../../src/domain/delivery/delivery.ts';
import { verdict } from './deliveries.ts';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
const RETRY_AFTER_MAX_MS = HOUR_MS;

type Span = { readonly fromMs: number; readonly toMs: number };
type Outage = Span & { readonly kind: 'down' | 'busy' | 'gone' };

export type OwnerAct = { readonly kind: 'move' | 'disable' | 'enable' | 'redeliver'; readonly atMs: number };

export type BackoffPlan = {
  readonly createdAtMs: readonly number[];
  /** By destination version, from 1. */
  readonly outages: readonly (readonly Outage[])[];
  /** The time in which the sender cannot send. */
  readonly trouble: Span | null;
  /** When no sender runs. */
  readonly stop: Span | null;
  readonly acts: readonly OwnerAct[];
};

type Draw = () => number;

export function drawPlan(random: Draw): BackoffPlan {
  const chance = (share: number) => random() < share;
  const span = (fromMaxMs: number, lengthMaxMs: number): Span => {
    const fromMs = Math.floor(random() * fromMaxMs);
    return { fromMs, toMs: fromMs + Math.floor(random() * lengthMaxMs) };
  };
  const count = 1 + Math.floor(random() * 3);
  return {
    createdAtMs: Array.from({ length: count }, (_, index) => Math.floor(random() * 30 * HOUR_MS * index)),
    outages: [drawOutages(random), drawOutages(random)],
    trouble: chance(0.1) ? span(24 * HOUR_MS, 6 * HOUR_MS) : null,
    stop: chance(0.2) ? span(80 * HOUR_MS, 40 * HOUR_MS) : null,
    acts: drawActs(random),
  };
}

function drawOutages(random: Draw): Outage[] {
  const shape = random();
  if (shape < 0.1) return [];
  // A third never recovers.
  if (shape < 0.45) return [{ kind: 'down', fromMs: 0, toMs: Number.POSITIVE_INFINITY }];
  const outages: Outage[] = [];
  for (let atMs = 0; atMs < 100 * HOUR_MS && outages.length < 6; ) {
    const fromMs = atMs + random() ** 3 * 30 * HOUR_MS;
    const toMs = fromMs + random() ** 2 * 60 * HOUR_MS;
    const kind = random() < 0.03 ? 'gone' : random() < 0.4 ? 'busy' : 'down';
    outages.push({ kind, fromMs, toMs });
    atMs = toMs;
  }
  return outages;
}

function drawActs(random: Draw): OwnerAct[] {
  const acts: OwnerAct[] = [];
  const at = (maxMs: number) => Math.floor(random() * maxMs);
  // Some fall into the first attempt.
  const first = (maxMs: number) => at(random() < 0.3 ? 8_000 : maxMs);
  if (random() < 0.15) acts.push({ kind: 'move', atMs: first(60 * HOUR_MS) });
  if (random() < 0.15) {
    const atMs = first(40 * HOUR_MS);
    acts.push({ kind: 'disable', atMs }, { kind: 'enable', atMs: atMs + first(20 * HOUR_MS) });
  }
  if (random() < 0.3) acts.push({ kind: 'enable', atMs: 110 * HOUR_MS + at(60 * HOUR_MS) });
  if (random() < 0.3) acts.push({ kind: 'redeliver', atMs: at(170 * HOUR_MS) });
  return acts.toSorted((a, b) => a.atMs - b.atMs);
}

/** An attempt's verdict. */
export function judge(plan: BackoffPlan, destinationVersion: number, nowMs: number, random: Draw): Verdict {
  if (isWithin(plan.trouble, nowMs) || random() < 0.01) return verdict('sender_fault', { error: 'sender_lost' });
  const outages = plan.outages[destinationVersion - 1] ?? [];
  const outage = outages.find((each) => isWithin(each, nowMs));
  if (outage === undefined) return verdict('success', { responseStatus: 200 });
  if (outage.kind === 'gone') return verdict('gone', { responseStatus: 410, error: 'HTTP 410' });
  if (outage.kind === 'down') return verdict('failure', { responseStatus: 500 });
  const retryAfterMs = random() < 0.3 ? null : Math.ceil(random() * RETRY_AFTER_MAX_MS);
  return verdict('failure', { responseStatus: 429, error: 'HTTP 429', retryAfterMs });
}

export function isWithin(span: Span | null, nowMs: number): boolean {
  return span !== null && nowMs >= span.fromMs && nowMs < span.toMs;
}
