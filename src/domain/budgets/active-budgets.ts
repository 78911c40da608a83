/** The budgets of an organization that count, and which of them a request counts in. */

import type { Budget, BudgetScope } from './budget.ts';

/** Of a request, what decides in which budgets it counts. */
export type Spender = {
  readonly organizationId: string;
  readonly projectId: string;
  /** Null: not known. */
  readonly teamId: string | null;
  /** '': none. */
  readonly virtualKeyId: string;
  readonly principalUserId: string | null;
  readonly endUserId: string | null;
  readonly modelProviderId: string | null;
};

/** What requests with one virtual key have in common. */
export type KeySpender = Omit<Spender, 'endUserId' | 'modelProviderId'>;

/** `subject`: the end user, where there is a budget for each; else ''. */
export type MatchedBudget = { readonly budget: Budget; readonly subject: string };

export type ActiveBudgets = {
  /** The version of the organization's budgets. */
  readonly version: number;
  /** Whether any is of a team: only then is the team of a request needed. */
  readonly countsTeams: boolean;
  find(id: string): Budget | undefined;
  /** The budgets that a request counts in, in the order of their ids. A request without an end user counts in none for end users. */
  matching(spender: Spender): readonly MatchedBudget[];
  /**
   * The budgets that requests with a virtual key may count in, whatever their end users and model providers are, in the
   * order of their ids.
   */
  countingKey(spender: KeySpender): readonly Budget[];
  /** Whether a request needs an end user: its key or project has a budget for each of them that blocks. */
  needsEndUser(spender: Spender): boolean;
};

const NOTHING: readonly never[] = [];

export const NO_BUDGETS: ActiveBudgets = compileBudgets([], 0);

/** Archived ones are left out. */
export function compileBudgets(budgets: readonly Budget[], version: number): ActiveBudgets {
  const active = budgets.filter(({ archivedAtMs }) => archivedAtMs === null);
  const byId = new Map(active.map((budget) => [budget.id, budget]));
  const byScope = Map.groupBy(active, ({ scope }) => nameOf(scope.kind, scope));
  const of = (kind: BudgetScope['kind'], id: string | null, template?: Template) =>
    id === null || id === '' ? NOTHING : (byScope.get(nameOf(kind, { id, of: template })) ?? NOTHING);
  const forEndUsers = ({ virtualKeyId, projectId }: KeySpender) => [
    ...of('attributed_user', virtualKeyId, 'virtual_key'),
    ...of('attributed_user', projectId, 'project'),
  ];
  const ofOthers = (spender: KeySpender) => [
    ...of('organization', spender.organizationId),
    ...of('team', spender.teamId),
    ...of('project', spender.projectId),
    ...of('virtual_key', spender.virtualKeyId),
    ...of('principal', spender.principalUserId),
  ];
  return {
    version,
    countsTeams: active.some(({ scope }) => scope.kind === 'team'),
    find: (id) => byId.get(id),
    matching(spender) {
      if (active.length === 0) return NOTHING;
      const { endUserId } = spender;
      const matched = [
        ...ofOthers(spender).map((budget) => ({ budget, subject: '' })),
        ...(endUserId === null ? NOTHING : forEndUsers(spender).map((budget) => ({ budget, subject: endUserId }))),
      ];
      return matched
        .filter(({ budget }) => countsProvider(budget, spender))
        .sort((one, other) => (one.budget.id < other.budget.id ? -1 : 1));
    },
    countingKey: (spender) =>
      [...ofOthers(spender), ...forEndUsers(spender)].sort((one, other) => (one.id < other.id ? -1 : 1)),
    needsEndUser: (spender) =>
      forEndUsers(spender).some((budget) => budget.onBreach === 'block' && countsProvider(budget, spender)),
  };
}

type Template = Extract<BudgetScope, { kind: 'attributed_user' }>['of'];

function nameOf(kind: BudgetScope['kind'], scope: { readonly id: string; readonly of?: Template | undefined }): string {
  return `${kind} ${scope.of ?? ''} ${scope.id}`;
}

function countsProvider({ providerId }: Budget, { modelProviderId }: Spender): boolean {
  return providerId === null || providerId === modelProviderId;
}
