/** The state of the model. Instants are epoch milliseconds. */

export type Role = 'ADMIN' | 'MEMBER' | 'VIEWER' | 'CUSTOM';
export type MemberRole = 'ADMIN' | 'MEMBER' | 'VIEWER' | 'EXTERNAL';
export type ScopeType = 'ORGANIZATION' | 'TEAM' | 'PROJECT';

/** `permissions` counts for CUSTOM only. */
export type Grant = {
  readonly role: Role;
  readonly scopeType: ScopeType;
  readonly scopeId: string;
  readonly permissions: readonly string[];
};

/** The current token, and the previous one during an overlap. Null: unknown to the tests. */
export type Secret = {
  current: string | null;
  previous: string | null;
  previousUntilMs: number;
};

export type Team = { readonly id: string; readonly name: string };

export type Project = {
  readonly id: string;
  name: string;
  teamId: string;
  language: string;
  framework: string;
  readonly createdAtMs: number;
  updatedAtMs: number;
  archived: boolean;
  readonly secret: Secret;
};

export type Member = {
  readonly userId: string;
  readonly email: string;
  name: string;
  role: MemberRole;
  disabledAtMs: number | null;
  readonly createdAtMs: number;
  updatedAtMs: number;
};

/** A grant of a member beside the role. */
export type RoleBinding = Grant & { readonly id: string; readonly userId: string };

export type KeyContent = {
  readonly permissionMode: 'all' | 'readonly' | 'restricted';
  readonly grants: readonly Grant[];
};

export type Key = KeyContent & {
  readonly id: string;
  readonly keyType: 'personal' | 'service';
  readonly name: string;
  readonly description: string | null;
  /** The owner; null for service keys. */
  readonly userId: string | null;
  readonly createdByUserId: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
  readonly secret: Secret;
};

/** A stored answer for replays of its request. */
export type Receipt = {
  readonly fingerprint: string;
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly completedAtMs: number;
};

export type Organization = {
  readonly id: string;
  name: string;
  /** Oldest first, like all collections here. */
  readonly teams: Map<string, Team>;
  readonly projects: Map<string, Project>;
  readonly members: Map<string, Member>;
  readonly roleBindings: Set<RoleBinding>;
  /** Members by id of their role's binding, read from lists. */
  readonly roleIds: Map<string, string>;
  readonly keys: Map<string, Key>;
  readonly receipts: Map<string, Receipt>;
  /** Project ids by id of the trace or evaluator in it. */
  readonly contents: Map<string, string>;
};

export type State = { readonly organizations: readonly Organization[]; nowMs: number };

export function createOrganization(id: string, name: string): Organization {
  return {
    id,
    name,
    teams: new Map(),
    projects: new Map(),
    members: new Map(),
    roleBindings: new Set(),
    roleIds: new Map(),
    keys: new Map(),
    receipts: new Map(),
    contents: new Map(),
  };
}

export function liveProjects({ projects }: Organization): readonly Project[] {
  return [...projects.values()].filter(({ archived }) => !archived);
}

/** The grants of a member beside the role. */
export function bindingsOf({ roleBindings }: Organization, userId: string): readonly RoleBinding[] {
  return [...roleBindings].filter((binding) => binding.userId === userId);
}

/** Null: no such member, or a disabled one. */
export function activeMember({ members }: Organization, userId: string | null): Member | null {
  const member = userId === null ? undefined : members.get(userId);
  return member === undefined || member.disabledAtMs !== null ? null : member;
}
