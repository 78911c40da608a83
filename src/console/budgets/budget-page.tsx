/** One budget: what is spent and left, its reset, its settings and its archiving. */

import { useQuery } from '@connectrpc/connect-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type Budget, BudgetScopeKind, BudgetService } from '../../../gen/spandrel/v1/budgets_pb.js';
import { CopyButton } from '../design/button.tsx';
import { ConfirmButton } from '../design/confirm.tsx';
import { type Fact, Facts } from '../design/facts.tsx';
import { formatCost, nameControls } from '../design/format.ts';
import { DetailPage } from '../design/frame.tsx';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { Back } from '../design/page.tsx';
import { useChange } from '../session/refresh.ts';
import { useSession } from '../session/session.tsx';
import { amountsOf } from './amounts.ts';
import { BREACHES, labelIn, RESERVES, SCOPES, WINDOWS } from './budget-enums.ts';
import { BudgetForm } from './budget-form.tsx';
import { BudgetMeter, BudgetState, Left, Resets } from './budget-list.tsx';
import { useScopeLabel } from './scope-label.ts';

const route = getRouteApi('/-/budgets/$budgetId');
/** Requests in flight change what is reserved all the time. */
const POLL_INTERVAL_MS = 5_000;

export default function BudgetPage() {
  const { budgetId } = route.useParams();
  const { may } = useSession();
  const scopeLabel = useScopeLabel();
  const found = useQuery(BudgetService.method.getBudget, { id: budgetId }, { refetchInterval: POLL_INTERVAL_MS });
  return (
    <DetailPage
      back={<Back to="/-/budgets" label="Budgets" />}
      found={found}
      item={found.data?.budget}
      show={(budget) => {
        const mayChange = may('gatewayBudgets:manage') && !budget.archivedAt;
        return {
          title: nameControls(budget.name ?? ''),
          sub: <>Applies to {scopeLabel(budget.scope)}.</>,
          actions: (
            <div className={page.row}>
              <BudgetState budget={budget} />
              <CopyButton text={budget.id}>Copy id</CopyButton>
              {mayChange && <Actions budget={budget} />}
            </div>
          ),
          children: (
            <>
              <Period budget={budget} />
              <About budget={budget} mayChange={mayChange} />
              {mayChange && <Change key={budget.id} budget={budget} />}
            </>
          ),
        };
      }}
    />
  );
}

type BudgetProps = { readonly budget: Budget };

function Actions({ budget: { id, name = '' } }: BudgetProps) {
  return (
    <>
      <ConfirmButton
        label="Reset"
        title={`Reset ${nameControls(name)}`}
        action="Begin a new period"
        typed={null}
        reasonHint="It is kept with the budget."
        method={BudgetService.method.resetBudget}
        input={(reason) => ({ id, ...(reason && { reason }) })}
      >
        A new period begins now, of which nothing is spent. What was spent belongs to the period before, and the window
        still ends when it would have.
      </ConfirmButton>
      <ConfirmButton
        label="Archive"
        variant="danger"
        title={`Archive ${nameControls(name)}`}
        action="Archive permanently"
        typed="archive"
        method={BudgetService.method.archiveBudget}
        input={{ id }}
      >
        It stops counting and refusing requests. This cannot be undone.
      </ConfirmButton>
    </>
  );
}

function Period({ budget }: BudgetProps) {
  const amounts = amountsOf(budget);
  const exact = (usd: string) => <span title={`$${usd}`}>{formatCost(Number(usd))}</span>;
  const facts: readonly Fact[] = [
    ['Left', amounts.room !== null && <Left key="left" room={amounts.room} />],
    ['Spent', exact(amounts.spent)],
    ['Reserved', exact(amounts.reserved)],
    ['Limit', exact(amounts.limit)],
    ['Period began', <Instant key="began" at={budget.periodStartedAt} />],
    ['Resets', <Resets key="resets" budget={budget} />],
  ];
  return (
    <section className={`${page.card} ${page.padded}`}>
      <h2>This period</h2>
      <Facts facts={facts} />
      {amounts.room !== null && <BudgetMeter room={amounts.room} />}
      {amounts.room === null && (
        <p className={page.soft}>
          Each end user has the whole limit; what is spent and reserved here is that of all of them together.
        </p>
      )}
    </section>
  );
}

/** Leaves out what the form shows. */
function About({ budget, mayChange }: BudgetProps & { readonly mayChange: boolean }) {
  const { kind, id } = budget.scope ?? {};
  const scope = SCOPES.find(([each]) => each === kind)?.[1];
  const facts: readonly Fact[] = [
    ['Period', labelIn(WINDOWS, budget.window)],
    ['When the limit is reached', !mayChange && labelIn(BREACHES, budget.onBreach)],
    ['Reserve for each running request', !mayChange && labelIn(RESERVES, budget.reserve)],
    ['Model provider', budget.providerId !== undefined && nameControls(budget.providerId)],
    ['Last reset', budget.lastResetAt !== undefined && <Instant key="reset" at={budget.lastResetAt} />],
    ['Reason', budget.lastResetReason !== undefined && nameControls(budget.lastResetReason)],
    ['Archived', budget.archivedAt !== undefined && <Instant key="archived" at={budget.archivedAt} />],
    ['Created', <Instant key="created" at={budget.createdAt} />],
  ];
  return (
    <div className={`${page.card} ${page.padded}`}>
      <Facts facts={facts} />
      <div className={page.row}>
        {kind === BudgetScopeKind.VIRTUAL_KEY && id !== undefined && (
          <Link to="/-/virtual-keys/$keyId" params={{ keyId: id }} search={{}}>
            The virtual key
          </Link>
        )}
        {scope !== undefined && id !== undefined && (
          <Link to="/-/budgets" search={{ scope, of: id }}>
            All budgets of this scope
          </Link>
        )}
      </div>
    </div>
  );
}

const FIELDS = ['name', 'limit_usd', 'on_breach', 'reserve'];

function Change({ budget }: BudgetProps) {
  const update = useChange(BudgetService.method.updateBudget);
  return (
    <BudgetForm
      start={{
        ...{ name: budget.name ?? '', limitUsd: budget.limitUsd ?? '', providerId: '', anchor: '' },
        ...{ scopeKind: budget.scope?.kind ?? BudgetScopeKind.ORGANIZATION, scopeId: budget.scope?.id ?? '' },
        ...{ window: budget.window, onBreach: budget.onBreach, reserve: budget.reserve },
      }}
      isNew={false}
      action="Save"
      call={update}
      outcome={update.isSuccess && 'Saved.'}
      onSubmit={({ name, limitUsd, onBreach, reserve }) =>
        update.mutate({
          id: budget.id,
          budget: { name, limitUsd, onBreach, reserve },
          updateMask: { paths: FIELDS },
        })
      }
    />
  );
}
