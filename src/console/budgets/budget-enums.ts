/** The names of the enum values of budgets. */

import { BudgetReserve, BudgetScopeKind } from '../../../gen/spandrel/v1/budgets_pb.js';
import { BudgetOnBreach, BudgetWindow } from '../../../gen/spandrel/v1/gateway_pb.js';
import type { ScopeName } from './search.ts';

/** The name of a kind in an address, and its label. */
export const SCOPES: readonly (readonly [kind: BudgetScopeKind, name: ScopeName, label: string])[] = [
  [BudgetScopeKind.ORGANIZATION, 'organization', 'The organization'],
  [BudgetScopeKind.TEAM, 'team', 'A team'],
  [BudgetScopeKind.PROJECT, 'project', 'A project'],
  [BudgetScopeKind.VIRTUAL_KEY, 'virtual-key', 'A virtual key'],
  [BudgetScopeKind.PRINCIPAL, 'principal', 'A member'],
  [BudgetScopeKind.ATTRIBUTED_USER, 'end-user', 'Each end user'],
];

export function scopeKindOf(name: ScopeName | undefined): BudgetScopeKind | undefined {
  return SCOPES.find(([, each]) => each === name)?.[0];
}

export const WINDOWS: readonly (readonly [window: BudgetWindow, label: string])[] = [
  [BudgetWindow.MONTH, 'A month'],
  [BudgetWindow.WEEK, 'A week'],
  [BudgetWindow.DAY, 'A day'],
  [BudgetWindow.HOUR, 'An hour'],
  [BudgetWindow.MINUTE, 'A minute'],
  [BudgetWindow.TOTAL, 'For ever'],
  [BudgetWindow.MANUAL, 'Until it is reset by hand'],
];

export const BREACHES: readonly (readonly [action: BudgetOnBreach, label: string])[] = [
  [BudgetOnBreach.BLOCK, 'Refuse further requests'],
  [BudgetOnBreach.WARN, 'Only warn'],
];

export const RESERVES: readonly (readonly [reserve: BudgetReserve, label: string, hint: string])[] = [
  [BudgetReserve.EXPECTED, 'Its expected cost', 'Running requests may exceed the limit a little.'],
  [BudgetReserve.WORST, 'Its maximum cost', 'The limit is never exceeded, but fewer requests run at once.'],
];

export function labelIn<Value>(choices: readonly (readonly [Value, string, ...unknown[]])[], value: Value): string {
  return choices.find(([each]) => each === value)?.[1] ?? 'unknown';
}
