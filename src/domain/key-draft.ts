/** What somebody wants an API key to be, and every problem of it that needs no look at what is stored. */

import { REASONS_MAX, type Reason } from './fault.ts';
import type { ApiKeyRecord } from './management.ts';
import { isOrganizationOnly, isPermission } from './permission-catalogue.ts';
import { permissionReason } from './permission-list.ts';
import type { Role, ScopeType } from './permissions.ts';
import { countCodePoints, lengthReason, typeReason } from './reasons.ts';

export type KeyType = ApiKeyRecord['keyType'];
export type PermissionMode = ApiKeyRecord['permissionMode'];

/** A grant as sent; null: none was given there. */
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

/** A list of no grants asks for none, and so for what stands in for them. */
export function withoutEmptyGrants(draft: KeyDraft): KeyDraft {
  return draft.bindings?.length === 0 ? { ...draft, bindings: undefined } : draft;
}

/** Every problem of a key that is to be created. */
export function creationProblems(draft: KeyDraft, nowMs: number): readonly Reason[] {
  const found: Reason[] = [];
  if (draft.name === undefined) found.push(typeReason('name', 'string', 'undefined'));
  found.push(...sizeProblems(draft), ...fieldProblems(draft));
  const { expiresAtMs } = draft;
  if (typeof expiresAtMs === 'number' && expiresAtMs <= nowMs) found.push(expiryReason());
  found.push(...(draft.keyType === 'service' ? serviceProblems(draft) : personalProblems(draft)));
  const bindings = draft.bindings ?? [];
  found.push(
    ...grantProblems({ permissionMode: draft.permissionMode ?? 'all', bindings, permissions: draft.permissions ?? [] }),
  );
  return found;
}

/** Lists that are longer than anybody may send them. */
export function sizeProblems({ bindings = [], projectIds = [] }: KeyDraft): readonly Reason[] {
  return [
    ...(bindings.length > BINDINGS_MAX ? [lengthReason('bindings', `at most ${BINDINGS_MAX} items`)] : []),
    ...(projectIds.length > PROJECTS_MAX ? [lengthReason('projectIds', `at most ${PROJECTS_MAX} items`)] : []),
  ];
}

/** Every problem that a field has for itself, whatever the key is otherwise. */
export function fieldProblems(draft: KeyDraft): readonly Reason[] {
  const found: Reason[] = [];
  for (const field of ['keyType', 'name', 'permissionMode'] as const) {
    if (draft[field] === null) found.push(typeReason(field, 'string', 'null'));
  }
  judgeText('name', draft.name, found);
  if (typeof draft.name === 'string') judgeName(draft.name, found);
  judgeText('description', draft.description, found);
  if (isLongerThan(draft.description, DESCRIPTION_CHARACTERS_MAX)) {
    found.push(lengthReason('description', `at most ${DESCRIPTION_CHARACTERS_MAX} characters`));
  }
  judgeText('assignedToUserId', draft.assignedToUserId, found);
  judgeBindings(draft.bindings ?? [], found);
  judgePermissions(draft.permissions ?? [], found);
  judgeProjectIds(draft.projectIds ?? [], found);
  if ((draft.expiresAtMs ?? 0) > EXPIRES_AT_MAX_MS) {
    found.push({ field: 'expiresAt', type: 'too_big', message: 'expiresAt must be within the year 9999' });
  }
  return found;
}

export type GrantDraft = {
  readonly permissionMode: PermissionMode;
  readonly bindings: readonly BindingDraft[];
  readonly permissions: readonly string[];
};

