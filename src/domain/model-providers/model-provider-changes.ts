/** Creates, changes and deletes model providers. */

import type { ResolveHost, UrlPolicy } from '../endpoints/url-policy.ts';
import { checkNewUrl } from '../endpoints/url-policy.ts';
import { Fault, validationFault } from '../fault.ts';
import { newId } from '../ids.ts';
import { type AuditedAction, changedFields } from '../management/audit.ts';
import { refreshRights } from '../management/fresh-caller.ts';
import type { ManagementStore } from '../management/management.ts';
import type { IdempotentCall, Target } from '../management/management-call.ts';
import { type CommitDeps, commitAudited, commitIdempotently } from '../management/optimistic-commit.ts';
import { customReason, refuseProblems, typeReason } from '../reasons.ts';
import { nextUpdateMs } from '../resources.ts';
import { DEFAULT_BASE_URLS, type ModelProviderRecord } from './model-provider.ts';
import { MANAGE, requireMayOffer, requireProvider } from './model-provider-access.ts';
import {
  changeProblems,
  creationProblems,
  type IsOwnToken,
  type ModelProviderDraft,
  readNamedTexts,
  versionProblems,
} from './model-provider-draft.ts';
import type { ProviderKeys } from './provider-key.ts';

export type ProviderDeps = CommitDeps & {
  readonly providerKeys: ProviderKeys;
  readonly urlPolicy: UrlPolicy;
  readonly resolve: ResolveHost;
  readonly isOwnToken: IsOwnToken;
};

const PROVIDERS_MAX = 200;
const TIMEOUT_DEFAULT_MS = 120_000;

export async function createProvider(
  deps: ProviderDeps,
  call: IdempotentCall<ModelProviderRecord>,
  draft: ModelProviderDraft,
): Promise<ModelProviderRecord> {
  const { store, random } = deps;
  refuseProblems(creationProblems(draft, deps.isOwnToken));
  const organizationId = call.caller.organization.id;
  const id = newId('modelprovider', random);
  const record = newRecord(deps, { organizationId, id, nowMs: call.nowMs }, draft);
  // Before the commit, which others wait for; a repeated request has its answer, whatever the host is now.
  if (call.replay === undefined) {
    await requireMayOffer(store, await refreshRights(store, call), record);
    await requireUrl(deps, record.baseUrl);
  }
  return await commitIdempotently(deps, call, {
    async checkCaller() {
      await requireMayOffer(store, await refreshRights(store, call), record);
    },
    async attempt() {
      const known = await refuseTakenName(store, record);
      if (known >= PROVIDERS_MAX) {
        throw new Fault(
          'model_provider_limit_reached',
          `An organization has at most ${PROVIDERS_MAX} model providers.`,
        );
      }
      const audited = { ...actionOn('create', id), status: 201 };
      return { result: record, change: { modelProviders: [record] }, audited };
    },
  });
}

/** The first two of a record that is made from a draft without problems. */
type Identity = Pick<ModelProviderRecord, 'organizationId' | 'id'> & { readonly nowMs: number };

