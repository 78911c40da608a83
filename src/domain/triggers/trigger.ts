/** Triggers and what they are made of. A trigger acts on single traces, or on a metric of all traces of a window. */

import type { Resource } from '../resources.ts';
import type { SentFilter } from '../traces/search/trace-search-query.ts';

export type TriggerKind = 'TRACE' | 'METRIC';
export type AlertType = 'CRITICAL' | 'WARNING' | 'INFO';
export type TriggerAction =
  | 'SEND_WEBHOOK'
  | 'SEND_SLACK_MESSAGE'
  | 'SEND_EMAIL'
  | 'ADD_TO_DATASET'
  | 'ADD_TO_ANNOTATION_QUEUE';
export type Cadence = 'IMMEDIATE' | 'MINUTES5' | 'MINUTES15' | 'HOURLY';
export type Operator = 'GT' | 'LT' | 'GTE' | 'LTE';
export type NoData = 'KEEP' | 'ALERT' | 'OK';
export type TriggerStatus = 'OK' | 'WARNING' | 'ALERT' | 'NO_DATA' | 'ERROR' | 'PAUSED';

/** Longer than work on triggers is put off, or leased. A later instant was set by a clock that was ahead. */
export const WAITS_MAX_MS = { evaluation: 16 * 60_000, notification: 61 * 60_000, lease: 5 * 60_000 } as const;

export type Series = { readonly metric: string; readonly aggregation: string; readonly groupBy: string };

/** The rule of a trigger on a metric. */
export type MetricRule = {
  readonly series: Series;
  readonly operator: Operator;
  /** Null: there is no such state. */
  readonly warning: number | null;
  readonly alert: number;
  readonly windowMinutes: number;
  /** Good evaluations in a row that end an alert. */
  readonly recoveryWindows: number;
  readonly noData: NoData;
  /** Null: an alert that goes on is not announced again. */
  readonly renotifyMinutes: number | null;
};

/** Parameters of the action without secrets. */
export type ActionParams = {
  readonly slackWebhookHint?: string;
  readonly members?: readonly string[];
  readonly datasetId?: string;
  readonly queueId?: string;
};

export type Trigger = Resource & {
  readonly kind: TriggerKind;
  readonly active: boolean;
  readonly filters: readonly SentFilter[];
  /** Text that traces contain; empty: any. */
  readonly query: string;
  readonly alertType: AlertType | null;
  readonly message: string | null;
  readonly action: TriggerAction;
  readonly actionParams: ActionParams;
  /** The sealed URL of the action; null: it has none. */
  readonly secret: Buffer | null;
  readonly cadence: Cadence;
  /** Null for a trigger on traces. */
  readonly rule: MetricRule | null;
};

/** What a trigger is in now. */
export type TriggerState = {
  readonly status: TriggerStatus;
  readonly sinceMs: number;
  /** Of the last window; null: it had no data. */
  readonly value: number | null;
  /** The worst group; null: none, or one without a name. */
  readonly group: string | null;
  readonly evaluatedAtMs: number | null;
  readonly notifiedAtMs: number | null;
  /** Why it is in error or paused. */
  readonly reason: string | null;
  /** The worst state that was announced and is not resolved. */
  readonly announced: 'WARNING' | 'ALERT' | 'NO_DATA' | null;
  /** Good evaluations in a row while something is announced. */
  readonly goodWindows: number;
  /** Notifications before this instant do not count against the limit of an hour. */
  readonly resumedAtMs: number;
  /** The next evaluation of a metric; null: there is none. */
  readonly dueAtMs: number | null;
};

const MINUTE_MS = 60_000;

/** Lengths of digests; null: none. */
export const DIGEST_MS: { readonly [C in Cadence]: number | null } = {
  IMMEDIATE: null,
  MINUTES5: 5 * MINUTE_MS,
  MINUTES15: 15 * MINUTE_MS,
  HOURLY: 60 * MINUTE_MS,
};

/** Only these count against the limit of an hour: datasets and queues disturb nobody. */
export function isNotification(action: TriggerAction): boolean {
  return action === 'SEND_WEBHOOK' || action === 'SEND_SLACK_MESSAGE' || action === 'SEND_EMAIL';
}

export const PAUSED_BY_REQUEST = 'The trigger was switched off by a request.';

/** The state of a trigger that begins, or begins again. */
export function beginningState({ active, kind }: Pick<Trigger, 'active' | 'kind'>, nowMs: number): TriggerState {
  const status = !active ? 'PAUSED' : kind === 'TRACE' ? 'OK' : 'NO_DATA';
  return {
    status,
    sinceMs: nowMs,
    value: null,
    group: null,
    evaluatedAtMs: null,
    notifiedAtMs: null,
    reason: active ? null : PAUSED_BY_REQUEST,
    announced: null,
    goodWindows: 0,
    resumedAtMs: nowMs,
    dueAtMs: active && kind === 'METRIC' ? nowMs : null,
  };
}
