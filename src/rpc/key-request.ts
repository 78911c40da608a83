/** Requests about API keys, as their rules take them, and what is wrong with their words. */

import { timestampMs } from '@bufbuild/protobuf/wkt';
import {
  type CreateApiKeyRequest,
  KeyType as KeyTypeNumber,
  KeyTypeSchema,
  type ListApiKeysRequest,
  PermissionMode as PermissionModeNumber,
  PermissionModeSchema,
  RoleSchema,
  ScopeTypeSchema,
  type UpdateApiKeyRequest,
} from '../../gen/spandrel/v1/keys_pb.js';
import { REASONS_MAX, type Reason } from '../domain/fault.ts';
import { KEY_SCOPES, type KeyDraft, type KeyView, type ListKeys } from '../domain/keys.ts';
import { enumReason } from './field-rules.ts';
import { roleNumbers, scopeTypeNumbers, wordOf } from './grant-words.ts';
import { wordProblems } from './management-problems.ts';
import { isSent } from './update-mask.ts';

export const keyTypeNumbers: Readonly<Record<KeyView['keyType'], KeyTypeNumber>> = {
  personal: KeyTypeNumber.PERSONAL,
  service: KeyTypeNumber.SERVICE,
};

export const permissionModeNumbers: Readonly<Record<KeyView['permissionMode'], PermissionModeNumber>> = {
  all: PermissionModeNumber.ALL,
  readonly: PermissionModeNumber.READONLY,
  restricted: PermissionModeNumber.RESTRICTED,
};

export function readQuestion({ scope, includeRevoked, limit, cursor }: ListApiKeysRequest): ListKeys {
  return {
    scope: KEY_SCOPES.find((each) => each === scope) ?? 'own',
    includeRevoked: includeRevoked ?? false,
    limit: limit === undefined ? null : Number(limit),
    cursor: cursor ?? '',
  };
}

/** A scope that is none. */
export function scopeProblems({ scope }: ListApiKeysRequest): readonly Reason[] {
  if (scope === undefined || KEY_SCOPES.some((each) => each === scope)) return [];
  return [enumReason('scope', KEY_SCOPES, scope)];
}

type WriteRequest = CreateApiKeyRequest | UpdateApiKeyRequest;

/** What the request sends. A word that is none reads like one that is missing; `keyWordProblems` tells of it. */
export function readKeyDraft(request: WriteRequest): KeyDraft {
  const { updateMask: mask, keyType, permissionMode, expiresAt } = request;
  /** Undefined: not sent; null: sent without a value. */
  const sent = <V>(path: string, value: V | undefined): V | null | undefined =>
    isSent(mask, path, value) ? (value ?? null) : undefined;
  const sentList = <V>(path: string, values: readonly V[]): readonly V[] | undefined =>
    isSent(mask, path, values.length > 0 ? values : undefined) ? values : undefined;
  return {
    keyType: sent('key_type', wordOf(keyTypeNumbers, keyType) ?? undefined),
    name: sent('name', request.name),
    description: sent('description', request.description),
    bindings: sentList('bindings', request.bindings)?.map(({ role, scopeType, scopeId = '' }) => ({
      role: wordOf(roleNumbers, role),
      scopeType: wordOf(scopeTypeNumbers, scopeType),
      scopeId,
    })),
    permissionMode: sent('permission_mode', wordOf(permissionModeNumbers, permissionMode) ?? undefined),
    permissions: sentList('permissions', request.permissions),
    projectIds: sentList('project_ids', request.projectIds),
    assignedToUserId: sent('assigned_to_user_id', request.assignedToUserId),
    expiresAtMs: sent('expires_at', expiresAt === undefined ? undefined : timestampMs(expiresAt)),
  };
}

/** Numbers that stand for no word of the contract. */
export function keyWordProblems({ keyType, permissionMode, bindings }: WriteRequest): readonly Reason[] {
  return [
    ...wordProblems(KeyTypeSchema, { path: 'keyType', number: keyType, required: false }),
    ...wordProblems(PermissionModeSchema, { path: 'permissionMode', number: permissionMode, required: false }),
    // Beyond them no answer tells of any more.
    ...bindings
      .slice(0, REASONS_MAX)
      .flatMap(({ role, scopeType }, index) => [
        ...wordProblems(RoleSchema, { path: `bindings.${index}.role`, number: role, required: true }),
        ...wordProblems(ScopeTypeSchema, { path: `bindings.${index}.scopeType`, number: scopeType, required: true }),
      ]),
  ];
}
