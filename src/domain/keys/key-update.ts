/** What becomes of an API key when a change of it is merged into what is stored. */

import type { RandomBytes } from '../clock.ts';
import type { Reason } from '../fault.ts';
import { newId } from '../ids.ts';
import type { ApiKeyRecord } from '../management/management.ts';
import { customReason, refuseProblems } from '../reasons.ts';
import {
  type BindingDraft,
  expiryReason,
  grantProblems,
  type KeyDraft,
  noBindingsReason,
  personalProjectsReason,
  sizeProblems,
} from './key-draft.ts';
import { adminAtProjects, listedPermissions, toGrants } from './key-grants.ts';
import { isAdminAtProject, projectIdsOf } from './key-view.ts';
import type { Grants } from './permissions.ts';

type KeyChange = {
  /** The key as it is to be stored; the stored one itself when nothing changes. */
  readonly key: ApiKeyRecord;
  /** What changes, by the names of the interface. */
  readonly fields: readonly string[];
  /** Whether the key is to hold something else than before. */
  readonly changesGrants: boolean;
};

type Content = Pick<ApiKeyRecord, 'name' | 'description' | 'permissionMode' | 'expiresAtMs'> & {
  readonly grants: Grants;
  /** What CUSTOM grants are to give, whether or not there is one. */
  readonly permissions: readonly string[];
};

/** Throws one validation_error with everything that keeps the change from being merged. */
export function mergeChange(
  stored: ApiKeyRecord,
  draft: KeyDraft,
  { nowMs, random }: { nowMs: number; random: RandomBytes },
): KeyChange {
  const content = mergeContent(stored, draft);
  refuseProblems(mergeProblems(stored, draft, { content, nowMs }));
  const fields = changedFields(stored, content);
  if (fields.length === 0) return { key: stored, fields, changesGrants: false };
  const { grants, permissions: _, ...scalars } = content;
  const key = { ...stored, ...scalars, bindings: withIds(stored.bindings, grants, random), updatedAtMs: nowMs };
  return { key, fields, changesGrants: grantSet(grants) !== grantSet(stored.bindings) };
}

function mergeContent(stored: ApiKeyRecord, draft: KeyDraft): Content {
  const { permissionMode: modeSent, permissions: listSent } = draft;
  const permissionMode = modeSent ?? stored.permissionMode;
  const bindings = mergeBindings(stored, draft);
  const emptied = typeof modeSent === 'string' && modeSent !== 'restricted';
  const permissions = listSent ?? (emptied ? [] : listedPermissions(stored.bindings));
  const touchesGrants = bindings !== null || listSent !== undefined || emptied;
  return {
    name: draft.name ?? stored.name,
    description: draft.description === undefined ? stored.description : draft.description,
    permissionMode,
    expiresAtMs: draft.expiresAtMs === undefined ? stored.expiresAtMs : draft.expiresAtMs,
    permissions,
    grants:
      touchesGrants && !repeatsGrants(stored.bindings, bindings ?? stored.bindings, permissions)
        ? toGrants(bindings ?? stored.bindings, permissions)
        : stored.bindings,
  };
}

/** Whether what is sent is what the key shows: CUSTOM grants that differ in permissions are shown with one list. */
function repeatsGrants(stored: Grants, bindings: readonly BindingDraft[], permissions: readonly string[]): boolean {
  const isSame = grantList(bindings) === grantList(stored);
  return isSame && String([...new Set(permissions)].toSorted()) === String(listedPermissions(stored));
}

/** Null: neither grants nor projects were sent. */
function mergeBindings(stored: ApiKeyRecord, { bindings, projectIds }: KeyDraft): KeyDraft['bindings'] | null {
  const projects = stored.keyType === 'service' ? projectIds : undefined;
  if (bindings !== undefined) return [...bindings, ...adminAtProjects(projects ?? [])];
  if (projects === undefined) return null;
  const wanted = new Set(projects);
  const kept = stored.bindings.filter((grant) => !isAdminAtProject(grant) || wanted.has(grant.scopeId));
  return [...kept, ...adminAtProjects(projects)];
}

type Merging = { readonly content: Content; readonly nowMs: number };

