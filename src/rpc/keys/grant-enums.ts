/** Enum names of grants: enum values of the contract to and from those of the rules. */

import { Role as RoleNumber, ScopeType as ScopeTypeNumber } from '../../../gen/spandrel/v1/keys_pb.js';
import type { Role, ScopeType } from '../../domain/keys/permissions.ts';

export const roleNumbers: Readonly<Record<Role, RoleNumber>> = {
  ADMIN: RoleNumber.ADMIN,
  MEMBER: RoleNumber.MEMBER,
  VIEWER: RoleNumber.VIEWER,
  CUSTOM: RoleNumber.CUSTOM,
};

export const scopeTypeNumbers: Readonly<Record<ScopeType, ScopeTypeNumber>> = {
  ORGANIZATION: ScopeTypeNumber.ORGANIZATION,
  TEAM: ScopeTypeNumber.TEAM,
  PROJECT: ScopeTypeNumber.PROJECT,
};

/** Null for an unknown number. */
export function enumNameOf<W extends string>(numbers: Readonly<Record<W, number>>, number: number): W | null {
  return (Object.keys(numbers) as W[]).find((word) => numbers[word] === number) ?? null;
}
