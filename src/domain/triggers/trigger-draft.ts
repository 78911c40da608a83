/** Validates what a request sends of a trigger, together with what is stored of it. */

import type { Reason } from '../fault.ts';
import { countCodePoints, customReason, lengthReason, typeReason } from '../reasons.ts';
import { hasMoreBytesThan } from '../text-limits.ts';
import { filterCharacters, readFilters, type SentFilter } from '../traces/search/trace-search-query.ts';
import { actionProblems, type SentParams } from './action-params.ts';
import { seriesProblems } from './series.ts';
import {
  type AlertType,
  type Cadence,
  isNotification,
  type MetricRule,
  type NoData,
  type Operator,
  type Trigger,
  type TriggerAction,
  type TriggerKind,
} from './trigger.ts';

/** A trigger as sent; undefined: not sent, null: sent without a value. */
export type TriggerDraft = {
  readonly name?: string | null | undefined;
  readonly kind?: TriggerKind | null | undefined;
  readonly active?: boolean | null | undefined;
  readonly filters?: readonly SentFilter[] | undefined;
  readonly query?: string | null | undefined;
  readonly alertType?: AlertType | null | undefined;
  readonly message?: string | null | undefined;
  readonly action?: TriggerAction | null | undefined;
  readonly actionParams?: SentParams | null | undefined;
  readonly cadence?: Cadence | null | undefined;
  readonly series?:
    | { readonly metric: string; readonly aggregation: string; readonly groupBy: string | null }
    | null
    | undefined;
  readonly operator?: Operator | null | undefined;
  readonly thresholds?: { readonly warning: number | null; readonly alert: number } | null | undefined;
  readonly windowMinutes?: number | null | undefined;
  readonly recoveryWindows?: number | null | undefined;
  readonly noData?: NoData | null | undefined;
  readonly renotifyMinutes?: number | null | undefined;
};

/** What requests decide of a trigger. */
export type TriggerContent = Omit<Trigger, 'id' | 'projectId' | 'slug' | 'createdAtMs' | 'updatedAtMs' | 'secret'>;

export type ReadDraft = {
  readonly content: TriggerContent;
  /** Null: not sent. */
  readonly params: SentParams | null;
  readonly problems: readonly Reason[];
};

const NAME_LENGTH_MAX = 128;
const MESSAGE_BYTES_MAX = 16_384;
const QUERY_LENGTH_MAX = 1_000;
const FILTER_CHARACTERS_MAX = 16_384;
const WINDOWS: readonly number[] = [1, 5, 15, 30, 60, 1_440];
const RECOVERY_MAX = 60;
const RENOTIFY = { min: 5, max: 10_080 };
const RULE_FIELDS = [
  'series',
  'operator',
  'thresholds',
  'windowMinutes',
  'recoveryWindows',
  'noData',
  'renotifyMinutes',
] as const;

const BEGINNING: TriggerContent = {
  name: '',
  kind: 'TRACE',
  active: true,
  filters: [],
  query: '',
  alertType: null,
  message: null,
  action: 'SEND_WEBHOOK',
  actionParams: {},
  cadence: 'IMMEDIATE',
  rule: null,
};

/** What a new trigger would be, or a stored one after the change. */
export function readDraft(draft: TriggerDraft, stored: Trigger | null): ReadDraft {
  const problems: Reason[] = [];
  const base = stored ?? BEGINNING;
  if (stored === null && draft.action == null) problems.push(typeReason('action', 'string', 'undefined'));
  if (stored !== null && draft.kind != null && draft.kind !== stored.kind) {
    problems.push(customReason('kind', 'kind cannot be changed; make another trigger'));
  }
  const kind = stored?.kind ?? draft.kind ?? 'TRACE';
  const filters = draft.filters === undefined ? base.filters : readSentFilters(draft.filters, problems);
  const query = draft.query === undefined ? base.query : readQuery(draft.query ?? '', problems);
  const action = draft.action ?? base.action;
  const params = draft.actionParams ?? null;
  const content: TriggerContent = {
    name: draft.name == null ? base.name : draft.name.trim().toWellFormed(),
    kind,
    active: draft.active ?? base.active,
    filters,
    query,
    alertType: draft.alertType === undefined ? base.alertType : draft.alertType,
    message: draft.message === undefined ? base.message : draft.message,
    action,
    actionParams: base.actionParams,
    cadence: draft.cadence ?? base.cadence,
    rule: kind === 'METRIC' ? readRule(draft, base.rule, problems) : null,
  };
  if (draft.name !== undefined || stored === null) checkName(draft.name ?? null, problems);
  checkMessage(content.message, problems);
  if (kind === 'TRACE') checkTrace(draft, content, problems);
  else checkMetric(content, problems);
  // A trigger that keeps its action keeps the parameters that are not sent.
  const isNew = stored === null || action !== stored.action;
  problems.push(
    ...actionProblems(action, params ?? (isNew ? {} : null), { hasSecret: !isNew && stored.secret !== null }),
  );
  return { content, params, problems };
}

function checkName(name: string | null, found: Reason[]): void {
  if (name === null) found.push(typeReason('name', 'string', 'undefined'));
  else {
    const length = countCodePoints(name.trim());
    if (length < 1 || length > NAME_LENGTH_MAX) found.push(lengthReason('name', `1 to ${NAME_LENGTH_MAX} characters`));
    refuseNul(name, 'name', found);
  }
}

