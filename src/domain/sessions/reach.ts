/** What a credential reaches: where a browser that is signed in may go. */

import type { Caller } from '../caller.ts';
import { permissionsAt, representativeScopes } from '../keys/key-view.ts';
import { isOrganizationOnly } from '../keys/permission-catalogue.ts';
import { holdsAnything, may, projectScope } from '../keys/permissions.ts';
import type { Actor } from '../management/audit.ts';
import { readDirectory } from '../management/directory.ts';
import type { ManagementStore, ProjectRecord } from '../management/management.ts';
import type { SessionRecord } from './session.ts';

/** A caller with a key of any kind, or with a session. */
export type SignedIn = Exclude<Caller, { kind: 'open' }>;
export type SessionCall = { readonly caller: SignedIn; readonly actor: Actor; readonly nowMs: number };

export type Reach = {
  /** Null for a key in a header. */
  readonly session: SessionRecord | null;
  readonly apiKeyId: string | null;
  /** Null where the caller may not see it. */
  readonly organizationName: string | null;
  readonly projects: readonly Pick<ProjectRecord, 'id' | 'name' | 'slug'>[];
  readonly effectivePermissions: readonly string[];
};

const PROJECTS_MAX = 1_000;

export async function readReach(store: ManagementStore, { caller }: SessionCall): Promise<Reach> {
  const organizationId = caller.organization.id;
  const session = caller.session === undefined ? null : await store.session(organizationId, caller.session.id);
  const { principal } = caller;
  if (caller.kind === 'project_key') {
    const project = await store.project(organizationId, caller.project.id);
    const held = permissionsAt(principal, [projectScope(caller.project)]);
    // It passes every check in its project, but what concerns the organization is never asked there.
    const effectivePermissions = held.filter((permission) => !isOrganizationOnly(permission));
    const projects = project === null ? [] : [project];
    return { session, apiKeyId: null, organizationName: null, projects, effectivePermissions };
  }
  const { id: apiKeyId, bindings, ownerBindings } = caller.key;
  const [organization, projects, directory] = await Promise.all([
    store.organization(organizationId),
    store.projects(organizationId),
    readDirectory(store, organizationId),
  ]);
  const scopes = representativeScopes(organizationId, [...bindings, ...ownerBindings], directory);
  const seesOrganization = may(principal, 'organization:view', { type: 'ORGANIZATION', organizationId });
  return {
    session,
    apiKeyId,
    organizationName: seesOrganization ? (organization?.name ?? null) : null,
    projects: projects.filter((project) => holdsAnything(principal, projectScope(project))).slice(0, PROJECTS_MAX),
    effectivePermissions: permissionsAt(principal, scopes),
  };
}
