/** What receivers of notifications read: the data of events, messages of Slack, and e-mails. */

import type { Project } from '../caller.ts';
import type { NewEvent } from '../events/event.ts';
import type { AlertEventType } from '../events/event-type.ts';
import type { MemberRecord } from '../management/management.ts';
import type { Trigger } from './trigger.ts';
import type { TriggerEvent } from './trigger-store.ts';

export type Told = {
  readonly trigger: Trigger;
  readonly event: TriggerEvent;
  readonly project: Project;
  readonly linkTo: (project: Project, kind: 'traces' | 'triggers', id: string) => string;
};

export type OutgoingMail = {
  /** The same for all attempts. */
  readonly id: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
};

const OPERATORS = { GT: '>', LT: '<', GTE: '≥', LTE: '≤' } as const;
/** Longer messages of Slack are cut there without saying so. */
const SLACK_CHARACTERS_MAX = 3_000;

/** The event of the family alert.* about a notification, under the id of the notification. */
export function alertEvent({ trigger, event, project, linkTo }: Told): NewEvent<AlertEventType> {
  const { id, kind, status, value, group, traceCount, traceIds, createdAtMs } = event;
  const type = kind === 'resolved' ? 'alert.resolved' : 'alert.fired';
  const { rule } = trigger;
  const data = {
    event_id: id,
    event_type: type,
    organization_id: project.organizationId,
    project_id: project.id,
    trigger_id: trigger.id,
    trigger_name: trigger.name,
    trigger_kind: trigger.kind.toLowerCase(),
    alert_type: trigger.alertType,
    message: trigger.message,
    status: trigger.kind === 'TRACE' ? null : status,
    metric: rule?.series.metric ?? null,
    aggregation: rule?.series.aggregation ?? null,
    operator: rule?.operator.toLowerCase() ?? null,
    warning_threshold: rule?.warning ?? null,
    alert_threshold: rule?.alert ?? null,
    window_minutes: rule?.windowMinutes ?? null,
    value,
    group,
    trace_count: traceCount,
    trace_ids: traceIds,
    url: linkTo(project, 'triggers', trigger.id),
    occurred_at: new Date(createdAtMs).toISOString(),
  };
  return { id, type, dataJson: JSON.stringify(data) };
}

/** The body of an incoming webhook of Slack. Names and messages are shown as they are, not as markup. */
export function slackJson(told: Told): string {
  const text = [headline(told), ...linesOf(told)].join('\n');
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return JSON.stringify({ text: escaped.slice(0, SLACK_CHARACTERS_MAX), mrkdwn: false, unfurl_links: false });
}

/** The addresses that mail may go to, in lower case: it goes out under the name of the operator, so to active members alone. */
export function activeEmails(members: readonly Pick<MemberRecord, 'email' | 'disabledAtMs'>[]): ReadonlySet<string> {
  return new Set(members.filter(({ disabledAtMs }) => disabledAtMs === null).map(({ email }) => email.toLowerCase()));
}

export function mailOf(told: Told): OutgoingMail {
  const { trigger, event } = told;
  return {
    id: event.id,
    to: trigger.actionParams.members ?? [],
    subject: headline(told).replace(/\s+/g, ' '),
    text: `${[headline(told), '', ...linesOf(told)].join('\n')}\n`,
  };
}

function headline({ trigger, event }: Told): string {
  const severity = trigger.alertType === null ? '' : `${trigger.alertType}: `;
  if (event.kind === 'resolved') return `Resolved: ${trigger.name}`;
  if (trigger.kind === 'METRIC') return `${severity}${trigger.name} is ${event.status}`;
  const count = event.traceCount === 1 ? 'a trace' : `${event.traceCount} traces`;
  return `${severity}${trigger.name}: ${count}`;
}

function linesOf({ trigger, event, project, linkTo }: Told): readonly string[] {
  const { rule } = trigger;
  const lines: string[] = [];
  if (rule !== null) {
    const { metric, aggregation } = rule.series;
    const shown = event.value === null ? 'no data' : String(Number(event.value.toPrecision(6)));
    const group = event.group === null ? '' : ` (${event.group})`;
    const threshold = event.status === 'WARNING' ? (rule.warning ?? rule.alert) : rule.alert;
    lines.push(
      `${metric} ${aggregation} of ${rule.windowMinutes} min: ${shown}${group}; threshold ${OPERATORS[rule.operator]} ${threshold}`,
    );
  }
  if (trigger.message !== null) lines.push(trigger.message);
  lines.push(...event.traceIds.map((id) => linkTo(project, 'traces', id)));
  if (event.traceCount > event.traceIds.length)
    lines.push(`and ${event.traceCount - event.traceIds.length} more traces`);
  return [...lines, linkTo(project, 'triggers', trigger.id)];
}
