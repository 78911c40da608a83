/** Validates one event of a gateway's virtual keys or budgets field by field. */

import type { NewEvent } from '../events/event.ts';
import { GOVERNANCE_EVENT_TYPES, type GovernanceEventType, isBudgetEvent } from '../events/event-type.ts';
import { governanceEventId } from '../events/governance-id.ts';
import type { GovernanceDraft, Sent } from './gateway-draft.ts';
import { type ItemReading, PAST_INSTANTS } from './gateway-reading.ts';

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
  draft: GovernanceDraft,
  reading: ItemReading,
  organizationId: string,
): NewEvent<GovernanceEventType> | null {
  const type = reading.choice(draft.type, 'type', GOVERNANCE_EVENT_TYPES);
  if (type === null) return null;
  const occurredAtMs = reading.instant(draft.occurredAtMs, 'occurred_at');
  const action = type.slice(type.lastIndexOf('.') + 1);
  const { id, members } = isBudgetEvent(type)
    ? readBudget(draft, reading, action)
    : readVirtualKey(draft, reading, { action, occurredAtMs });
  const data = {
    event_id: id,
    event_type: type,
    organization_id: organizationId,
    ...members,
    occurred_at: isoOf(occurredAtMs),
  };
  return reading.problem() === null ? { id, type, dataJson: JSON.stringify(data) } : null;
}

type Occurrence = { readonly action: string; readonly occurredAtMs: number };

function readVirtualKey(draft: GovernanceDraft, reading: ItemReading, { action, occurredAtMs }: Occurrence) {
  const virtualKeyId = reading.text(draft.virtualKeyId, 'virtual_key_id', ID);
  const members = {
    virtual_key_id: virtualKeyId,
    name: reading.text(draft.name, 'name', NAME),
    display_prefix: reading.text(draft.displayPrefix, 'display_prefix', DISPLAY_PREFIX),
    reason: reading.nullableText(draft.reason, 'reason', REASON),
  };
  return { id: governanceEventId([virtualKeyId, action, occurredAtMs]), members };
}

function readBudget(draft: GovernanceDraft, reading: ItemReading, action: string) {
  const budgetId = reading.text(draft.budgetId, 'budget_id', ID);
  const scopeType = reading.choice(draft.scopeType, 'scope_type', SCOPE_TYPES);
  const bucketScopeId = reading.text(draft.bucketScopeId, 'bucket_scope_id', ID);
  const virtualKeyId = reading.nullableText(draft.virtualKeyId, 'virtual_key_id', ID);
  const anchorProjectId = reading.nullableText(draft.anchorProjectId, 'anchor_project_id', ID);
  const endUserId = reading.nullableText(draft.endUserId, 'end_user_id', ID);
  const window = reading.choice(draft.window, 'window', WINDOWS);
  const periodStartedAtMs = reading.integer(draft.periodStartedAtMs, 'period_started_at', PAST_INSTANTS);
  const members = {
    budget_id: budgetId,
    scope_type: scopeType,
    bucket_scope_id: bucketScopeId,
    virtual_key_id: virtualKeyId,
    anchor_project_id: anchorProjectId,
    end_user_id: endUserId,
    window,
    period_started_at: isoOf(periodStartedAtMs),
    limit_usd: readAmount(draft.limitUsd, 'limit_usd', reading),
    spent_usd: readAmount(draft.spentUsd, 'spent_usd', reading),
    on_breach: reading.choice(draft.onBreach, 'on_breach', ON_BREACH),
  };
  return { id: governanceEventId([budgetId, bucketScopeId, action, periodStartedAtMs]), members };
}

function isoOf(instantMs: number): string {
  return new Date(instantMs).toISOString();
}

function readAmount(sent: Sent<string>, path: string, reading: ItemReading): string {
  const amount = reading.text(sent, path, AMOUNT_CHARACTERS);
  const [, whole = '', decimals = ''] = AMOUNT.exec(amount) ?? [];
  if (whole === '') reading.refuse(path, `must be a decimal number with at most ${DECIMALS} decimals`);
  return `${whole}.${decimals.padEnd(DECIMALS, '0')}`;
}