function newRecord(
  { providerKeys }: ProviderDeps,
  { organizationId, id, nowMs }: Identity,
  draft: ModelProviderDraft,
): ModelProviderRecord {
  const { name, kind } = draft;
  if (typeof name !== 'string' || kind === undefined) throw new Error('a provider was not judged before');
  return {
    organizationId,
    id,
    name,
    kind,
    baseUrl: withoutSlash(draft.baseUrl ?? DEFAULT_BASE_URLS[kind] ?? ''),
    apiVersion: draft.apiVersion ?? null,
    extraHeaders: readNamedTexts(draft.extraHeadersJson ?? '{}'),
    models: draft.models ?? null,
    aliases: readNamedTexts(draft.aliasesJson ?? '{}'),
    timeoutMs: draft.timeoutMs ?? TIMEOUT_DEFAULT_MS,
    projectIds: draft.projectIds ?? null,
    streamUsage: draft.streamUsage ?? true,
    enabled: draft.enabled ?? true,
    ...providerKeys.seal(id, draft.apiKey ?? null),
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
}

type Update = Target & { readonly draft: ModelProviderDraft };

/** Changes the fields that were sent, all of them or none. */
export async function updateProvider(deps: ProviderDeps, { call, id, draft }: Update): Promise<ModelProviderRecord> {
  const { store } = deps;
  refuseProblems(changeProblems(draft, deps.isOwnToken));
  const before = await requireProvider(store, { call, id }, MANAGE);
  const baseUrl = mergeUrl(before, draft);
  if (baseUrl !== before.baseUrl) await requireUrl(deps, baseUrl);
  return await commitAudited(deps, call, async () => {
    const fresh = await refreshRights(store, call);
    const stored = await requireProvider(store, { call: fresh, id }, MANAGE);
    const record = merge(deps, stored, draft);
    const fields = changedFields(FIELDS, stored, record);
    if (fields.length === 0) return { result: stored, change: null };
    if (fields.includes('project_ids')) await requireMayOffer(store, fresh, record);
    if (fields.includes('name')) await refuseTakenName(store, record);
    const changed = { ...record, updatedAtMs: nextUpdateMs(stored, call.nowMs) };
    return { result: changed, change: { modelProviders: [changed] }, audited: { ...actionOn('update', id), fields } };
  });
}

/** Throws validation_error for what the stored provider does not allow. */
function merge(deps: ProviderDeps, stored: ModelProviderRecord, draft: ModelProviderDraft): ModelProviderRecord {
  const { kind } = stored;
  const apiVersion = draft.apiVersion === undefined ? stored.apiVersion : draft.apiVersion;
  const baseUrl = mergeUrl(stored, draft);
  const isMoved = originOf(baseUrl) !== originOf(stored.baseUrl);
  refuseProblems([
    ...(draft.kind === undefined || draft.kind === kind ? [] : [customReason('kind', 'kind cannot be changed')]),
    ...(draft.apiKey === null && kind !== 'openai_compatible' ? [typeReason('api_key', 'string', 'null')] : []),
    ...versionProblems(kind, draft.apiVersion ?? null),
    // Whoever may change the URL could otherwise read the key where the URL leads.
    ...(isMoved && stored.apiKey !== null && draft.apiKey === undefined
      ? [customReason('api_key', 'api_key must be sent with a base_url of another origin')]
      : []),
  ]);
  return {
    ...stored,
    name: draft.name ?? stored.name,
    baseUrl,
    apiVersion,
    ...(draft.extraHeadersJson != null && { extraHeaders: readNamedTexts(draft.extraHeadersJson) }),
    models: draft.models === undefined ? stored.models : draft.models,
    ...(draft.aliasesJson != null && { aliases: readNamedTexts(draft.aliasesJson) }),
    timeoutMs: draft.timeoutMs ?? stored.timeoutMs,
    projectIds: draft.projectIds === undefined ? stored.projectIds : draft.projectIds,
    streamUsage: draft.streamUsage ?? stored.streamUsage,
    enabled: draft.enabled ?? stored.enabled,
    ...(draft.apiKey === undefined ? {} : deps.providerKeys.seal(stored.id, draft.apiKey)),
  };
}

/** Throws validation_error where null would leave no URL. */
function mergeUrl({ kind, baseUrl }: ModelProviderRecord, draft: ModelProviderDraft): string {
  if (draft.baseUrl === undefined) return baseUrl;
  const chosen = draft.baseUrl ?? DEFAULT_BASE_URLS[kind];
  if (chosen === null) throw validationFault('json', [typeReason('base_url', 'string', 'null')]);
  return withoutSlash(chosen);
}

const FIELDS: { readonly [field: string]: keyof ModelProviderRecord } = {
  name: 'name',
  base_url: 'baseUrl',
  api_version: 'apiVersion',
  extra_headers: 'extraHeaders',
  models: 'models',
  aliases: 'aliases',
  timeout_ms: 'timeoutMs',
  project_ids: 'projectIds',
  stream_usage: 'streamUsage',
  enabled: 'enabled',
  // Sealed anew, a key that is sent counts as another one.
  api_key: 'apiKey',
};

export function removeProvider(deps: CommitDeps, { call, id }: Target): Promise<void> {
  const { store } = deps;
  return commitAudited(deps, call, async () => {
    await requireProvider(store, { call: await refreshRights(store, call), id }, MANAGE);
    return { result: undefined, change: { removedModelProviders: [{ id }] }, audited: actionOn('delete', id) };
  });
}

/** Throws validation_error for a URL that the policy refuses. */
async function requireUrl({ urlPolicy, resolve }: ProviderDeps, baseUrl: string): Promise<void> {
  const refusal = await checkNewUrl(urlPolicy, resolve, baseUrl);
  if (refusal !== null) throw validationFault('json', [customReason('base_url', withoutDot(refusal.message))]);
}

/** Returns how many providers the organization has. */
async function refuseTakenName(store: ManagementStore, { organizationId, id, name }: ModelProviderRecord) {
  const known = await store.modelProviders(organizationId);
  if (known.some((other) => other.name === name && other.id !== id)) {
    throw new Fault('model_provider_name_taken', 'The organization already has a model provider with this name.');
  }
  return known.length;
}

function actionOn(verb: string, id: string): AuditedAction {
  return { action: `modelProvider.${verb}`, targetId: id };
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : '';
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

function withoutDot(sentence: string): string {
  return sentence.replace(/\.$/, '');
}
