/** TriggerService: message <-> domain values. */

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import {
  type CreateTriggerRequest,
  TriggerAction,
  type TriggerActionParams,
  TriggerAlertType,
  TriggerCadence,
  TriggerDelivery,
  TriggerEventKind,
  type TriggerEventSchema,
  TriggerKind,
  TriggerNoData,
  TriggerOperator,
  TriggerSchema,
  type TriggerService,
  TriggerStatus,
  type UpdateTriggerRequest,
} from '../../../gen/spandrel/v1/triggers_pb.js';
import { requirePermission } from '../../auth/authorize.ts';
import type { Project } from '../../domain/caller.ts';
import { filterCharacters } from '../../domain/traces/search/trace-search-query.ts';
import type { SentParams } from '../../domain/triggers/action-params.ts';
import type { TriggerDraft } from '../../domain/triggers/trigger-draft.ts';
import type { TriggerEvent, TriggerWithState } from '../../domain/triggers/trigger-store.ts';
import type { Triggers } from '../../domain/triggers/triggers.ts';
import { nameOf, numbersOf } from '../enums.ts';
import { toTimestamp } from '../epoch-ms.ts';
import { fieldsOf, unsetNulls } from '../field-values.ts';
import type { Context, Implementation } from '../method.ts';
import { actorCallOf, projectOf } from '../scope.ts';
import { readFilter } from '../traces/trace-search.ts';
import { isSent, sentFields } from '../update-mask.ts';

type TriggerRpcDeps = {
  readonly triggers: Triggers;
  /** The URL of a trigger in the console. */
  readonly platformUrl: (project: Project, id: string) => string;
};

export function createTriggerRpc({ triggers, platformUrl }: TriggerRpcDeps): Implementation<typeof TriggerService> {
  const show = (project: Project, shown: TriggerWithState) => toMessage(shown, platformUrl(project, shown.trigger.id));
  return {
    async listTriggers(_request, context) {
      const project = projectOf(context);
      const listed = await triggers.list(project);
      // Filters are most of what a trigger may hold.
      context.countResponseBytes(listed.reduce((units, { trigger }) => units + filterCharacters(trigger.filters), 0));
      return { triggers: listed.map((each) => show(project, each)) };
    },
    async getTrigger({ id }, context) {
      const project = projectOf(context);
      return { trigger: show(project, await triggers.get(project, id)) };
    },
    async listTriggerHistory({ id, pageSize: limit = null, pageToken: cursor }, context) {
      const { events, nextCursor } = await triggers.history(projectOf(context), id, { limit, cursor });
      return unsetNulls({ data: events.map(toEvent), nextPageToken: nextCursor });
    },
    async createTrigger(request, context) {
      const call = callOf(context);
      return { trigger: show(call.project, await triggers.create(call, readNew(request))) };
    },
    async updateTrigger(request, context) {
      const call = callOf(context);
      const change = { id: request.id, draft: readChange(request) };
      return { trigger: show(call.project, await triggers.update(call, change)) };
    },
    deleteTrigger: async ({ id }, context) => ({ id: await triggers.remove(callOf(context), id) }),
  };
}

function callOf(context: Pick<Context, 'caller' | 'project' | 'actor' | 'nowMs'>) {
  const require = (permission: string) => requirePermission(permission, context.caller);
  return { ...actorCallOf(context), requirePermission: require };
}

type Fields = Pick<CreateTriggerRequest, 'kind' | 'action' | 'cadence' | 'series' | 'thresholds'> & {
  readonly [Name in 'alertType' | 'operator' | 'noData']?: CreateTriggerRequest[Name] | undefined;
};

/** The fields whose values have other forms in the domain; null: without a value. */
function readForms(sent: Fields) {
  const { series, thresholds } = sent;
  return {
    kind: nameOf(TriggerKind, sent.kind),
    alertType: nameOf(TriggerAlertType, sent.alertType ?? 0),
    action: nameOf(TriggerAction, sent.action),
    cadence: nameOf(TriggerCadence, sent.cadence),
    operator: nameOf(TriggerOperator, sent.operator ?? 0),
    noData: nameOf(TriggerNoData, sent.noData ?? 0),
    series:
      series === undefined
        ? null
        : { metric: series.metric ?? '', aggregation: series.aggregation ?? '', groupBy: series.groupBy ?? null },
    thresholds: thresholds === undefined ? null : { warning: thresholds.warning ?? null, alert: thresholds.alert ?? 0 },
  };
}

