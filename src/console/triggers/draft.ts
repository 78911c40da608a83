/** Converts a trigger between the form and the api. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  type Trigger,
  TriggerAction,
  type TriggerActionParamsSchema,
  TriggerAlertType,
  TriggerCadence,
  TriggerKind,
  TriggerNoData,
  TriggerOperator,
} from '../../../gen/spandrel/v1/triggers_pb.js';
import { parseQueryLine } from '../traces/query-line.ts';
import { areSameConditions, readConditions, sentConditions, type TriggerConditions } from './conditions.ts';

export type TriggerDraft = TriggerConditions & {
  readonly name: string;
  readonly kind: TriggerKind;
  readonly alertType: TriggerAlertType;
  readonly message: string;
  readonly action: TriggerAction;
  /** Of Slack; empty: the stored one stays. */
  readonly slackWebhook: string;
  /** Addresses, separated by commas. */
  readonly members: string;
  readonly datasetId: string;
  readonly queueId: string;
  readonly cadence: TriggerCadence;
  /** Metric and aggregation, as METRICS names them. */
  readonly series: string;
  readonly groupBy: string;
  readonly operator: TriggerOperator;
  readonly warning: string;
  readonly alert: string;
  readonly windowMinutes: number;
  readonly recoveryWindows: string;
  readonly noData: TriggerNoData;
  readonly renotifyMinutes: string;
};

/** What a link to the form may bring along. */
export type Prefill = { readonly q?: string; readonly metric?: string };

/** The metrics of the charts that alerts are made from. */
const OF_CHARTS: { readonly [chart: string]: string } = {
  cost: 'total_cost sum',
  traces: 'traces sum',
  errors: 'errors share',
  latency: 'total_time_ms p95',
};

export function emptyDraft({ q = '', metric }: Prefill): TriggerDraft {
  return {
    name: '',
    kind: metric === undefined ? TriggerKind.TRACE : TriggerKind.METRIC,
    line: q,
    kept: [],
    alertType: TriggerAlertType.UNSPECIFIED,
    message: '',
    action: TriggerAction.SEND_WEBHOOK,
    ...{ slackWebhook: '', members: '', datasetId: '', queueId: '' },
    cadence: TriggerCadence.IMMEDIATE,
    series: OF_CHARTS[metric ?? 'errors'] ?? 'errors share',
    groupBy: 'none',
    operator: TriggerOperator.GT,
    ...{ warning: '', alert: '', windowMinutes: 5, recoveryWindows: '1' },
    noData: TriggerNoData.KEEP,
    renotifyMinutes: '',
  };
}

export function toDraft(trigger: Trigger): TriggerDraft {
  const { members, datasetId = '', queueId = '' } = trigger.actionParams ?? {};
  const numberText = (value: number | undefined) => (value === undefined ? '' : String(value));
  const start = emptyDraft({});
  return {
    ...start,
    name: trigger.name ?? '',
    kind: trigger.kind,
    ...readConditions(trigger),
    alertType: trigger.alertType ?? TriggerAlertType.UNSPECIFIED,
    message: trigger.message ?? '',
    action: trigger.action,
    members: members?.addresses.join(', ') ?? '',
    datasetId,
    queueId,
    cadence: trigger.cadence,
    series: trigger.series ? `${trigger.series.metric} ${trigger.series.aggregation}` : start.series,
    groupBy: trigger.series?.groupBy ?? 'none',
    operator: trigger.operator ?? start.operator,
    warning: numberText(trigger.thresholds?.warning),
    alert: numberText(trigger.thresholds?.alert),
    windowMinutes: trigger.windowMinutes ?? start.windowMinutes,
    recoveryWindows: numberText(trigger.recoveryWindows),
    noData: trigger.noData ?? start.noData,
    renotifyMinutes: numberText(trigger.renotifyMinutes),
  };
}

/** Also false where a part of the line would be left out: the trigger would watch more than it seems to. */
export function isComplete(draft: TriggerDraft): boolean {
  const { text, empty, unreadable } = parseQueryLine(draft.line);
  if (draft.name.trim() === '' || empty.length > 0 || unreadable.length > 0) return false;
  if (draft.kind === TriggerKind.METRIC) return draft.alert.trim() !== '' && text === '';
  return draft.line.trim() !== '' || draft.kept.length > 0;
}

const FIELDS = ['name', 'alert_type', 'message', 'action', 'action_params'];
const METRIC_FIELDS = ['series', 'operator', 'thresholds', 'window_minutes', 'recovery_windows', 'no_data'];

/** What a change sends. Conditions are sent only where they differ from the stored ones. */
export function toTriggerChange(draft: TriggerDraft, stored: TriggerDraft) {
  const isMetric = draft.kind === TriggerKind.METRIC;
  const paths = [...FIELDS, ...(isMetric ? [...METRIC_FIELDS, 'renotify_minutes'] : ['cadence'])];
  const { filters, query, ...rest } = toTrigger(draft);
  if (areSameConditions(draft, stored)) return { trigger: rest, updateMask: { paths } };
  return { trigger: { ...rest, filters, query }, updateMask: { paths: [...paths, 'filters', 'query'] } };
}

export function toTrigger(draft: TriggerDraft) {
  const about = {
    name: draft.name.trim(),
    ...sentConditions(draft),
    ...(draft.alertType === TriggerAlertType.UNSPECIFIED ? {} : { alertType: draft.alertType }),
    ...(draft.message.trim() === '' ? {} : { message: draft.message.trim() }),
    action: draft.action,
    actionParams: paramsOf(draft),
  };
  if (draft.kind === TriggerKind.TRACE) return { ...about, cadence: draft.cadence };
  const [metric = '', aggregation = ''] = draft.series.split(' ');
  return {
    ...about,
    series: { metric, aggregation, groupBy: draft.groupBy },
    operator: draft.operator,
    thresholds: { alert: Number(draft.alert), ...(draft.warning === '' ? {} : { warning: Number(draft.warning) }) },
    windowMinutes: draft.windowMinutes,
    recoveryWindows: Number(draft.recoveryWindows),
    noData: draft.noData,
    ...(draft.renotifyMinutes === '' ? {} : { renotifyMinutes: Number(draft.renotifyMinutes) }),
  };
}

function paramsOf({
  action,
  slackWebhook,
  members,
  datasetId,
  queueId,
}: TriggerDraft): MessageInitShape<typeof TriggerActionParamsSchema> {
  switch (action) {
    case TriggerAction.SEND_SLACK_MESSAGE:
      return slackWebhook.trim() === '' ? {} : { slackWebhook: slackWebhook.trim() };
    case TriggerAction.SEND_EMAIL:
      return { members: { addresses: members.split(/[\s,;]+/).filter((each) => each !== '') } };
    case TriggerAction.ADD_TO_DATASET:
      return { datasetId };
    case TriggerAction.ADD_TO_ANNOTATION_QUEUE:
      return { queueId };
    default:
      return {};
  }
}
