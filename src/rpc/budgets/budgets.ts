/** BudgetService: message <-> domain values. */

import {
  BudgetReserve,
  BudgetSchema,
  type BudgetScope,
  BudgetScopeKind,
  type BudgetService,
  type CreateBudgetRequest,
  type UpdateBudgetRequest,
} from '../../../gen/spandrel/v1/budgets_pb.js';
import { BudgetOnBreach, BudgetWindow } from '../../../gen/spandrel/v1/gateway_pb.js';
import {
  type BudgetChanges,
  type BudgetDraft,
  changeProblems,
  draftProblems,
} from '../../domain/budgets/budget-draft.ts';
import type { BudgetView } from '../../domain/budgets/budget-view.ts';
import type { Budgets } from '../../domain/budgets/budgets.ts';
import { cursorRequest, pageMessage } from '../cursor-page.ts';
import { wordOf } from '../enums.ts';
import { msOfTimestamp } from '../epoch-ms.ts';
import { answerOnce, managementCallOf } from '../management-call.ts';
import { nulProblems, updateProblems } from '../management-problems.ts';
import type { Context, Implementation } from '../method.ts';
import { sentFields, sentValues } from '../update-mask.ts';
import { readBudget, toBudget } from './budget-message.ts';

type Named = { readonly id: string };

export function createBudgetRpc({ budgets }: { readonly budgets: Budgets }): Implementation<typeof BudgetService> {
  const admit = ({ id }: Named, context: Context) => budgets.admit(managementCallOf(context), id);
  return {
    listBudgets: {
      async handle(request, context) {
        const filter = {
          scopeKind: wordOf(BudgetScopeKind, request.scopeKind),
          scopeId: request.scopeId ?? null,
          includeArchived: request.includeArchived ?? false,
        };
        return pageMessage(await budgets.list(managementCallOf(context), filter, cursorRequest(request)), toBudget);
      },
    },
    createBudget: {
      precheck: (_request, context) => budgets.admitCreation(managementCallOf(context)),
      check: (request, input) => [...nulProblems(request, input), ...draftProblems(draftOf(request))],
      handle: (request, context) =>
        answerOnce(context, { run: (call) => budgets.create(call, draftOf(request)), show: answer }),
    },
    getBudget: {
      handle: async ({ id }, context) => ({ budget: toBudget(await budgets.get(managementCallOf(context), id)) }),
    },
    updateBudget: {
      precheck: admit,
      check: (request, input) => [
        // Null repeats that all providers count.
        ...updateProblems(request, input).filter(({ field }) => field !== 'provider_id'),
        ...changeProblems(changesOf(request)),
      ],
      async handle(request, context) {
        const call = managementCallOf(context);
        return { budget: toBudget(await budgets.update(call, request.id, changesOf(request))) };
      },
    },
    archiveBudget: {
      handle: async ({ id }, context) => ({ budget: toBudget(await budgets.archive(managementCallOf(context), id)) }),
    },
    resetBudget: {
      precheck: admit,
      check: nulProblems,
      handle: ({ id, reason = null }, context) =>
        answerOnce(context, { run: (call) => budgets.reset(call, { id, reason }), show: answer }),
    },
  };
}

function draftOf(request: CreateBudgetRequest): BudgetDraft {
  const { name = '', scope } = request;
  return {
    ...readBudget(request, name),
    scope: scope === undefined ? { kind: 'organization', id: null } : scopeOf(scope),
  };
}

function changesOf({ budget: resource, updateMask: mask }: UpdateBudgetRequest): BudgetChanges {
  const names = ['name', 'limitUsd', 'onBreach', 'reserve', 'window', 'cycleAnchorAt'] as const;
  const sent = sentValues(BudgetSchema, { resource, mask }, names);
  const { onBreach = 0, reserve = 0, window = 0, cycleAnchorAt, ...texts } = sent;
  const scope = sendsScope(mask) ? resource?.scope : undefined;
  const action = wordOf(BudgetOnBreach, onBreach);
  const estimate = wordOf(BudgetReserve, reserve);
  const length = wordOf(BudgetWindow, window);
  return {
    ...texts,
    ...(action === null ? {} : { onBreach: action }),
    ...(estimate === null ? {} : { reserve: estimate }),
    repeated: {
      ...(scope === undefined ? {} : { scope: scopeOf(scope) }),
      ...(length === null ? {} : { window: length }),
      ...(cycleAnchorAt === undefined ? {} : { cycleAnchorAtMs: msOfTimestamp(cycleAnchorAt) }),
      ...sentFields(BudgetSchema, { resource, mask }, ['providerId']),
    },
  };
}

/** Over REST the mask names the members of the scope. */
function sendsScope(mask: UpdateBudgetRequest['updateMask']): boolean {
  const paths = mask?.paths ?? [];
  return paths.length === 0 || paths.some((path) => path === 'scope' || path.startsWith('scope.'));
}

function scopeOf({ kind, id }: BudgetScope) {
  return { kind: wordOf(BudgetScopeKind, kind) ?? 'organization', id: id ?? null };
}

const answer = (view: BudgetView) => ({ budget: toBudget(view) });
