/** The names of scopes, members and virtual keys. */

import { useQuery } from '@connectrpc/connect-query';
import { ApiKeyScope, ApiKeyService, Role, ScopeType } from '../../../gen/spandrel/v1/keys_pb.js';
import { MemberService, OrganizationService, TeamService } from '../../../gen/spandrel/v1/organization_pb.js';
import { type VirtualKey, VirtualKeyService } from '../../../gen/spandrel/v1/virtual_keys_pb.js';
import { nameControls } from '../design/format.ts';
import { useSession } from '../session/session.tsx';

export type Scope = { readonly type: ScopeType; readonly id: string; readonly label: string };

const TEAMS_MAX = 1_000;
const MEMBERS_MAX = 200;
const KEYS_LISTED = 200;

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

/** Loads one page, if the key may; members beyond it are shown by id. */
export function useMembers() {
  const { may } = useSession();
  const enabled = may('organization:manage');
  return useQuery(MemberService.method.listMembers, { pageSize: MEMBERS_MAX, pageToken: '' }, { enabled });
}

/** Names a member; those that the key may not list by their id. */
export function useMemberName(): (userId: string) => string {
  const members = useMembers().data?.data ?? [];
  return (id) => {
    const member = members.find(({ userId }) => userId === id);
    return nameControls(member?.name || member?.email || id);
  };
}

/** Names a key, also a revoked one; those beyond the newest page, or that the caller may not list, by their id. */
export function useKeyName(): (keyId: string) => string {
  const { may } = useSession();
  const input = { scope: ApiKeyScope.ORGANIZATION, includeRevoked: true, pageSize: KEYS_LISTED, pageToken: '' };
  const { data } = useQuery(ApiKeyService.method.listApiKeys, input, { enabled: may('organization:view') });
  return (id) => nameControls(data?.data.find((key) => key.id === id)?.name || id);
}

/** Those of the newest page, if the caller may view them; others, also of other gateways, are shown by their id. */
export function useVirtualKeys(enabled = true): readonly VirtualKey[] {
  const { may } = useSession();
  const input = { pageSize: KEYS_LISTED, pageToken: '' };
  const isEnabled = enabled && may('virtualKeys:view');
  return useQuery(VirtualKeyService.method.listVirtualKeys, input, { enabled: isEnabled }).data?.data ?? [];
}
