/** Requests about API keys -> domain values. */

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
import { sentFields } from '../update-mask.ts';

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

const PLAIN = ['name', 'description', 'permissions', 'projectIds', 'assignedToUserId'] as const;
const FORMS = ['keyType', 'bindings', 'permissionMode', 'expiresAt'] as const;

/** The fields that an update sends. */
export function readKeyChange({ apiKey: resource, updateMask: mask }: UpdateApiKeyRequest): KeyDraft {
  const update = { resource, mask };
  const { keyType, bindings, permissionMode, expiresAt } = sentFields(ApiKeySchema, update, FORMS);
  return {
    ...sentFields(ApiKeySchema, update, PLAIN),
    keyType: keyType == null ? keyType : wordOf(KeyType, keyType),
    bindings: bindings?.map(readBinding),
    permissionMode: permissionMode == null ? permissionMode : wordOf(PermissionMode, permissionMode),
    expiresAtMs: expiresAt && timestampMs(expiresAt),
  };
}

function readBinding({ role, scopeType, scopeId = '' }: Binding): BindingDraft {
  return { role: nameOf(Role, role), scopeType: nameOf(ScopeType, scopeType), scopeId };
}

function readInstant(instant: Timestamp | undefined): number | null {
  return instant === undefined ? null : timestampMs(instant);
}
