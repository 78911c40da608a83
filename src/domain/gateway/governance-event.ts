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
  const content = isBudgetEvent(type)
    ? readBudget(draft, reading, action)
    : virtualKeyContent(readVirtualKey(draft, reading), { action, occurredAtMs });
  const event = makeEvent({ type, organizationId, occurredAtMs }, content);
  return reading.problem() === null ? event : null;
}

type VirtualKeyEventType = Exclude<GovernanceEventType, `gateway.budget.${string}`>;

/** What an event tells of a virtual key. */
export type VirtualKeyFacts = {
  readonly virtualKeyId: string;
  readonly name: string;
  readonly displayPrefix: string;
  readonly reason: string | null;
};

type Occurrence<T = GovernanceEventType> = {
  readonly type: T;
  readonly organizationId: string;
  /** Unique for the key and the type: the id of the event has it. */
  readonly occurredAtMs: number;
};

/** The event of a virtual key of this server's own. */
export function virtualKeyEvent(
  occurrence: Occurrence<VirtualKeyEventType>,
  facts: VirtualKeyFacts,
): NewEvent<GovernanceEventType> {
  const { type, occurredAtMs } = occurrence;
  const action = type.slice(type.lastIndexOf('.') + 1);
  return makeEvent(occurrence, virtualKeyContent(facts, { action, occurredAtMs }));
}

type Content = { readonly id: string; readonly members: object };

function makeEvent({ type, organizationId, occurredAtMs }: Occurrence, { id, members }: Content) {
  const data = {
    event_id: id,
    event_type: type,
    organization_id: organizationId,
    ...members,
    occurred_at: isoOf(occurredAtMs),
  };
  return { id, type, dataJson: JSON.stringify(data) };
}

function readVirtualKey(draft: GovernanceDraft, reading: ItemReading): VirtualKeyFacts {
  return {
    virtualKeyId: reading.text(draft.virtualKeyId, 'virtual_key_id', ID),
    name: reading.text(draft.name, 'name', NAME),
    displayPrefix: reading.text(draft.displayPrefix, 'display_prefix', DISPLAY_PREFIX),
    reason: reading.nullableText(draft.reason, 'reason', REASON),
  };
}

function virtualKeyContent(
  { virtualKeyId, name, displayPrefix, reason }: VirtualKeyFacts,
  { action, occurredAtMs }: { readonly action: string; readonly occurredAtMs: number },
): Content {
  const members = { virtual_key_id: virtualKeyId, name, display_prefix: displayPrefix, reason };
  return { id: governanceEventId([virtualKeyId, action, occurredAtMs]), members };
}

function readBudget(draft: GovernanceDraft, reading: ItemReading, action: string): Content {
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
