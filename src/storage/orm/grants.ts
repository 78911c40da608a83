/** Grants between the rows and what the domain knows. */

import type { Binding } from '../../domain/permissions.ts';
import { preparePermissionLists } from '../rows/permission-lists.ts';

export type GrantRow = {
  readonly id: string;
  // Only words of the domain are ever stored here.
  readonly role: Binding['role'];
  readonly scopeType: Binding['scopeType'];
  readonly scopeId: string;
  readonly permissionsJson: string;
};

export type Grant = Readonly<Binding> & { readonly id: string };

const readPermissions = preparePermissionLists();

export function toGrant({ id, role, scopeType, scopeId, permissionsJson }: GrantRow): Grant {
  return { id, role, scopeType, scopeId, permissions: readPermissions(permissionsJson) };
}

export function toGrantRow({ id, role, scopeType, scopeId, permissions }: Grant): GrantRow {
  return { id, role, scopeType, scopeId, permissionsJson: JSON.stringify(permissions) };
}
