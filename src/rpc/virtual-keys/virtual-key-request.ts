/** Requests about virtual keys -> domain values. */

import type { FieldMask, Timestamp } from '@bufbuild/protobuf/wkt';
import {
  type CreateVirtualKeyRequest,
  type UpdateVirtualKeyRequest,
  VirtualKeyCacheMode,
  VirtualKeyCapture,
  type VirtualKeyConfig,
  VirtualKeySchema,
} from '../../../gen/spandrel/v1/virtual_keys_pb.js';
import type { ConfigDraft, NewVirtualKey, VirtualKeyDraft } from '../../domain/virtual-keys/virtual-key-draft.ts';
import { readBudget } from '../budgets/budget-message.ts';
import { wordOf } from '../enums.ts';
import { msOfTimestamp } from '../epoch-ms.ts';
import { sentFields } from '../update-mask.ts';

export function readNewVirtualKey(request: CreateVirtualKeyRequest): NewVirtualKey {
  const { name, description, principalUserId, externalId, metadataJson, labels, config, traceProjectId = '' } = request;
  const { budget } = request;
  return {
    ...{ name, description, principalUserId, externalId, metadataJson, labels, traceProjectId },
    expiresAtMs: readInstant(request.expiresAt),
    config: config && readConfig(config, undefined),
    budget: budget === undefined ? null : readBudget(budget, budget.name ?? name ?? ''),
  };
}

const PLAIN = ['name', 'description', 'principalUserId', 'externalId', 'metadataJson', 'labels'] as const;

/** The fields that an update sends. */
export function readVirtualKeyChange({
  virtualKey: resource,
  updateMask: mask,
}: UpdateVirtualKeyRequest): VirtualKeyDraft {
  const { expiresAt, ...sent } = sentFields(VirtualKeySchema, { resource, mask }, [...PLAIN, 'expiresAt']);
  return { ...sent, expiresAtMs: expiresAt && msOfTimestamp(expiresAt), config: readConfig(resource?.config, mask) };
}

/**
 * The members of a config that count as sent. A mask names members one by one, or a group as a whole, which sends the
 * members that have a value, or all of them where the group has none.
 */
function readConfig(config: VirtualKeyConfig | undefined, mask: FieldMask | undefined): ConfigDraft {
  const named = new Set(mask?.paths ?? []);
  /** `groups` are the messages around the member, and whether each is set. */
  const sent = <V>(path: string, value: V | undefined, groups: readonly Group[] = []): V | null | undefined => {
    if (named.size === 0 || value !== undefined) return value;
    const isCleared = groups.some((group) => named.has(group.path) && !group.isSet);
    return named.has(path) || isCleared ? null : undefined;
  };
  const { fallback, rateLimits, cache, guardrails } = config ?? {};
  const groupsOf = (path: string, group: unknown): readonly Group[] => [{ path, isSet: group !== undefined }];
  const ofFallback = groupsOf('config.fallback', fallback);
  const ofLimits = groupsOf('config.rate_limits', rateLimits);
  const ofCache = groupsOf('config.cache', cache);
  const ofGuardrails = groupsOf('config.guardrails', guardrails);
  return {
    modelsAllowed: sent('config.models_allowed', config?.modelsAllowed?.names),
    providers: sent('config.providers', config?.providers?.ids),
    fallback: { maxAttempts: sent('config.fallback.max_attempts', fallback?.maxAttempts, ofFallback) },
    rateLimits: {
      rpm: sent('config.rate_limits.rpm', toNumber(rateLimits?.rpm), ofLimits),
      tpm: sent('config.rate_limits.tpm', toNumber(rateLimits?.tpm), ofLimits),
      rpd: sent('config.rate_limits.rpd', toNumber(rateLimits?.rpd), ofLimits),
    },
    cache: {
      mode: sent('config.cache.mode', wordOf(VirtualKeyCacheMode, cache?.mode ?? 0) ?? undefined, ofCache),
      ttlSeconds: sent('config.cache.ttl_s', cache?.ttlS, ofCache),
    },
    guardrails: {
      pre: sent('config.guardrails.pre', listed(guardrails?.pre), ofGuardrails),
      post: sent('config.guardrails.post', listed(guardrails?.post), ofGuardrails),
    },
    capture: sent('config.capture', wordOf(VirtualKeyCapture, config?.capture ?? 0) ?? undefined),
    allowUnpriced: sent('config.allow_unpriced', config?.allowUnpriced),
  };
}

type Group = { readonly path: string; readonly isSet: boolean };

/** An empty list looks like one that was not sent; a mask that names it sends it. */
function listed(ids: readonly string[] | undefined): readonly string[] | undefined {
  return ids === undefined || ids.length === 0 ? undefined : ids;
}

function toNumber(value: bigint | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}

function readInstant(instant: Timestamp | undefined): number | undefined {
  return instant && msOfTimestamp(instant);
}