function checkMessage(message: string | null, found: Reason[]): void {
  if (message === null) return;
  if (hasMoreBytesThan(message, MESSAGE_BYTES_MAX)) {
    found.push(lengthReason('message', `at most ${MESSAGE_BYTES_MAX} bytes`));
  }
  refuseNul(message, 'message', found);
}

function readQuery(query: string, found: Reason[]): string {
  if (countCodePoints(query) > QUERY_LENGTH_MAX)
    found.push(lengthReason('query', `at most ${QUERY_LENGTH_MAX} characters`));
  refuseNul(query, 'query', found);
  return query;
}

function refuseNul(text: string, field: string, found: Reason[]): void {
  if (text.includes('\0')) found.push({ field, type: 'invalid_format', message: `${field} must not contain U+0000` });
}

/** Those without values are left out. */
function readSentFilters(filters: readonly SentFilter[], found: Reason[]): readonly SentFilter[] {
  const names = new Set<string>();
  for (const { name, key, values } of filters) {
    const field = key === null ? `filters.${name}` : `filters.${name}.${key}`;
    if (names.has(field)) found.push(customReason(field, `${field} must be sent once`));
    names.add(field);
    refuseNul([key ?? '', ...values].join(''), field, found);
  }
  found.push(...readFilters(filters).reasons);
  if (filterCharacters(filters) > FILTER_CHARACTERS_MAX) {
    found.push(lengthReason('filters', `at most ${FILTER_CHARACTERS_MAX} characters`));
  }
  return filters.filter(({ values }) => values.length > 0);
}

function checkTrace(draft: TriggerDraft, { filters, cadence, action }: TriggerContent, found: Reason[]): void {
  if (cadence !== 'IMMEDIATE' && !isNotification(action)) {
    found.push(customReason('cadence', `cadence must be immediate for ${action}: a digest is a notification`));
  }
  if (filters.length === 0) {
    found.push(
      customReason('filters', 'filters must hold at least one filter with a value; a query alone is not enough'),
    );
  }
  for (const field of RULE_FIELDS) {
    if (draft[field] != null) found.push(customReason(field, `${field} is for triggers of the kind metric`));
  }
}

function checkMetric({ rule, filters, query, cadence, action }: TriggerContent, found: Reason[]): void {
  if (query !== '') found.push(customReason('query', 'query is for triggers of the kind trace'));
  if (cadence !== 'IMMEDIATE') found.push(customReason('cadence', 'cadence is for triggers of the kind trace'));
  if (action === 'ADD_TO_DATASET' || action === 'ADD_TO_ANNOTATION_QUEUE') {
    found.push(customReason('action', `${action} is for triggers of the kind trace: a metric has no trace to add`));
  }
  if (rule === null) return;
  found.push(...seriesProblems({ series: rule.series, filters }));
  const isUpper = rule.operator === 'GT' || rule.operator === 'GTE';
  if (![rule.alert, rule.warning ?? 0].every(Number.isFinite)) {
    found.push(customReason('thresholds', 'thresholds must be finite numbers'));
  } else if (rule.warning !== null && (isUpper ? rule.warning >= rule.alert : rule.warning <= rule.alert)) {
    const message = `thresholds.warning must be ${isUpper ? 'less' : 'greater'} than thresholds.alert, so that it is crossed first`;
    found.push(customReason('thresholds.warning', message));
  }
  if (!WINDOWS.includes(rule.windowMinutes)) {
    found.push(customReason('windowMinutes', `windowMinutes must be one of: ${WINDOWS.join(', ')}`));
  }
  checkRange(rule.recoveryWindows, { field: 'recoveryWindows', min: 1, max: RECOVERY_MAX }, found);
  if (rule.renotifyMinutes !== null) checkRange(rule.renotifyMinutes, { field: 'renotifyMinutes', ...RENOTIFY }, found);
}

type Range = { readonly field: string; readonly min: number; readonly max: number };

function checkRange(value: number, { field, min, max }: Range, found: Reason[]): void {
  if (value >= min && value <= max) return;
  found.push(customReason(field, `${field} must be between ${min} and ${max}`));
}

/** Null, with the reasons, where a new rule lacks something. */
function readRule(draft: TriggerDraft, stored: MetricRule | null, found: Reason[]): MetricRule | null {
  if (stored === null) {
    for (const field of ['series', 'operator', 'thresholds', 'windowMinutes'] as const) {
      if (draft[field] == null) found.push(typeReason(field, 'value', 'undefined'));
    }
  }
  const series = draft.series ?? stored?.series ?? null;
  const operator = draft.operator ?? stored?.operator ?? null;
  const thresholds = draft.thresholds ?? stored;
  const windowMinutes = draft.windowMinutes ?? stored?.windowMinutes ?? null;
  if (series === null || operator === null || thresholds === null || windowMinutes === null) return null;
  return {
    series: { ...series, groupBy: series.groupBy ?? 'none' },
    operator,
    warning: thresholds.warning,
    alert: thresholds.alert,
    windowMinutes,
    recoveryWindows: draft.recoveryWindows ?? stored?.recoveryWindows ?? 1,
    noData: draft.noData ?? stored?.noData ?? 'KEEP',
    renotifyMinutes: draft.renotifyMinutes === undefined ? (stored?.renotifyMinutes ?? null) : draft.renotifyMinutes,
  };
}