function mergeProblems(stored: ApiKeyRecord, draft: KeyDraft, { content, nowMs }: Merging): readonly Reason[] {
  const found: Reason[] = [...sizeProblems(withoutRepeated(stored, draft))];
  if (typeof draft.keyType === 'string' && draft.keyType !== stored.keyType) found.push(fixedReason('keyType'));
  if (typeof draft.assignedToUserId === 'string' && draft.assignedToUserId !== stored.userId) {
    found.push(fixedReason('assignedToUserId'));
  }
  const { expiresAtMs } = content;
  if (expiresAtMs !== null && expiresAtMs !== stored.expiresAtMs && expiresAtMs <= nowMs) found.push(expiryReason());
  const isPersonal = stored.keyType === 'personal';
  if (isPersonal && draft.projectIds !== undefined && draft.projectIds.length > 0) {
    found.push(personalProjectsReason());
  }
  if (content.grants.length === 0) found.push(...unboundProblems(draft, isPersonal));
  if (GRANT_FIELDS.some((field) => draft[field] !== undefined)) {
    const { permissionMode, grants, permissions } = content;
    found.push(...grantProblems({ permissionMode, bindings: grants, permissions }));
  }
  return found;
}

/** What is stored may be longer than what may be sent: projects and other grants of a service key add up in it. */
function withoutRepeated(stored: ApiKeyRecord, { bindings = [], projectIds = [] }: KeyDraft): KeyDraft {
  const repeatsBindings = grantList(bindings) === grantList(stored.bindings);
  const repeatsProjects = String(projectIds) === String(projectIdsOf(stored.keyType, stored.bindings));
  return { bindings: repeatsBindings ? [] : bindings, projectIds: repeatsProjects ? [] : projectIds };
}

const GRANT_FIELDS = ['bindings', 'permissionMode', 'permissions', 'projectIds'] as const;

/** An update never makes a key that holds nothing, and never one that holds everything because nothing was named. */
function unboundProblems({ bindings, projectIds }: KeyDraft, isPersonal: boolean): readonly Reason[] {
  if (isPersonal) return bindings === undefined ? [] : [noBindingsReason()];
  const message = (field: string) => `${field} must leave the key with a binding`;
  return [
    ...(bindings === undefined ? [] : [customReason('bindings', message('bindings'))]),
    ...(projectIds === undefined ? [] : [customReason('projectIds', message('projectIds'))]),
  ];
}

function fixedReason(field: string): Reason {
  return customReason(field, `${field} cannot be changed`);
}

function changedFields(stored: ApiKeyRecord, content: Content): readonly string[] {
  const { keyType, bindings } = stored;
  const { grants } = content;
  const differs = {
    name: content.name !== stored.name,
    description: (content.description ?? '') !== (stored.description ?? ''),
    bindings: grantList(grants) !== grantList(bindings),
    permissionMode: content.permissionMode !== stored.permissionMode,
    permissions: String(listedPermissions(grants)) !== String(listedPermissions(bindings)),
    projectIds: String(projectIdsOf(keyType, grants)) !== String(projectIdsOf(keyType, bindings)),
    expiresAt: content.expiresAtMs !== stored.expiresAtMs,
  };
  return Object.entries(differs).flatMap(([field, changes]) => (changes ? [field] : []));
}

/** Where and as what, in order, as the interface shows grants. */
function grantList(grants: readonly BindingDraft[]): string {
  return JSON.stringify(grants.map(grantName));
}

/** All grants, in any order. */
function grantSet(grants: Grants): string {
  const each = grants.map((grant) => [...grantName(grant), ...listedPermissions([grant])].join(' '));
  return JSON.stringify(each.toSorted());
}

function grantName({ role, scopeType, scopeId }: BindingDraft): readonly (string | null)[] {
  return [role, scopeType, scopeId];
}

/** A grant that stays keeps its id. */
function withIds(stored: ApiKeyRecord['bindings'], grants: Grants, random: RandomBytes): ApiKeyRecord['bindings'] {
  const ids = new Map(stored.map((grant) => [String(grantName(grant)), grant.id]));
  return grants.map((grant) => ({ ...grant, id: ids.get(String(grantName(grant))) ?? newId('rolebinding', random) }));
}
