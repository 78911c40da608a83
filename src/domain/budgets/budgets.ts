/** Creates, lists, changes, archives and resets the budgets of an organization. */

import type { CursorCodec } from '../cursor.ts';
import { Fault } from '../fault.ts';
import { isPossibleId } from '../ids.ts';
import { changedFields } from '../management/audit.ts';
import { requireSomewhere } from '../management/directory.ts';
import { refreshRights } from '../management/fresh-caller.ts';
import {
  bindFilter,
  type CursorPage,
  type CursorPageRequest,
  limitOf,
  openCursor,
  type PagePosition,
  toCursorPage,
} from '../management/listing.ts';
import { type IdempotentCall, type ManagementCall, requirePermission } from '../management/management-call.ts';
import { type CommitDeps, commitAudited, commitIdempotently } from '../management/optimistic-commit.ts';
import { refuseProblems } from '../reasons.ts';
import type { Budget } from './budget.ts';
import {
  type BudgetChanges,
  type BudgetDraft,
  futureProblems,
  limitOfText,
  repetitionProblems,
} from './budget-draft.ts';
import { createPlaces, MANAGE, mayView, placeOf, requireScope } from './budget-scope.ts';
import type { BudgetLedger, BudgetListing } from './budget-store.ts';
import { type BudgetView, currentPeriod, viewBudgets, viewNew } from './budget-view.ts';
import { prepareBudget } from './new-budget.ts';

export type BudgetFilter = Pick<BudgetListing, 'scopeKind' | 'scopeId' | 'includeArchived'>;

type Deps = CommitDeps & { readonly ledger: BudgetLedger; readonly cursors: CursorCodec };

export type Budgets = ReturnType<typeof createBudgets>;

/** Read at once while a page is filled with those that the caller may see. */
const READ_TOGETHER = 200;

export function createBudgets(deps: Deps) {
  return {
    /** Those of the scopes where the caller may see budgets, newest first. Throws invalid_cursor. */
    list: (call: ManagementCall, filter: BudgetFilter, request: CursorPageRequest) =>
      listBudgets(deps, call, { filter, request }),
    /** Throws insufficient_permissions unless the caller may manage budgets somewhere. */
    admitCreation: (call: ManagementCall) => requireSomewhere(deps.store, call, MANAGE),
    /** Throws insufficient_permissions, team_not_found, project_not_found, validation_error, budget_limit_reached. */
    create: (call: IdempotentCall<BudgetView>, draft: BudgetDraft) => createBudget(deps, call, draft),
    /** Throws budget_not_found. */
    get: async (call: ManagementCall, id: string) => viewOne(deps, call, await findBudget(deps, call, id)),
    /** Throws budget_not_found and insufficient_permissions. */
    admit: async (call: ManagementCall, id: string) => void (await findManaged(deps, call, id)),
    /** Also throws budget_archived. */
    update: (call: ManagementCall, id: string, changes: BudgetChanges) => updateBudget(deps, { call, id, changes }),
    archive: (call: ManagementCall, id: string) => archiveBudget(deps, call, id),
    /** Also throws budget_archived. */
    reset: (call: IdempotentCall<BudgetView>, reset: Reset) => resetBudget(deps, call, reset),
  };
}

/** Throws budget_not_found for a hidden one, too. */
async function findBudget(deps: Deps, call: ManagementCall, id: string): Promise<Budget> {
  return (await findPlaced(deps, call, id)).budget;
}

async function findManaged(deps: Deps, call: ManagementCall, id: string): Promise<Budget> {
  const { budget, place } = await findPlaced(deps, call, id);
  requirePermission(call, MANAGE, place);
  return budget;
}

async function findPlaced({ store }: Deps, { caller }: ManagementCall, id: string) {
  const organizationId = caller.organization.id;
  const budget = isPossibleId(id) ? await store.budget(organizationId, id) : null;
  const readPlaces = await createPlaces(store, organizationId);
  const places = await readPlaces(budget === null ? [] : [budget.scope]);
  const place = budget === null ? null : placeOf(budget.scope, places, organizationId);
  if (budget === null || place === null || !mayView(caller.principal, place)) {
    throw new Fault('budget_not_found', 'Budget not found.');
  }
  return { budget, place };
}

type Listed = { readonly filter: BudgetFilter; readonly request: CursorPageRequest };

