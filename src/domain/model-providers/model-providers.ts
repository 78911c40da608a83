/** The operations on the model providers of an organization. */

import type { CursorCodec } from '../cursor.ts';
import { Fault } from '../fault.ts';
import { readDirectory, requireSomewhere } from '../management/directory.ts';
import { type CursorPage, type CursorPageRequest, slicePageAfter } from '../management/listing.ts';
import type { IdempotentCall, ManagementCall, Target } from '../management/management-call.ts';
import type { ModelProviderRecord } from './model-provider.ts';
import { MANAGE, mayReach, requireProvider, VIEW } from './model-provider-access.ts';
import { createProvider, type ProviderDeps, removeProvider, updateProvider } from './model-provider-changes.ts';
import { changeProblems, creationProblems, type ModelProviderDraft } from './model-provider-draft.ts';

/** Where models are listed, with the opened key. */
export type ModelSource = Pick<ModelProviderRecord, 'kind' | 'baseUrl' | 'apiVersion' | 'extraHeaders'> & {
  readonly apiKey: string | null;
};

export type ModelListing =
  | { readonly kind: 'listed'; readonly httpStatus: number; readonly models: readonly string[] }
  /** The error is a sentence for the caller, without the key and without addresses. */
  | { readonly kind: 'failed'; readonly httpStatus: number | null; readonly error: string };

/** Asks a provider for its models. Never throws for a failure of the provider. */
export type ListModels = (source: ModelSource) => Promise<ModelListing>;

export type ProviderTest = ModelListing & { readonly latencyMs: number };

type ModelProviderDeps = ProviderDeps & {
  readonly cursors: CursorCodec;
  readonly listModels: ListModels;
  readonly monotonicMs: () => number;
};

const TESTS_MAX = 10;
const WINDOW_MS = 60_000;

export type ModelProviders = ReturnType<typeof createModelProviders>;

export function createModelProviders(deps: ModelProviderDeps) {
  const { store, cursors, isOwnToken, monotonicMs, providerKeys } = deps;
  const admitTest = createTestLimit(monotonicMs);
  return {
    /** All problems in the shape of a new provider. */
    creationProblems: (draft: ModelProviderDraft) => creationProblems(draft, isOwnToken),
    /** All problems of a change that show without the stored provider. */
    changeProblems: (draft: ModelProviderDraft) => changeProblems(draft, isOwnToken),
    /** Throws insufficient_permissions unless the caller may create providers somewhere. */
    admitCreation: (call: ManagementCall) => requireSomewhere(store, call, MANAGE),
    /** Throws model_provider_not_found for a hidden provider, and insufficient_permissions. */
    async admit(target: Target): Promise<void> {
      await requireProvider(store, target, MANAGE);
    },
    /** Those that the caller may view, oldest first. Throws invalid_cursor. */
    async list({ caller }: ManagementCall, request: CursorPageRequest): Promise<CursorPage<ModelProviderRecord>> {
      const organizationId = caller.organization.id;
      const [all, directory] = await Promise.all([
        store.modelProviders(organizationId),
        readDirectory(store, organizationId),
      ]);
      const seen = all.filter((provider) => mayReach(caller.principal, VIEW, provider, directory));
      const binding = ['model-providers', organizationId];
      return slicePageAfter(seen, request, { cursors, binding, positionOf: (provider) => provider });
    },
    get: (target: Target) => requireProvider(store, target, VIEW),
    /** Throws insufficient_permissions, project_not_found, model_provider_name_taken, model_provider_limit_reached. */
    create: (call: IdempotentCall<ModelProviderRecord>, draft: ModelProviderDraft) => createProvider(deps, call, draft),
    /** Throws validation_error, project_not_found and model_provider_name_taken. */
    update: (target: Target, draft: ModelProviderDraft) => updateProvider(deps, { ...target, draft }),
    remove: (target: Target) => removeProvider(deps, target),
    /** Throws rate_limited. A failure of the provider is an outcome and not a fault. */
    async test(target: Target): Promise<ProviderTest> {
      const provider = await requireProvider(store, target, MANAGE);
      admitTest(provider.id);
      const startedMs = monotonicMs();
      const listing = await deps.listModels({ ...provider, apiKey: providerKeys.open(provider) });
      return { ...listing, latencyMs: Math.round(monotonicMs() - startedMs) };
    },
  };
}

/** Of this process: the tests of each provider within the last minute. */
function createTestLimit(monotonicMs: () => number): (providerId: string) => void {
  const starts = new Map<string, readonly number[]>();
  return (providerId) => {
    const nowMs = monotonicMs();
    for (const [id, instants] of starts) {
      const recent = instants.filter((startedMs) => nowMs - startedMs < WINDOW_MS);
      if (recent.length === 0) starts.delete(id);
      else starts.set(id, recent);
    }
    const recent = starts.get(providerId) ?? [];
    const [first = nowMs] = recent;
    if (recent.length >= TESTS_MAX) {
      throw new Fault('rate_limited', `A model provider can be tested ${TESTS_MAX} times a minute; try again later.`, {
        retryAfterSeconds: Math.max(1, Math.ceil((first + WINDOW_MS - nowMs) / 1000)),
        meta: { limit: TESTS_MAX, windowSeconds: WINDOW_MS / 1000 },
      });
    }
    starts.set(providerId, [...recent, nowMs]);
  };
}
