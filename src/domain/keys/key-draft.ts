/** An API key as requested, and all problems of it that can be found without the store. */

import { REASONS_MAX, type Reason } from '../fault.ts';
import type { ApiKeyRecord } from '../management/management.ts';
import { customReason, lengthReason, typeReason } from '../reasons.ts';
import { hasMoreCharactersThan } from '../text-limits.ts';
import { isOrganizationOnly, isPermission } from './permission-catalogue.ts';
import { permissionReason } from './permission-list.ts';
import type { Role, ScopeType } from './permissions.ts';

type KeyType = ApiKeyRecord['keyType'];
export type PermissionMode = ApiKeyRecord['permissionMode'];

/** A grant as sent; null: not sent. */
export type BindingDraft = {
  readonly role: Role | null;
  readonly scopeType: ScopeType | null;
  readonly scopeId: string;
};

/** A key as sent. Undefined: not sent; null: sent as null. */
export type KeyDraft = {
  readonly keyType?: KeyType | null | undefined;
  readonly name?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly bindings?: readonly BindingDraft[] | undefined;
  readonly permissionMode?: PermissionMode | null | undefined;
  readonly permissions?: readonly string[] | undefined;
  readonly projectIds?: readonly string[] | undefined;
  readonly assignedToUserId?: string | null | undefined;
  readonly expiresAtMs?: number | null | undefined;
};

const NAME_CHARACTERS_MAX = 100;
const DESCRIPTION_CHARACTERS_MAX = 500;
const SCOPE_ID_CHARACTERS_MAX = 200;
const BINDINGS_MAX = 20;
const PROJECTS_MAX = 50;
/** Later instants have no four-digit year. */
const EXPIRES_AT_MAX_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** An empty list of grants counts as not sent, so that the defaults apply. */
export function withoutEmptyGrants(draft: KeyDraft): KeyDraft {
  return draft.bindings?.length === 0 ? { ...draft, bindings: undefined } : draft;
}

/** All problems of a key to create. `nowMs` is null for a repeated request: what it names may be past by now. */
export function creationProblems(draft: KeyDraft, nowMs: number | null): readonly Reason[] {
  const found: Reason[] = [];
  if (draft.name === undefined) found.push(typeReason('name', 'string', 'undefined'));
  found.push(...sizeProblems(draft), ...fieldProblems(draft));
  const { expiresAtMs } = draft;
  if (typeof expiresAtMs === 'number' && nowMs !== null && expiresAtMs <= nowMs) found.push(expiryReason());
  found.push(...(draft.keyType === 'service' ? serviceProblems(draft) : personalProblems(draft)));
  const bindings = draft.bindings ?? [];
  found.push(
    ...grantProblems({ permissionMode: draft.permissionMode ?? 'all', bindings, permissions: draft.permissions ?? [] }),
  );
  return found;
}

/** Lists that are too long. */
export function sizeProblems({ bindings = [], projectIds = [] }: KeyDraft): readonly Reason[] {
  return [
    ...(bindings.length > BINDINGS_MAX ? [lengthReason('bindings', `at most ${BINDINGS_MAX} items`)] : []),
    ...(projectIds.length > PROJECTS_MAX ? [lengthReason('projectIds', `at most ${PROJECTS_MAX} items`)] : []),
  ];
}

/** Problems of single fields, independent of the rest of the key. */
export function fieldProblems(draft: KeyDraft): readonly Reason[] {
  const found: Reason[] = [];
  for (const field of ['keyType', 'name', 'permissionMode'] as const) {
    if (draft[field] === null) found.push(typeReason(field, 'string', 'null'));
  }
  checkText('name', draft.name, found);
  if (typeof draft.name === 'string') checkName(draft.name, found);
  checkText('description', draft.description, found);
  if (hasMoreCharactersThan(draft.description ?? '', DESCRIPTION_CHARACTERS_MAX)) {
    found.push(lengthReason('description', `at most ${DESCRIPTION_CHARACTERS_MAX} characters`));
  }
  checkText('assignedToUserId', draft.assignedToUserId, found);
  checkBindings(draft.bindings ?? [], found);
  checkPermissions(draft.permissions ?? [], found);
  checkProjectIds(draft.projectIds ?? [], found);
  if ((draft.expiresAtMs ?? 0) > EXPIRES_AT_MAX_MS) {
    found.push({ field: 'expiresAt', type: 'too_big', message: 'expiresAt must be within the year 9999' });
  }
  return found;
}

type GrantDraft = {
  readonly permissionMode: PermissionMode;
  readonly bindings: readonly BindingDraft[];
  readonly permissions: readonly string[];
};