async function listBudgets(
  deps: Deps,
  call: ManagementCall,
  { filter, request }: Listed,
): Promise<CursorPage<BudgetView>> {
  const { store, cursors } = deps;
  const organizationId = call.caller.organization.id;
  const { scopeKind, scopeId, includeArchived } = filter;
  const filters = [bindFilter(scopeKind), bindFilter(scopeId), String(includeArchived)];
  const listing = { cursors, binding: ['budgets', organizationId, ...filters], positionOf: (budget: Budget) => budget };
  const { principal } = call.caller;
  let after: PagePosition | null = openCursor(listing, request.cursor);
  const wanted = limitOf(request) + 1;
  const readPlaces = await createPlaces(store, organizationId);
  const seen: Budget[] = [];
  while (seen.length < wanted) {
    const read = await store.budgets(organizationId, { ...filter, after, limit: READ_TOGETHER });
    const places = await readPlaces(read.map(({ scope }) => scope));
    seen.push(...read.filter(({ scope }) => mayView(principal, placeOf(scope, places, organizationId))));
    after = read.at(-1) ?? after;
    if (read.length < READ_TOGETHER) break;
  }
  const { items, nextCursor } = toCursorPage(seen.slice(0, wanted), limitOf(request), listing);
  return { items: await viewAll(deps, call, items), nextCursor };
}

async function viewOne(deps: Deps, call: ManagementCall, budget: Budget): Promise<BudgetView> {
  const [view] = await viewAll(deps, call, [budget]);
  if (view === undefined) throw new Error('a budget has no view');
  return view;
}

function viewAll({ ledger }: Deps, { caller, nowMs }: ManagementCall, budgets: readonly Budget[]) {
  return viewBudgets({ ledger, organizationNumber: caller.organization.number, nowMs }, budgets);
}

function createBudget(deps: Deps, call: IdempotentCall<BudgetView>, draft: BudgetDraft): Promise<BudgetView> {
  const { store } = deps;
  const { nowMs } = call;
  const organizationId = call.caller.organization.id;
  return commitIdempotently(deps, call, {
    async checkCaller() {
      const fresh = await refreshRights(store, call);
      const { kind, id } = draft.scope;
      const readPlaces = await createPlaces(store, organizationId);
      return requireScope(fresh, draft.scope, await readPlaces(id === null ? [] : [{ kind, id }]));
    },
    async attempt(scope) {
      refuseProblems(futureProblems(draft, nowMs));
      const { view, audited } = await prepareBudget(deps, { organizationId, scope, draft, nowMs });
      return { result: view, change: { budgets: [view.budget] }, audited };
    },
  });
}

type Update = { readonly call: ManagementCall; readonly id: string; readonly changes: BudgetChanges };

async function updateBudget(deps: Deps, { call, id, changes }: Update): Promise<BudgetView> {
  const budget = await commitAudited(deps, call, async () => {
    const current = await findManaged(deps, await refreshRights(deps.store, call), id);
    refuseProblems(repetitionProblems(changes, current));
    refuseArchived(current);
    const { limitUsd, repeated: _, ...rest } = changes;
    const wanted = { ...rest, ...(limitUsd === undefined ? {} : { limitNanoUsd: limitOfText(limitUsd) }) };
    const changed: Budget = { ...current, ...wanted, updatedAtMs: call.nowMs };
    const fields = changedFields(FIELDS, current, changed);
    if (fields.length === 0) return { result: current, change: null };
    const audited = { action: 'budget.update', targetId: id, fields };
    return { result: changed, change: { budgets: [changed] }, audited };
  });
  return await viewOne(deps, call, budget);
}

const FIELDS = { name: 'name', limit_usd: 'limitNanoUsd', on_breach: 'onBreach', reserve: 'reserve' } as const;

async function archiveBudget(deps: Deps, call: ManagementCall, id: string): Promise<BudgetView> {
  const budget = await commitAudited(deps, call, async () => {
    const current = await findManaged(deps, await refreshRights(deps.store, call), id);
    if (current.archivedAtMs !== null) return { result: current, change: null };
    const archived: Budget = { ...current, archivedAtMs: call.nowMs, updatedAtMs: call.nowMs };
    const audited = { action: 'budget.archive', targetId: id };
    return { result: archived, change: { budgets: [archived] }, audited };
  });
  return await viewOne(deps, call, budget);
}

type Reset = { readonly id: string; readonly reason: string | null };

function resetBudget(deps: Deps, call: IdempotentCall<BudgetView>, { id, reason }: Reset): Promise<BudgetView> {
  const { nowMs } = call;
  return commitIdempotently(deps, call, {
    checkCaller: async () => await findManaged(deps, await refreshRights(deps.store, call), id),
    attempt(current) {
      refuseArchived(current);
      // Later than the boundary before, so that the period is another one.
      const resetAtMs = Math.max(nowMs, currentPeriod(current, nowMs).startedAtMs + 1);
      const reset: Budget = { ...current, resetAtMs, resetReason: reason, updatedAtMs: nowMs };
      const audited = { action: 'budget.reset', targetId: id };
      return { result: viewNew(reset, nowMs), change: { budgets: [reset] }, audited };
    },
  });
}

function refuseArchived({ archivedAtMs }: Budget): void {
  if (archivedAtMs !== null) throw new Fault('budget_archived', 'The budget is archived.');
}
