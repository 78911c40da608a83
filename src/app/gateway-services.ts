/** Wires the services of what a gateway consists of. */

import { BudgetService } from '../../gen/spandrel/v1/budgets_pb.js';
import { ModelProviderService } from '../../gen/spandrel/v1/model_providers_pb.js';
import { VirtualKeyService } from '../../gen/spandrel/v1/virtual_keys_pb.js';
import type { WebhookPorts } from '../background/webhooks.ts';
import { readVersion } from '../cli/version.ts';
import { createBudgets } from '../domain/budgets/budgets.ts';
import { createUrlPolicy } from '../domain/endpoints/url-policy.ts';
import { createTokenCheck } from '../domain/model-providers/model-provider-draft.ts';
import { createModelProviders } from '../domain/model-providers/model-providers.ts';
import { createProviderKeys } from '../domain/model-providers/provider-key.ts';
import { createSpend } from '../domain/spend/spend.ts';
import { createVirtualKeys } from '../domain/virtual-keys/virtual-keys.ts';
import { createListModels } from '../gateway/list-models.ts';
import { createBudgetRpc } from '../rpc/budgets/budgets.ts';
import type { Method } from '../rpc/method.ts';
import { createModelProviderRpc } from '../rpc/model-providers/model-providers.ts';
import { createVirtualKeyRpc } from '../rpc/virtual-keys/virtual-keys.ts';
import type { Deps } from './deps.ts';
import type { ServiceParts } from './service-parts.ts';

type GatewayDeps = Deps & { readonly webhooks: Pick<WebhookPorts, 'resolve'> };

export function compileGateway(
  { store, clock, random, config, rootKeys, webhooks }: GatewayDeps,
  { cursors, compile }: ServiceParts,
): Method[] {
  const { management } = store;
  const { virtualKeyPrefix: prefix, allow } = config.gateway;
  const { pepper, encryptionKeys } = rootKeys;
  const { resolve } = webhooks;
  const urlPolicy = createUrlPolicy(allow, 'SPANDREL_GATEWAY_ALLOW');
  const providers = createModelProviders({
    ...{ store: management, random, cursors, urlPolicy, resolve },
    providerKeys: createProviderKeys({ encryptionKeys, random }),
    isOwnToken: createTokenCheck({ keyPrefixes: config.keyPrefixes, virtualKeyPrefix: prefix }),
    listModels: createListModels({ policy: urlPolicy, resolve, userAgent: `Spandrel/${readVersion()}` }),
    monotonicMs: () => performance.now(),
  });
  const spend = createSpend({ store: store.spend, cursors });
  const virtualKeys = createVirtualKeys({
    ...{ store: management, evaluators: store.evaluators, random, cursors, pepper, prefix, spend },
  });
  const budgets = createBudgets({ store: management, ledger: store.budgets, random, cursors });
  return [
    ...compile(BudgetService, createBudgetRpc({ budgets })),
    ...compile(ModelProviderService, createModelProviderRpc({ providers })),
    ...compile(VirtualKeyService, createVirtualKeyRpc({ virtualKeys, clock })),
  ];
}
