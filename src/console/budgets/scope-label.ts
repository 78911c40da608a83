import { type Budget, BudgetScopeKind } from '../../../gen/spandrel/v1/budgets_pb.js';
import { nameControls } from '../design/format.ts';
import { useMembers, useScopes, useVirtualKeys } from '../organization/scopes.ts';

/** Names the scopes of budgets, as far as the caller may know them. */
export function useScopeLabel(): (scope: Budget['scope']) => string {
  const scopes = useScopes();
  const members = useMembers();
  const keys = useVirtualKeys();
  return (scope) => {
    const { kind = BudgetScopeKind.UNSPECIFIED, id = '' } = scope ?? {};
    const key = keys.find((each) => each.id === id);
    const keyName = `virtual key ${nameControls(key?.name ?? id)}`;
    const named = scopes.find((each) => each.id === id)?.label;
    if (kind === BudgetScopeKind.ORGANIZATION) return 'the whole organization';
    if (kind === BudgetScopeKind.ATTRIBUTED_USER) return `each end user of ${named ?? keyName}`;
    if (kind === BudgetScopeKind.VIRTUAL_KEY) return keyName;
    const member = members.find(({ userId }) => userId === id);
    if (kind === BudgetScopeKind.PRINCIPAL) return `member ${nameControls(member?.name || member?.email || id)}`;
    return named ?? nameControls(id);
  };
}