/** Problems between mode, grants and permissions: restricted keys need all three. */
export function grantProblems({ permissionMode, bindings, permissions }: GrantDraft): readonly Reason[] {
  // A grant without role or scope is refused elsewhere, so combinations cannot be checked.
  if (bindings.some(({ role, scopeType }) => role === null || scopeType === null)) return [];
  const customBindings = bindings.filter(({ role }) => role === 'CUSTOM');
  const conditions = [
    {
      field: 'permissionMode',
      applies: permissionMode === 'restricted',
      message: 'permissionMode must be restricted when permissions or a CUSTOM binding are given',
    },
    {
      field: 'bindings',
      applies: customBindings.length > 0,
      message: 'bindings must hold a CUSTOM one when the key is restricted to permissions',
    },
    {
      field: 'permissions',
      applies: permissions.length > 0,
      message: 'permissions must not be empty when the key is restricted or has a CUSTOM binding',
    },
  ];
  const isRestricted = conditions.some(({ applies }) => applies);
  const found = conditions
    .filter(({ applies }) => isRestricted && !applies)
    .map(({ field, message }) => customReason(field, message));
  if (permissions.some(isOrganizationOnly) && !customBindings.some(({ scopeType }) => scopeType === 'ORGANIZATION')) {
    const message = 'permissions hold one that only a CUSTOM binding at ORGANIZATION can grant';
    found.push(customReason('permissions', message));
  }
  return found;
}

/** The reason for an expiry in the past. */
export function expiryReason(): Reason {
  return { field: 'expiresAt', type: 'too_small', message: 'expiresAt must be later than now' };
}

/** The reason for projects of a personal key. */
export function personalProjectsReason(): Reason {
  return customReason('projectIds', 'projectIds can only be set on service keys');
}

/** The reason for an empty list of grants on a personal key. */
export function noBindingsReason(): Reason {
  return lengthReason('bindings', `1 to ${BINDINGS_MAX} items`);
}

function personalProblems({ projectIds = [] }: KeyDraft): readonly Reason[] {
  return projectIds.length > 0 ? [personalProjectsReason()] : [];
}

function serviceProblems({ bindings = [], projectIds, assignedToUserId }: KeyDraft): readonly Reason[] {
  const found: Reason[] = [];
  if (typeof assignedToUserId === 'string') {
    found.push(customReason('assignedToUserId', 'assignedToUserId can only be set on personal keys'));
  }
  // An empty list of projects must never mean all projects.
  if (projectIds?.length === 0 && bindings.length === 0) {
    found.push(customReason('projectIds', 'projectIds must not be empty when there are no bindings'));
  }
  return found;
}

function checkName(name: string, found: Reason[]): void {
  if (name.trim() === '' || hasMoreCharactersThan(name, NAME_CHARACTERS_MAX)) {
    found.push(lengthReason('name', `1 to ${NAME_CHARACTERS_MAX} characters that are not all blank`));
  }
}

function checkBindings(bindings: readonly BindingDraft[], found: Reason[]): void {
  for (const [index, { role, scopeType, scopeId }] of bindings.entries()) {
    if (found.length >= REASONS_MAX) return;
    if (role === null) found.push(typeReason(`bindings.${index}.role`, 'string', 'undefined'));
    if (scopeType === null) found.push(typeReason(`bindings.${index}.scopeType`, 'string', 'undefined'));
    checkScopeId(`bindings.${index}.scopeId`, scopeId, found);
  }
}

function checkPermissions(permissions: readonly string[], found: Reason[]): void {
  for (const [index, permission] of permissions.entries()) {
    if (found.length >= REASONS_MAX) return;
    if (!isPermission(permission)) found.push(permissionReason(`permissions.${index}`, permission));
  }
}

function checkProjectIds(projectIds: readonly string[], found: Reason[]): void {
  for (const [index, id] of projectIds.entries()) {
    if (found.length >= REASONS_MAX) return;
    checkScopeId(`projectIds.${index}`, id, found);
  }
}

function checkScopeId(field: string, id: string, found: Reason[]): void {
  checkText(field, id, found);
  if (id === '' || hasMoreCharactersThan(id, SCOPE_ID_CHARACTERS_MAX)) {
    found.push(lengthReason(field, `1 to ${SCOPE_ID_CHARACTERS_MAX} characters`));
  }
}

/** PostgreSQL cannot store U+0000. */
function checkText(field: string, text: string | null | undefined, found: Reason[]): void {
  if (!text?.includes('\0')) return;
  found.push({ field, type: 'invalid_format', message: `${field} must not contain the character U+0000` });
}