/** What is wrong with mode, grants and permissions together: each of the three asks for the other two. */
export function grantProblems({ permissionMode, bindings, permissions }: GrantDraft): readonly Reason[] {
  // A grant that says nothing could have been anything.
  if (bindings.some(({ role, scopeType }) => role === null || scopeType === null)) return [];
  const customs = bindings.filter(({ role }) => role === 'CUSTOM');
  const legs = [
    {
      field: 'permissionMode',
      stands: permissionMode === 'restricted',
      message: 'permissionMode must be restricted when permissions or a CUSTOM binding are given',
    },
    {
      field: 'bindings',
      stands: customs.length > 0,
      message: 'bindings must hold a CUSTOM one when the key is restricted to permissions',
    },
    {
      field: 'permissions',
      stands: permissions.length > 0,
      message: 'permissions must not be empty when the key is restricted or has a CUSTOM binding',
    },
  ];
  const isRestricted = legs.some(({ stands }) => stands);
  const found = legs
    .filter(({ stands }) => isRestricted && !stands)
    .map(({ field, message }) => custom(field, message));
  if (permissions.some(isOrganizationOnly) && !customs.some(({ scopeType }) => scopeType === 'ORGANIZATION')) {
    const message = 'permissions hold one that only a CUSTOM binding at ORGANIZATION can grant';
    found.push(custom('permissions', message));
  }
  return found;
}

/** For an expiry that has passed. */
export function expiryReason(): Reason {
  return { field: 'expiresAt', type: 'too_small', message: 'expiresAt must be later than now' };
}

/** For projects of a key that cannot have any. */
export function personalProjectsReason(): Reason {
  return custom('projectIds', 'projectIds can only be set on service keys');
}

/** For grants of a personal key that are none. */
export function noBindingsReason(): Reason {
  return lengthReason('bindings', `1 to ${BINDINGS_MAX} items`);
}

/** A reason over several fields, or over what is stored. */
export function custom(field: string, message: string): Reason {
  return { field, type: 'custom', message };
}

function personalProblems({ projectIds = [] }: KeyDraft): readonly Reason[] {
  return projectIds.length > 0 ? [personalProjectsReason()] : [];
}

function serviceProblems({ bindings = [], projectIds, assignedToUserId }: KeyDraft): readonly Reason[] {
  const found: Reason[] = [];
  if (typeof assignedToUserId === 'string') {
    found.push(custom('assignedToUserId', 'assignedToUserId can only be set on personal keys'));
  }
  // No project must never come to mean every project.
  if (projectIds?.length === 0 && bindings.length === 0) {
    found.push(custom('projectIds', 'projectIds must not be empty when there are no bindings'));
  }
  return found;
}

function judgeName(name: string, found: Reason[]): void {
  if (name.trim() === '' || isLongerThan(name, NAME_CHARACTERS_MAX)) {
    found.push(lengthReason('name', `1 to ${NAME_CHARACTERS_MAX} characters that are not all blank`));
  }
}

function judgeBindings(bindings: readonly BindingDraft[], found: Reason[]): void {
  for (const [index, { role, scopeType, scopeId }] of bindings.entries()) {
    if (found.length >= REASONS_MAX) return;
    if (role === null) found.push(typeReason(`bindings.${index}.role`, 'string', 'undefined'));
    if (scopeType === null) found.push(typeReason(`bindings.${index}.scopeType`, 'string', 'undefined'));
    judgeScopeId(`bindings.${index}.scopeId`, scopeId, found);
  }
}

function judgePermissions(permissions: readonly string[], found: Reason[]): void {
  for (const [index, permission] of permissions.entries()) {
    if (found.length >= REASONS_MAX) return;
    if (!isPermission(permission)) found.push(permissionReason(`permissions.${index}`, permission));
  }
}

function judgeProjectIds(projectIds: readonly string[], found: Reason[]): void {
  for (const [index, id] of projectIds.entries()) {
    if (found.length >= REASONS_MAX) return;
    judgeScopeId(`projectIds.${index}`, id, found);
  }
}

function judgeScopeId(field: string, id: string, found: Reason[]): void {
  judgeText(field, id, found);
  if (id === '' || isLongerThan(id, SCOPE_ID_CHARACTERS_MAX)) {
    found.push(lengthReason(field, `1 to ${SCOPE_ID_CHARACTERS_MAX} characters`));
  }
}

/** Not every database can hold U+0000. */
function judgeText(field: string, text: string | null | undefined, found: Reason[]): void {
  if (!text?.includes('\0')) return;
  found.push({ field, type: 'invalid_format', message: `${field} must not contain the character U+0000` });
}

function isLongerThan(text: string | null | undefined, charactersMax: number): boolean {
  return typeof text === 'string' && text.length > charactersMax && countCodePoints(text) > charactersMax;
}
