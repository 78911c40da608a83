import { PERMISSIONS } from '../../../src/domain/keys/permission-catalogue.ts';
import { may, type Principal, principalAt, type Scope } from '../../../src/domain/keys/permissions.ts';

/** Everything the principal holds at the scope, expanded. */
export function permissionsAt(principal: Principal, scope: Scope): ReadonlySet<string> {
  const local = principalAt(principal, scope);
  return new Set(PERMISSIONS.filter((permission) => may(local, permission, scope)));
}
