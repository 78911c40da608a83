/** The events of a budget's spend: each is emitted once in a period, by the outcome that first reaches it. */

import type { NewEvent } from '../events/event.ts';
import type { GovernanceEventType } from '../events/event-type.ts';
import { governanceEventId } from '../events/governance-id.ts';
import type { Bucket, Budget } from './budget.ts';

type Level = {
  readonly type: Extract<GovernanceEventType, `gateway.budget.${string}`>;
  /** Its bit in the marks of a bucket. */
  readonly mark: number;
  readonly percent: bigint;
};

const LEVELS: readonly Level[] = [
  { type: 'gateway.budget.threshold_crossed', mark: 1, percent: 80n },
  { type: 'gateway.budget.breached', mark: 2, percent: 100n },
];
const HUNDRED = 100n;

/** The levels that the spend has reached, and that the bucket has not told yet. */
export function reachedLevels({ limitNanoUsd }: Budget, { spentNanoUsd, marks }: Bucket): readonly Level[] {
  return LEVELS.filter(
    ({ mark, percent }) => (marks & mark) === 0 && spentNanoUsd * HUNDRED >= BigInt(limitNanoUsd) * percent,
  );
}

/** `occurredAt` is put into the text as it is: the instant may be known to the database alone. */
export function budgetEvent(
  { type }: Level,
  budget: Budget,
  { bucket, occurredAt }: { readonly bucket: Bucket; readonly occurredAt: string },
): NewEvent<GovernanceEventType> {
  const { scope } = budget;
  const { subject, periodStartedAtMs, spentNanoUsd } = bucket;
  const bucketScopeId = subject === '' ? scope.id : subject;
  const action = type.slice(type.lastIndexOf('.') + 1);
  const id = governanceEventId([budget.id, bucketScopeId, action, periodStartedAtMs]);
  const isTemplateOf = (template: string) => scope.kind === 'attributed_user' && scope.of === template;
  const data = {
    event_id: id,
    event_type: type,
    organization_id: budget.organizationId,
    budget_id: budget.id,
    scope_type: scope.kind,
    bucket_scope_id: bucketScopeId,
    virtual_key_id: scope.kind === 'virtual_key' || isTemplateOf('virtual_key') ? scope.id : null,
    anchor_project_id: isTemplateOf('project') ? scope.id : null,
    end_user_id: subject === '' ? null : subject,
    window: budget.window,
    period_started_at: new Date(periodStartedAtMs).toISOString(),
    limit_usd: usdText(BigInt(budget.limitNanoUsd)),
    spent_usd: usdText(spentNanoUsd),
    on_breach: budget.onBreach,
  };
  return { id, type, dataJson: `${JSON.stringify(data).slice(0, -1)},"occurred_at":"${occurredAt}"}` };
}

const NANO_PER_MICRO = 1000n;
const DECIMALS = 6;

/** USD with six decimals, as events tell amounts; cut, so that what is told was spent. */
function usdText(nanoUsd: bigint): string {
  const digits = String(nanoUsd / NANO_PER_MICRO).padStart(DECIMALS + 1, '0');
  return `${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)}`;
}
