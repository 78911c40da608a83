/** Requests about API keys -> domain values. */

import { create } from '@bufbuild/protobuf';
import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import {
  ApiKeySchema,
  ApiKeyScope,
  type Binding,
  type CreateApiKeyRequest,
  KeyType,
  type ListApiKeysRequest,
  PermissionMode,
  Role,
  ScopeType,
  type UpdateApiKeyRequest,
} from '../../../gen/spandrel/v1/keys_pb.js';
import type { BindingDraft, KeyDraft } from '../../domain/keys/key-draft.ts';
import type { KeyListRequest } from '../../domain/keys/keys.ts';
import { nameOf, wordOf } from '../enums.ts';
import { isSent, sentBy } from '../update-mask.ts';

export function readQuestion({ scope, includeRevoked, pageSize, pageToken }: ListApiKeysRequest): KeyListRequest {
  return {
    scope: wordOf(ApiKeyScope, scope) ?? 'own',
    includeRevoked: includeRevoked ?? false,
    limit: pageSize ?? null,
    cursor: pageToken,
  };
}

/** The draft of a new key. An unknown enum value counts as missing; the rules of the fields report it. */
export function readNewKey(request: CreateApiKeyRequest): KeyDraft {
  const { bindings, permissions, projectIds, expiry } = request;
  return {
    keyType: wordOf(KeyType, request.keyType) ?? undefined,
    name: request.name,
    description: request.description,
    bindings: bindings.length > 0 ? bindings.map(readBinding) : undefined,
    permissionMode: wordOf(PermissionMode, request.permissionMode) ?? undefined,
    permissions: permissions.length > 0 ? permissions : undefined,
    projectIds: projectIds?.ids,
    assignedToUserId: request.assignedToUserId,
    expiresAtMs: expiry === undefined ? undefined : readInstant(expiry.at),
  };
}

const NOTHING = create(ApiKeySchema);

/** The fields that an update sends. */
export function readKeyChange({ apiKey: key = NOTHING, updateMask: mask }: UpdateApiKeyRequest): KeyDraft {
  const sent = sentBy(mask);
  const sentList = <V>(path: string, values: readonly V[]): readonly V[] | undefined =>
    isSent(mask, path, values.length > 0 ? values : undefined) ? values : undefined;
  return {
    keyType: sent('key_type', wordOf(KeyType, key.keyType) ?? undefined),
    name: sent('name', key.name),
    description: sent('description', key.description),
    bindings: sentList('bindings', key.bindings)?.map(readBinding),
    permissionMode: sent('permission_mode', wordOf(PermissionMode, key.permissionMode) ?? undefined),
    permissions: sentList('permissions', key.permissions),
    projectIds: sentList('project_ids', key.projectIds),
    assignedToUserId: sent('assigned_to_user_id', key.assignedToUserId),
    expiresAtMs: sent('expires_at', readInstant(key.expiresAt) ?? undefined),
  };
}

function readBinding({ role, scopeType, scopeId = '' }: Binding): BindingDraft {
  return { role: nameOf(Role, role), scopeType: nameOf(ScopeType, scopeType), scopeId };
}

function readInstant(instant: Timestamp | undefined): number | null {
  return instant === undefined ? null : timestampMs(instant);
}
