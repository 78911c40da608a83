/** The words for what triggers are, do and tell. */

import {
  type Trigger,
  TriggerAction,
  TriggerAlertType,
  TriggerCadence,
  TriggerKind,
  TriggerNoData,
  TriggerOperator,
  TriggerStatus,
} from '../../../gen/spandrel/v1/triggers_pb.js';

type Options<Value> = readonly (readonly [value: Value, label: string])[];

export const KINDS: Options<TriggerKind> = [
  [TriggerKind.TRACE, 'Single traces'],
  [TriggerKind.METRIC, 'A metric of all traces'],
];

export const ACTIONS: Options<TriggerAction> = [
  [TriggerAction.SEND_WEBHOOK, 'Send to webhooks'],
  [TriggerAction.SEND_SLACK_MESSAGE, 'Post to Slack'],
  [TriggerAction.SEND_EMAIL, 'Send an e-mail'],
  [TriggerAction.ADD_TO_DATASET, 'Add the trace to a dataset'],
  [TriggerAction.ADD_TO_ANNOTATION_QUEUE, 'Add the trace to a review queue'],
];

export const ALERT_TYPES: Options<TriggerAlertType> = [
  [TriggerAlertType.UNSPECIFIED, 'Not said'],
  [TriggerAlertType.CRITICAL, 'Critical'],
  [TriggerAlertType.WARNING, 'Warning'],
  [TriggerAlertType.INFO, 'Information'],
];

export const CADENCES: Options<TriggerCadence> = [
  [TriggerCadence.IMMEDIATE, 'At once, for every trace'],
  [TriggerCadence.MINUTES5, 'Every 5 minutes, for all traces together'],
  [TriggerCadence.MINUTES15, 'Every 15 minutes, for all traces together'],
  [TriggerCadence.HOURLY, 'Every hour, for all traces together'],
];

export const OPERATORS: Options<TriggerOperator> = [
  [TriggerOperator.GT, 'is above'],
  [TriggerOperator.GTE, 'is at or above'],
  [TriggerOperator.LT, 'is below'],
  [TriggerOperator.LTE, 'is at or below'],
];

export const NO_DATA: Options<TriggerNoData> = [
  [TriggerNoData.KEEP, 'Keeps the state'],
  [TriggerNoData.ALERT, 'Is announced like an alert'],
  [TriggerNoData.OK, 'Counts as good'],
];

export const METRICS: Options<string> = [
  ['errors share', 'Failed traces, in percent'],
  ['errors sum', 'Failed traces'],
  ['traces sum', 'Traces'],
  ['spans sum', 'Spans'],
  ['total_cost sum', 'Cost, in USD'],
  ['total_cost avg', 'Cost of a trace, in USD'],
  ['prompt_tokens sum', 'Input tokens'],
  ['completion_tokens sum', 'Output tokens'],
  ['total_time_ms p50', 'Duration, p50, in ms'],
  ['total_time_ms p95', 'Duration, p95, in ms'],
  ['first_token_ms p50', 'First token, p50, in ms'],
  ['first_token_ms p95', 'First token, p95, in ms'],
  ['evaluations sum', 'Evaluations'],
  ['evaluation_failures share', 'Failed evaluations, in percent'],
  ['evaluation_failures sum', 'Failed evaluations'],
  ['evaluation_score avg', 'Score, mean'],
  ['evaluation_score min', 'Score, least'],
  ['evaluation_score p50', 'Score, p50'],
];

export const WINDOWS: Options<number> = [
  [1, '1 minute'],
  [5, '5 minutes'],
  [15, '15 minutes'],
  [30, '30 minutes'],
  [60, '1 hour'],
  [1440, '1 day'],
];

export const GROUPS: Options<string> = [
  ['none', 'All traces together'],
  ['model', 'Each model'],
  ['user_id', 'Each user'],
  ['customer_id', 'Each customer'],
  ['label', 'Each label'],
  ['thread_id', 'Each thread'],
  ['prompt.id', 'Each prompt'],
  ['prompt.version', 'Each version of a prompt'],
];

export function wordFor<Value>(options: Options<Value>, value: Value): string {
  return options.find(([each]) => each === value)?.[1] ?? 'other';
}

type Shown = { readonly text: string; readonly tone: 'good' | 'bad' | 'warn' | 'quiet' };

const STATUSES: { readonly [S in TriggerStatus]: Shown } = {
  [TriggerStatus.UNSPECIFIED]: { text: 'unknown', tone: 'quiet' },
  [TriggerStatus.OK]: { text: 'OK', tone: 'good' },
  [TriggerStatus.WARNING]: { text: 'warning', tone: 'warn' },
  [TriggerStatus.ALERT]: { text: 'alert', tone: 'bad' },
  [TriggerStatus.NO_DATA]: { text: 'no data', tone: 'quiet' },
  [TriggerStatus.ERROR]: { text: 'error', tone: 'warn' },
  [TriggerStatus.PAUSED]: { text: 'paused', tone: 'quiet' },
};

export function shownStatus(status: TriggerStatus): Shown {
  return STATUSES[status];
}

/** What a trigger watches, in one line. */
export function conditionOf({ series, operator, thresholds, windowMinutes }: Trigger): string | null {
  if (!series) return null;
  const metric = wordFor(METRICS, `${series.metric} ${series.aggregation}`);
  const comparison = wordFor(OPERATORS, operator ?? TriggerOperator.GT);
  return `${metric} ${comparison} ${thresholds?.alert} in ${wordFor(WINDOWS, windowMinutes ?? 0)}`;
}