/** Null: not sent. */
function readParams(sent: TriggerActionParams | undefined): SentParams | null {
  if (sent === undefined) return null;
  const { slackWebhook, slackWebhookHint, members, datasetId, queueId } = sent;
  const given = { slackWebhook, slackWebhookHint, members: members?.addresses, datasetId, queueId };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function readNew(request: CreateTriggerRequest): TriggerDraft {
  const { name, active, filters, query, message, actionParams } = request;
  const { windowMinutes, recoveryWindows, renotifyMinutes } = request;
  const plain = { name, active, filters: filters.map(readFilter), query, message };
  const { alertType, ...forms } = readForms(request);
  return {
    ...{ ...plain, ...forms, alertType: alertType ?? undefined, actionParams: readParams(actionParams) },
    ...{ windowMinutes, recoveryWindows, renotifyMinutes },
  };
}

const NOTHING = create(TriggerSchema);
const PLAIN = ['name', 'query', 'message', 'active', 'windowMinutes', 'recoveryWindows', 'renotifyMinutes'] as const;

function readChange({ trigger = NOTHING, updateMask }: UpdateTriggerRequest): TriggerDraft {
  const forms = readForms(trigger);
  const form = <V>(path: string, value: V | null) => (isSent(updateMask, path, value ?? undefined) ? value : undefined);
  // REST names the members of an object one by one; the object still replaces the stored one.
  const isWithin = (path: string) => updateMask?.paths.some((each) => each.startsWith(`${path}.`)) === true;
  const whole = <V>(path: string, value: V | null) => (isWithin(path) ? value : form(path, value));
  const update = { resource: trigger, mask: updateMask };
  return {
    ...sentFields(TriggerSchema, update, PLAIN),
    filters: sentFields(TriggerSchema, update, ['filters']).filters?.map(readFilter),
    actionParams: whole('action_params', readParams(trigger.actionParams)),
    kind: form('kind', forms.kind),
    alertType: form('alert_type', forms.alertType),
    action: form('action', forms.action),
    cadence: form('cadence', forms.cadence),
    series: whole('series', forms.series),
    operator: form('operator', forms.operator),
    thresholds: whole('thresholds', forms.thresholds),
    noData: form('no_data', forms.noData),
  };
}

function toMessage({ trigger, state }: TriggerWithState, platformUrl: string): MessageInitShape<typeof TriggerSchema> {
  const { kind, alertType, action, cadence, rule, filters, secret: _, ...plain } = trigger;
  const { members, ...actionParams } = trigger.actionParams;
  return {
    ...fieldsOf(plain),
    kind: TriggerKind[kind],
    ...unsetNulls({ alertType: alertType === null ? null : TriggerAlertType[alertType] }),
    action: TriggerAction[action],
    cadence: TriggerCadence[cadence],
    filters: filters.map(({ key, ...filter }) => ({ ...fieldsOf(filter), ...unsetNulls({ key }) })),
    actionParams: { ...actionParams, ...(members !== undefined && { members: { addresses: [...members] } }) },
    ...(rule !== null && {
      series: rule.series,
      operator: TriggerOperator[rule.operator],
      thresholds: unsetNulls({ warning: rule.warning, alert: rule.alert }),
      noData: TriggerNoData[rule.noData],
      ...unsetNulls({
        windowMinutes: rule.windowMinutes,
        recoveryWindows: rule.recoveryWindows,
        renotifyMinutes: rule.renotifyMinutes,
      }),
    }),
    state: { ...fieldsOf(state), since: toTimestamp(state.sinceMs), status: TriggerStatus[state.status] },
    platformUrl,
  };
}

const KINDS = numbersOf(TriggerEventKind);
const DELIVERIES = numbersOf(TriggerDelivery);

function toEvent({ kind, status, delivery, ...event }: TriggerEvent): MessageInitShape<typeof TriggerEventSchema> {
  return { ...fieldsOf(event), kind: KINDS[kind], status: TriggerStatus[status], delivery: DELIVERIES[delivery] };
}
