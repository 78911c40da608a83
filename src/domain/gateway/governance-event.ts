/** Validates one event of a gateway's virtual keys or budgets field by field. */

import type { NewEvent } from '../events/event.ts';
import {
  type BudgetEventType,
  GOVERNANCE_EVENT_TYPES,
  type GovernanceEventType,
  isBudgetEvent,
  type VirtualKeyEventType,
} from '../events/event-type.ts';
import {
  type ItemReading,
  PAST_INSTANTS,
  readChoice,
  readInstant,
  readInteger,
  readNullableText,
  readText,
  refuse,
} from './gateway-reading.ts';

const SCOPE_TYPES = [
  'organization',
  'team',
  'project',
  'virtual_key',
  'principal',
  'group',
  'attributed_user',
] as const;
const WINDOWS = ['minute', 'hour', 'day', 'week', 'month', 'total', 'manual'] as const;
const ON_BREACH = ['block', 'warn'] as const;
const ID = { min: 1, max: 256 } as const;
const NAME = { min: 0, max: 256 } as const;
const DISPLAY_PREFIX = { min: 0, max: 64 } as const;
const REASON = { min: 0, max: 500 } as const;
const AMOUNT = /^(0|[1-9][0-9]{0,15})(?:\.([0-9]{1,6}))?$/;
const DECIMALS = 6;
const AMOUNT_CHARACTERS = { min: 1, max: 23 } as const;

/** Null when the event is refused, with the reason in `reading`. */
export function readGovernanceEvent(
  reading: ItemReading,
  organizationId: string,
): NewEvent<GovernanceEventType> | null {
  const type = readChoice(reading, 'type', GOVERNANCE_EVENT_TYPES);
  if (type === null) return null;
  const occurredAtMs = readInstant(reading, 'occurred_at');
  const common = { type, occurredAtMs, organizationId };
  const event = isBudgetEvent(type)
    ? readBudgetEvent(reading, { ...common, type })
    : readVirtualKeyEvent(reading, { ...common, type });
  return reading.problem === null ? event : null;
}

type EventHead<T extends GovernanceEventType> = {
  readonly type: T;
  readonly occurredAtMs: number;
  readonly organizationId: string;
};

function readVirtualKeyEvent(
  reading: ItemReading,
  { type, occurredAtMs, organizationId }: EventHead<VirtualKeyEventType>,
): NewEvent<VirtualKeyEventType> {
  const virtualKeyId = readText(reading, 'virtual_key_id', ID);
  const id = idOf([virtualKeyId, actionOf(type), occurredAtMs]);
  const data = {
    event_id: id,
    event_type: type,
    organization_id: organizationId,
    virtual_key_id: virtualKeyId,
    name: readText(reading, 'name', NAME),
    display_prefix: readText(reading, 'display_prefix', DISPLAY_PREFIX),
    reason: readNullableText(reading, 'reason', REASON),
    occurred_at: isoOf(occurredAtMs),
  };
  return { id, type, dataJson: JSON.stringify(data) };
}

function readBudgetEvent(
  reading: ItemReading,
  { type, occurredAtMs, organizationId }: EventHead<BudgetEventType>,
): NewEvent<BudgetEventType> {
  const budgetId = readText(reading, 'budget_id', ID);
  const scopeType = readChoice(reading, 'scope_type', SCOPE_TYPES);
  const bucketScopeId = readText(reading, 'bucket_scope_id', ID);
  const virtualKeyId = readNullableText(reading, 'virtual_key_id', ID);
  const anchorProjectId = readNullableText(reading, 'anchor_project_id', ID);
  const endUserId = readNullableText(reading, 'end_user_id', ID);
  const window = readChoice(reading, 'window', WINDOWS);
  const periodStartedAtMs = readInteger(reading, 'period_started_at', PAST_INSTANTS);
  const id = idOf([budgetId, bucketScopeId, actionOf(type), periodStartedAtMs]);
  const data = {
    event_id: id,
    event_type: type,
    organization_id: organizationId,
    budget_id: budgetId,
    scope_type: scopeType,
    bucket_scope_id: bucketScopeId,
    virtual_key_id: virtualKeyId,
    anchor_project_id: anchorProjectId,
    end_user_id: endUserId,
    window,
    period_started_at: isoOf(periodStartedAtMs),
    limit_usd: readAmount(reading, 'limit_usd'),
    spent_usd: readAmount(reading, 'spent_usd'),
    on_breach: readChoice(reading, 'on_breach', ON_BREACH),
    occurred_at: isoOf(occurredAtMs),
  };
  return { id, type, dataJson: JSON.stringify(data) };
}

/** Escapes commas: deliveries join ids with them. */
function idOf(parts: readonly (string | number)[]): string {
  return parts.map((part) => String(part).replaceAll('%', '%25').replaceAll(',', '%2C')).join(':');
}

function actionOf(type: GovernanceEventType): string {
  return type.slice(type.lastIndexOf('.') + 1);
}

function isoOf(instantMs: number): string {
  return new Date(instantMs).toISOString();
}

function readAmount(reading: ItemReading, path: string): string {
  const amount = readText(reading, path, AMOUNT_CHARACTERS);
  const [, whole = '', decimals = ''] = AMOUNT.exec(amount) ?? [];
  if (whole === '') refuse(reading, path, `must be a decimal number with at most ${DECIMALS} decimals`);
  return `${whole}.${decimals.padEnd(DECIMALS, '0')}`;
}
