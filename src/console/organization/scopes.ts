/** The names of scopes, members and virtual keys. */

import { useQuery } from '@connectrpc/connect-query';
import { useMemo } from 'react';
import { ApiKeyScope, ApiKeyService, Role, ScopeType } from '../../../gen/spandrel/v1/keys_pb.js';
import {
  type Member,
  MemberService,
  OrganizationService,
  RoleBindingService,
  TeamService,
} from '../../../gen/spandrel/v1/organization_pb.js';
import { type VirtualKey, VirtualKeyService } from '../../../gen/spandrel/v1/virtual_keys_pb.js';
import { nameControls } from '../design/format.ts';
import { useSession } from '../session/session.tsx';
import { useWholeList } from './use-whole-list.ts';

export type Scope = { readonly type: ScopeType; readonly id: string; readonly label: string };

const TEAMS_MAX = 1_000;
/** The most that the server gives at once. */
const PAGE_SIZE = 200;

export const ROLES: readonly (readonly [role: Role, label: string])[] = [
  [Role.VIEWER, 'Viewer: views data'],
  [Role.MEMBER, 'Member: works with data'],
  [Role.ADMIN, 'Administrator: everything there'],
  [Role.CUSTOM, 'Chosen permissions'],
];

export function roleLabel(role: Role): string {
  return ROLES.find(([each]) => each === role)?.[1].split(':')[0] ?? 'unknown';
}

export function useScopes(): readonly Scope[] {
  const { account } = useSession();
  const organization = useQuery(OrganizationService.method.getOrganization).data?.organization;
  const teams = useQuery(TeamService.method.listTeams, { pageSize: TEAMS_MAX }).data?.data ?? [];
  return [
    ...(organization ? [{ type: ScopeType.ORGANIZATION, id: organization.id, label: 'the whole organization' }] : []),
    ...teams.map(({ id, name }) => ({ type: ScopeType.TEAM, id, label: `team ${nameControls(name)}` })),
    ...account.projects.map(({ id, name }) => ({
      type: ScopeType.PROJECT,
      id,
      label: `project ${nameControls(name)}`,
    })),
  ];
}

/** Names a project; those that the key does not reach by their id. */
export function useProjectName(): (id: string) => string {
  const { account } = useSession();
  return (id) => nameControls(account.projects.find((project) => project.id === id)?.name ?? id);
}

/** All members, if the key may list them; none until they are read. */
export function useMembers(): readonly Member[] {
  const { may } = useSession();
  return useWholeList({
    method: MemberService.method.listMembers,
    input: { pageSize: PAGE_SIZE },
    toPage: (answer) => answer,
    enabled: may('organization:manage'),
  }).items;
}

/** Names a member; those that the key may not list by their id. */
export function useMemberName(): (userId: string) => string {
  const members = useMembers();
  const byId = useMemo(() => new Map(members.map((member) => [member.userId, member])), [members]);
  return (id) => {
    const member = byId.get(id);
    return nameControls(member?.name || member?.email || id);
  };
}

/** The grants of members at all teams, if the key may list them. */
export function useTeamGrants() {
  const { may } = useSession();
  return useWholeList({
    method: RoleBindingService.method.listRoleBindings,
    input: { scopeType: ScopeType.TEAM, pageSize: PAGE_SIZE },
    toPage: (answer) => answer,
    enabled: may('organization:manage'),
  });
}

/** Names a key, also a revoked one; those beyond the newest page, or that the caller may not list, by their id. */
export function useKeyName(): (keyId: string) => string {
  const { may } = useSession();
  const input = { scope: ApiKeyScope.ORGANIZATION, includeRevoked: true, pageSize: PAGE_SIZE, pageToken: '' };
  const { data } = useQuery(ApiKeyService.method.listApiKeys, input, { enabled: may('organization:view') });
  return (id) => nameControls(data?.data.find((key) => key.id === id)?.name || id);
}

/** Those of the newest page, if the caller may view them; others, also of other gateways, are shown by their id. */
export function useVirtualKeys(enabled = true): readonly VirtualKey[] {
  const { may } = useSession();
  const input = { pageSize: PAGE_SIZE, pageToken: '' };
  const isEnabled = enabled && may('virtualKeys:view');
  return useQuery(VirtualKeyService.method.listVirtualKeys, input, { enabled: isEnabled }).data?.data ?? [];
}
