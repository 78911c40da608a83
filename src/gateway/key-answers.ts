/** Serves what the holder of a virtual key may ask of it: its limits, and the models that it can call. */

import type { BudgetLedger } from '../domain/budgets/budget-store.ts';
import { createKeyStatus, keyStatusJson } from '../domain/gateway/key-status.ts';
import { type ListedModel, listCallableModels, listReachable } from '../domain/gateway/provider-choice.ts';
import type { KeyStore } from '../domain/management/management-port.ts';
import type { ModelProviderRecord } from '../domain/model-providers/model-provider.ts';
import type { ListModels } from '../domain/model-providers/model-providers.ts';
import type { ProviderKeys } from '../domain/model-providers/provider-key.ts';
import type { PresentedKey } from '../domain/virtual-keys/virtual-key.ts';
import { sendJson } from './answering.ts';
import type { ProxyCall, Served } from './proxy-call.ts';

type KeyAnswerDeps = {
  readonly keys: Pick<KeyStore, 'findGatewaySetup'>;
  readonly ledger: BudgetLedger;
  readonly providerKeys: Pick<ProviderKeys, 'open'>;
  readonly listModels: ListModels;
  readonly clock: () => number;
  /** A clock that is never set. */
  readonly nowMs: () => number;
};

type Known = { readonly models: Promise<readonly string[]>; readonly readAtMs: number; readonly updatedAtMs: number };

/** The lists of providers change rarely, and callers ask often. */
const FRESH_MS = 60_000;
const PROVIDERS_MAX = 1_000;
const MS_PER_SECOND = 1_000;

export function createKeyAnswers(deps: KeyAnswerDeps) {
  const statusOf = createKeyStatus({
    findBudgets: async (organizationId) => (await deps.keys.findGatewaySetup(organizationId)).budgets,
    ledger: deps.ledger,
  });
  const known = new Map<string, Known>();

  /** Empty for a provider that does not answer now. */
  function modelsOf(provider: ModelProviderRecord): Promise<readonly string[]> {
    const { id, updatedAtMs } = provider;
    const found = known.get(id);
    if (found?.updatedAtMs === updatedAtMs && deps.nowMs() - found.readAtMs < FRESH_MS) return found.models;
    const models = readModels(provider);
    if (known.size >= PROVIDERS_MAX) known.clear();
    known.set(id, { models, readAtMs: deps.nowMs(), updatedAtMs });
    return models;
  }

  async function readModels(provider: ModelProviderRecord): Promise<readonly string[]> {
    const listing = await deps.listModels({ ...provider, apiKey: deps.providerKeys.open(provider) });
    return listing.kind === 'listed' ? listing.models : [];
  }

  async function listModels({ key, organization, project }: PresentedKey): Promise<readonly ListedModel[]> {
    const setup = await deps.keys.findGatewaySetup(organization.id);
    const reachable = { config: key.config, projectId: project.id, providers: setup.providers };
    // No other provider is asked on behalf of the key.
    const providers = listReachable(reachable);
    const isOpen = ({ models }: ModelProviderRecord) => models === null || models.some((name) => name.includes('*'));
    const listed = await Promise.all(
      providers.filter(isOpen).map(async (provider) => [provider.id, await modelsOf(provider)] as const),
    );
    return listCallableModels(reachable, new Map(listed));
  }

  return async (call: ProxyCall, presented: PresentedKey): Promise<Served> => {
    const { route, response, header } = call;
    const answer =
      route.kind === 'me'
        ? keyStatusJson(await statusOf(presented, deps.clock()))
        : (header('anthropic-version') === undefined ? toOpenAi : toAnthropic)(await listModels(presented));
    sendJson(response, 200, JSON.stringify(answer));
    return { status: 200, fault: null, isKnownKey: true };
  };
}

function toOpenAi(models: readonly ListedModel[]) {
  const data = models.map(({ name, provider }) => ({
    ...{ id: name, object: 'model', created: Math.floor(provider.createdAtMs / MS_PER_SECOND) },
    owned_by: provider.name,
  }));
  return { object: 'list', data };
}

/** One page. */
function toAnthropic(models: readonly ListedModel[]) {
  const data = models.map(({ name, provider }) => ({
    ...{ type: 'model', id: name, display_name: name },
    created_at: new Date(provider.createdAtMs).toISOString(),
  }));
  return { data, has_more: false, first_id: data.at(0)?.id ?? null, last_id: data.at(-1)?.id ?? null };
}
