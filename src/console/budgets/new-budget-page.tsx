/** Creates a budget; the address says of what, where a link does. */

import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { getRouteApi } from '@tanstack/react-router';
import { BudgetReserve, BudgetScopeKind, BudgetService } from '../../../gen/spandrel/v1/budgets_pb.js';
import { BudgetOnBreach, BudgetWindow } from '../../../gen/spandrel/v1/gateway_pb.js';
import { Back, Page } from '../design/page.tsx';
import { useChange } from '../session/refresh.ts';
import { scopeKindOf } from './budget-enums.ts';
import { BudgetForm } from './budget-form.tsx';

const route = getRouteApi('/-/budgets/new');

export default function NewBudgetPage() {
  const { scope, of = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const create = useChange(BudgetService.method.createBudget, async ({ budget }) => {
    if (!budget) return;
    await navigate({ to: '/-/budgets/$budgetId', params: { budgetId: budget.id }, search: {} });
  });
  return (
    <Page
      back={<Back to="/-/budgets" label="Budgets" />}
      title="New budget"
      sub="It counts requests that finish from now on."
    >
      <BudgetForm
        key={`${scope} ${of}`}
        start={{
          ...{ name: '', limitUsd: '', providerId: '', anchor: '', scopeId: of },
          scopeKind: scopeKindOf(scope) ?? BudgetScopeKind.ORGANIZATION,
          window: BudgetWindow.MONTH,
          onBreach: BudgetOnBreach.BLOCK,
          reserve: BudgetReserve.EXPECTED,
        }}
        isNew
        action="Create the budget"
        call={create}
        onSubmit={({ scopeKind, scopeId, providerId, anchor, ...draft }) =>
          create.mutate({
            ...draft,
            scope: { kind: scopeKind, ...(scopeId !== '' && { id: scopeId }) },
            ...(providerId !== '' && { providerId }),
            ...(anchor !== '' && { cycleAnchorAt: timestampFromDate(new Date(anchor)) }),
          })
        }
      />
    </Page>
  );
}
