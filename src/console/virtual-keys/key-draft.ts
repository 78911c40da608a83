/** Converts a virtual key between the form and the API. */

import { timestampFromDate, timestampMs } from '@bufbuild/protobuf/wkt';
import { type VirtualKey, VirtualKeyCacheMode, VirtualKeyCapture } from '../../../gen/spandrel/v1/virtual_keys_pb.js';
import { linesOf, toLocalInput } from '../design/format.ts';
import type { Problem } from '../design/problem.ts';

export type KeyDraft = {
  readonly name: string;
  readonly projectId: string;
  readonly description: string;
  readonly principalUserId: string;
  readonly externalId: string;
  /** Lines. */
  readonly labels: string;
  /** JSON. */
  readonly metadata: string;
  /** Local date and time; empty: never. */
  readonly expires: string;
  readonly rules: RuleDraft;
};

export type RuleDraft = {
  /** Lines. */
  readonly models: string;
  /** Ids, in order; empty: all that the project uses. */
  readonly providers: readonly string[];
  /** Typed numbers; empty: the default, or no limit. */
  readonly attempts: string;
  readonly rpm: string;
  readonly tpm: string;
  readonly rpd: string;
  readonly cacheMode: VirtualKeyCacheMode;
  readonly cacheSeconds: string;
  /** Ids of evaluators. */
  readonly pre: readonly string[];
  readonly post: readonly string[];
  readonly capture: VirtualKeyCapture;
  readonly allowUnpriced: boolean;
};

export function emptyKey(projectId: string): KeyDraft {
  return {
    ...{ name: '', projectId, description: '', principalUserId: '', externalId: '' },
    ...{ labels: '', metadata: '', expires: '' },
    rules: {
      ...{ models: '', providers: [], attempts: '', rpm: '', tpm: '', rpd: '' },
      ...{ cacheMode: VirtualKeyCacheMode.OFF, cacheSeconds: '', pre: [], post: [] },
      ...{ capture: VirtualKeyCapture.FULL, allowUnpriced: false },
    },
  };
}

export function toKeyDraft(key: VirtualKey): KeyDraft {
  const { config, metadataJson = '{}' } = key;
  const { rateLimits, cache, guardrails } = config ?? {};
  return {
    name: key.name ?? '',
    projectId: key.traceProjectId,
    description: key.description ?? '',
    principalUserId: key.principalUserId ?? '',
    externalId: key.externalId ?? '',
    labels: key.labels.join('\n'),
    metadata: metadataJson === '{}' ? '' : metadataJson,
    expires: key.expiresAt ? toLocalInput(timestampMs(key.expiresAt)) : '',
    rules: {
      models: config?.modelsAllowed?.names.join('\n') ?? '',
      providers: config?.providers?.ids ?? [],
      attempts: String(config?.fallback?.maxAttempts ?? ''),
      rpm: String(rateLimits?.rpm ?? ''),
      tpm: String(rateLimits?.tpm ?? ''),
      rpd: String(rateLimits?.rpd ?? ''),
      cacheMode: cache?.mode ?? VirtualKeyCacheMode.OFF,
      cacheSeconds: String(cache?.ttlS ?? ''),
      pre: guardrails?.pre ?? [],
      post: guardrails?.post ?? [],
      capture: config?.capture ?? VirtualKeyCapture.FULL,
      allowUnpriced: config?.allowUnpriced ?? false,
    },
  };
}

export function keyProblems({ metadata }: KeyDraft): readonly Problem[] {
  if (metadata.trim() === '' || isJsonObject(metadata)) return [];
  return [{ field: 'metadata', text: 'This is not a JSON object, such as {"team": "search"}.' }];
}

/** Leaves out what is empty: a new key then has the default, and a change names the field in its mask. */
export function toKey(draft: KeyDraft) {
  const { description, principalUserId, externalId, metadata, expires } = draft;
  const named = (text: string) => text.trim() || undefined;
  return {
    name: draft.name.trim(),
    ...sent('description', named(description)),
    ...sent('principalUserId', named(principalUserId)),
    ...sent('externalId', named(externalId)),
    labels: linesOf(draft.labels),
    metadataJson: metadata.trim() || '{}',
    ...sent('expiresAt', expires === '' ? undefined : timestampFromDate(new Date(expires))),
    config: toConfig(draft.rules),
  };
}

function toConfig(rules: RuleDraft) {
  const names = linesOf(rules.models);
  const count = (text: string) => (text === '' ? undefined : Number(text));
  const limit = (text: string) => (text === '' ? undefined : BigInt(text));
  return {
    ...(names.length > 0 && { modelsAllowed: { names } }),
    ...(rules.providers.length > 0 && { providers: { ids: [...rules.providers] } }),
    fallback: sent('maxAttempts', count(rules.attempts)),
    rateLimits: {
      ...sent('rpm', limit(rules.rpm)),
      ...sent('tpm', limit(rules.tpm)),
      ...sent('rpd', limit(rules.rpd)),
    },
    cache: { mode: rules.cacheMode, ...sent('ttlS', count(rules.cacheSeconds)) },
    guardrails: { pre: [...rules.pre], post: [...rules.post] },
    capture: rules.capture,
    allowUnpriced: rules.allowUnpriced,
  };
}

const PATHS = [
  ...['name', 'description', 'principal_user_id', 'external_id', 'labels', 'metadata_json'],
  ...['models_allowed', 'providers', 'fallback.max_attempts', 'rate_limits.rpm', 'rate_limits.tpm'].map(ofConfig),
  ...['rate_limits.rpd', 'cache.mode', 'cache.ttl_s', 'guardrails.pre', 'guardrails.post'].map(ofConfig),
  ...['capture', 'allow_unpriced'].map(ofConfig),
];

/** What a change sends. An expiry that is as stored is not sent, so that it keeps its seconds. */
export function toKeyChange(draft: KeyDraft, stored: KeyDraft) {
  const { expiresAt, ...rest } = toKey(draft);
  if (draft.expires === stored.expires) return { virtualKey: rest, updateMask: { paths: PATHS } };
  const virtualKey = { ...rest, ...sent('expiresAt', expiresAt) };
  return { virtualKey, updateMask: { paths: [...PATHS, 'expires_at'] } };
}

function ofConfig(path: string): string {
  return `config.${path}`;
}

function sent<Name extends string, Value>(name: Name, value: Value | undefined): { readonly [K in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [K in Name]?: Value };
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
