import { getRouteApi, Link } from '@tanstack/react-router';
import { BudgetScopeKind } from '../../../gen/spandrel/v1/budgets_pb.js';
import { buttonClass } from '../design/button.tsx';
import { Chip, Chips } from '../design/chip.tsx';
import { Check, Select } from '../design/form.tsx';
import page from '../design/page.module.css';
import { Page } from '../design/page.tsx';
import type { ChangeOf } from '../layout/search.ts';
import { useSession } from '../session/session.tsx';
import { SCOPES, scopeKindOf } from './budget-enums.ts';
import { BudgetList } from './budget-list.tsx';

const route = getRouteApi('/-/budgets');

const KINDS = [['', 'All scopes'], ...SCOPES.map(([, name, label]) => [name, label] as const)] as const;

export default function BudgetListPage() {
  const { may } = useSession();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { scope, of, archived = false } = search;
  const change = (part: ChangeOf<typeof search>) =>
    void navigate({ search: (now) => ({ ...now, ...part }) as typeof search, replace: true });
  const scopeKind = scopeKindOf(scope) ?? BudgetScopeKind.UNSPECIFIED;
  const isFiltered = scope !== undefined || of !== undefined;
  return (
    <Page
      title="Budgets"
      sub="Limits on model spend per period."
      actions={
        <div className={page.row}>
          <Check checked={archived} onChange={(isOn) => change({ archived: isOn || undefined })}>
            Also archived
          </Check>
          <Select
            aria-label="Scope"
            value={scope ?? ''}
            options={KINDS}
            onChange={(chosen) => change({ scope: chosen || undefined })}
          />
          {may('gatewayBudgets:manage') && (
            <Link
              to="/-/budgets/new"
              search={{ ...(scope && { scope }), ...(of && { of }) }}
              className={buttonClass('primary')}
            >
              New budget
            </Link>
          )}
        </div>
      }
    >
      {of !== undefined && (
        <Chips>
          <Chip name="Scope" value={of} onRemove={() => change({ of: undefined })} />
        </Chips>
      )}
      <BudgetList
        input={{ scopeKind, includeArchived: archived, ...(of !== undefined && { scopeId: of }) }}
        empty={
          isFiltered
            ? 'No budget you can view has this scope.'
            : 'Create one for the organization, a team, a project, a virtual key, a member, or each end user of an application. It counts requests from then on.'
        }
      />
    </Page>
  );
}
