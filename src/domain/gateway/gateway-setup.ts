/** What a gateway needs of an organization for every request: kept in memory, and as new as its keys. */

import { type ActiveBudgets, compileBudgets } from '../budgets/active-budgets.ts';
import type { Budget } from '../budgets/budget.ts';
import type { ModelProviderRecord } from '../model-providers/model-provider.ts';

export type GatewaySetup = {
  /** Those that are enabled, oldest first. */
  readonly providers: readonly ModelProviderRecord[];
  readonly budgets: ActiveBudgets;
};

export function setUpGateway(
  providers: readonly ModelProviderRecord[],
  { version, budgets }: { readonly version: number; readonly budgets: readonly Budget[] },
): GatewaySetup {
  return { providers: providers.filter(({ enabled }) => enabled), budgets: compileBudgets(budgets, version) };
}
